// Compiles what the search is likely to want next, while agents measure what it needs to
// decide: else they would wait for the first code of each round.

#include "tools/ingot/tune.h"

#include <stdlib.h>
#include <string.h>

// Return whether a trial has this text, or had it compiled.
static bool is_there(const struct tune_problem *p, const struct tune_trial *t)
{
    vec_foreach_value(other, &p->trials)
        if (other->hash == t->hash)
            return true;
    return tune_ahead_find(p, t->hash) || tune_log_find(p, t, 1);
}

// Return how many measurements the search waits for, and of how many trials: what it
// expects changes with that.
static size_t state_of(const struct search *s)
{
    size_t n = s->trials.n;
    vec_foreach(t, &s->trials)
        n += s->trials.n * t->is_out;
    return n;
}

struct tune_trial *tune_ahead_next(struct tune_problem *p)
{
    struct tune_ahead *a = &p->ahead;
    size_t state = state_of(&p->search), waiting = 0;
    vec_foreach_value(t, &a->trials)
        waiting += !t->is_taken;
    if (state != a->state) {
        a->state = state;
        a->next = 0;
        memset(&a->points, 0, sizeof a->points);
        search_expect(&p->search, &p->c->arena, &a->points);
    }
    while (a->next < a->points.n && waiting < 2 * p->search.options.width) {
        struct tune_trial *t = tune_way(p, &a->points.at[a->next++]);
        if (is_there(p, t))
            continue;
        vec_push(&p->c->arena, &a->trials, t);
        return t;
    }
    return NULL;
}

struct tune_trial *tune_ahead_find(const struct tune_problem *p, uint64_t hash)
{
    vec_foreach_value(t, &p->ahead.trials)
        if (t->hash == hash && !t->is_taken)
            return t;
    return NULL;
}

void tune_ahead_take(struct tune_trial *from, struct tune_trial *to)
{
    from->is_taken = true;
    to->cubin = from->cubin;
    to->n = from->n;
    to->spills = from->spills;
    to->predicted = from->cubin ? from->predicted : to->predicted;
    to->state = from->state;
    to->why = from->why;
    from->cubin = NULL;
}

void tune_ahead_release(struct tune_problem *p)
{
    vec_foreach_value(t, &p->ahead.trials)
        free(t->cubin);
}
