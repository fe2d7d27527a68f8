// Orders of atomics that the policies alone would not show: for each two places
// of the source whose atomics meet on an element, the thread that came first is
// held just before its atomic, until the other one has done its own (bounded
// preemption, one a run).

#include "tools/simt/search.h"

#include "tools/simt/machine.h"

#include <string.h>

void search_begin(struct machine *m, bool is_noted, size_t choice)
{
    struct orders *s = &m->orders;
    s->is_noted = is_noted;
    s->first = m->last_serial;
    if (is_noted)
        s->n_events = s->n_choices = 0;
    s->now = choice && choice <= s->n_choices ? &s->choices[choice - 1] : NULL;
}

// Return whether two instructions come from one place of the source.
static bool same_place(const struct site *a, const struct site *b)
{
    return a->place.line == b->place.line && a->place.column == b->place.column;
}

// Return whether a choice between these places is known.
static bool is_known(const struct orders *s, const struct atomic_event *a,
                     const struct atomic_event *b)
{
    for (size_t i = 0; i < s->n_choices; i++)
        if (same_place(s->choices[i].held.site, a->site) &&
            same_place(s->choices[i].before.site, b->site))
            return true;
    return false;
}

// Return whether the order of two atomics may matter: of two threads on an
// element, one of which changes it, and one of which uses what it finds.
static bool do_meet(const struct atomic_event *a, const struct atomic_event *b)
{
    bool is_same = a->block == b->block && a->thread == b->thread;
    bool writes = (a->site->kind | b->site->kind) & ACCESS_WRITE;
    return a->at == b->at && !is_same && writes &&
           (a->site->is_used || b->site->is_used);
}

void search_end(struct machine *m)
{
    struct orders *s = &m->orders;
    for (size_t j = 1; j < s->n_events && s->is_noted; j++)
        for (size_t i = 0; i < j && s->n_choices < CHOICES_MOST; i++) {
            const struct atomic_event *a = &s->events[i], *b = &s->events[j];
            if (do_meet(a, b) && !is_known(s, a, b))
                s->choices[s->n_choices++] = (struct choice){*a, *b};
        }
    m->result->choices = s->n_choices;
    s->is_noted = false;
    s->now = NULL;
}

// Return whether an atomic of a thread is the one that is meant.
static bool is_it(const struct machine *m, const struct fiber *f,
                  const struct atomic_event *e)
{
    return m->serial - m->orders.first == e->block && f->number == e->thread &&
           f->atomics == e->count;
}

void search_point(struct machine *m, void *p, const struct site *site)
{
    struct orders *s = &m->orders;
    struct fiber *f = m->current;
    f->atomics++;
    if (s->is_noted && s->n_events < ATOMICS_MOST)
        s->events[s->n_events++] =
            (struct atomic_event){m->serial - s->first, f->number, f->atomics,
                                  own_address(m, p), site};
    if (s->now && is_it(m, f, &s->now->before))
        s->now = NULL;
    while (s->now && is_it(m, f, &s->now->held))
        fiber_yield(m);
}

bool search_holds(const struct machine *m, const struct fiber *f)
{
    return m->orders.now && is_it(m, f, &m->orders.now->held);
}

bool search_give_up(struct machine *m)
{
    bool was_held = m->orders.now;
    m->orders.now = NULL;
    return was_held;
}
