// Threads that spin: one that finds nothing new lets the others run; once none
// of them finds anything new, they hang.
//
// A loop that comes back to the state that it was in, while no memory has
// changed, does so for ever, but for the count of its iterations.  An atomic
// that finds what it left there last time has nothing new either.

#include "tools/simt/async.h"

#include <string.h>

enum { LEFT_MOST = 1 << 16, POLLS_MOST = 1 << 16, FORCED_STEPS = 1 << 20 };

// ---- What changes ---------------------------------------------------------

void wait_note_write(struct machine *m, const void *p, size_t bytes)
{
    struct written *w = &m->written;
    wait_settle(m);
    if (bytes > sizeof w->before) {
        m->changes++;
        return;
    }
    *w = (struct written){.at = p, .bytes = bytes};
    memcpy(w->before, p, bytes);
}

void wait_settle(struct machine *m)
{
    struct written *w = &m->written;
    m->changes += w->bytes && memcmp(w->before, w->at, w->bytes) != 0;
    w->bytes = 0;
}

bool wait_is_idle(struct machine *m, const struct fiber *f)
{
    wait_settle(m);
    return f->idle_at == m->changes + 1 || search_holds(m, f);
}

// ---- A thread that spins --------------------------------------------------

// Let others run: the current thread finds nothing new.
static void stay_idle(struct machine *m, const struct site *s)
{
    struct fiber *f = m->current;
    f->site = s;
    f->idle_at = m->changes + 1;
    if (m->forced == f && f->polls++ < POLLS_MOST)
        return;
    fiber_yield(m);
    wait_settle(m);
}

void wait_poll(struct machine *m, const void *p, uint64_t expected,
               const struct site *s)
{
    struct fiber *f = m->current;
    wait_settle(m);
    bool is_again =
        f->polled == p && f->polled_at == m->changes && f->expected == expected;
    f->polls = is_again ? f->polls : 0;
    if (is_again)
        stay_idle(m, s);
    f->polled = p;
    f->poller = s;
    f->expected = expected;
    f->polled_at = m->changes;
}

// Return whether a loop comes back to a state of which nothing has changed
// since; states are kept after 1, 2, 4 ... iterations (Brent).
static bool is_back(struct machine *m, const struct site *s, uint64_t state)
{
    struct turn *t = &m->current->turn;
    bool is_same = t->site == s && t->state == state;
    t->since++;
    if (is_same && t->changes == m->changes) {
        t->period = t->since;
        t->since = 0;
        return true;
    }
    if (!t->site || t->changes != m->changes) {
        *t = (struct turn){
            .site = s, .state = state, .changes = m->changes, .most = 1};
    } else if (++t->n >= t->most) {
        t->site = s;
        t->state = state;
        t->n = 0;
        t->most *= 2;
    }
    return false;
}

// Return whether a loop that came back to a state has left it again: others may
// hand it something new by what a warp does together.
static bool has_moved_on(const struct fiber *f)
{
    return f->turn.since >= f->turn.period;
}

bool wait_moves(const struct machine *m, const struct fiber *f)
{
    return f->round_at != m->changes + 1;
}

void simt_turn(struct machine *m, const struct site *s, uint64_t state,
               uint64_t left)
{
    struct fiber *f = m->current;
    simt_step(m, s);
    wait_settle(m);
    if (!is_back(m, s, state)) {
        f->polls = 0;
        f->round_at = has_moved_on(f) ? 0 : f->round_at;
        return;
    }
    f->round_at = m->changes + 1;
    f->left = left;
    f->polls += m->forced == f && left > LEFT_MOST ? POLLS_MOST : 0;
    stay_idle(m, s);
}

// ---- All threads that spin ------------------------------------------------

// Return whether a thread would spin for too long to wait for its loop to end.
static bool is_hopeless(const struct machine *m, const struct fiber *f)
{
    return (f->round_at == m->changes + 1 && f->left > LEFT_MOST) ||
           f->polls > POLLS_MOST;
}

// Return a thread of the block that spins, and whose loop ends some time; the
// one of fewest iterations.  NULL: there is none.
static struct fiber *next_to_end(struct machine *m)
{
    struct fiber *best = NULL;
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        if (f->state == FIBER_READY && !is_hopeless(m, f) &&
            (!best || f->left < best->left))
            best = f;
    }
    return best;
}

// Return another thread of the block that waits, or NULL.
static const struct fiber *waiting(const struct machine *m)
{
    for (uint32_t i = 0; i < m->n_fibers; i++)
        if (m->fibers[i].state != FIBER_READY &&
            m->fibers[i].state != FIBER_DONE)
            return &m->fibers[i];
    return NULL;
}

// Report which threads of the block spin, where, and on what.
static bool note_hangs(struct machine *m, uint64_t unbegun)
{
    const struct fiber *other = waiting(m);
    bool any = false;
    for (uint32_t i = 0; i < m->n_fibers; i++) {
        struct fiber *f = &m->fibers[i];
        struct simt_finding finding;
        bool is_fresh = f->polled && f->polled_at == m->changes;
        if (f->state != FIBER_READY)
            continue;
        any = true;
        m->current = f;
        finding_make(m, SIMT_FAULT_hang, is_fresh ? f->poller : f->site, NULL,
                     is_fresh ? f->polled : NULL, &finding);
        finding.unbegun = unbegun;
        if (other)
            finding_set_waiting(m, other, &finding);
        finding_note(m, &finding);
    }
    m->current = NULL;
    return any;
}

// Let threads poll once more.  Returns whether there are any.
static bool poll_again(struct machine *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        slot_enter(m, i);
        for (uint32_t t = 0; m->slots[i].is_live && t < m->n_fibers; t++) {
            struct fiber *f = &m->fibers[t];
            any |= f->state == FIBER_READY && f->idle_at;
            f->idle_at = 0;
        }
    }
    m->trial = (struct trial){true, m->changes, m->progress};
    return any;
}

// Return whether every thread that has not ended has come back to a state that
// it was in, waiting for others between or not.
static bool have_all_come_back(struct machine *m)
{
    for (uint32_t i = 0; i < m->n_slots; i++) {
        slot_enter(m, i);
        for (uint32_t t = 0; m->slots[i].is_live && t < m->n_fibers; t++) {
            const struct fiber *f = &m->fibers[t];
            if (f->state != FIBER_DONE &&
                (f->round_at != m->changes + 1 || f->left <= LEFT_MOST))
                return false;
        }
    }
    return true;
}

// Run a thread that spins until its loop ends, or others have reason to.
// Returns whether there is one.
static bool force_one(struct machine *m)
{
    for (uint32_t i = 0; i < m->n_slots; i++) {
        slot_enter(m, i);
        struct fiber *f = m->slots[i].is_live ? next_to_end(m) : NULL;
        if (!f)
            continue;
        m->forced = f;
        f->idle_at = 0;
        m->granted = m->slice = FORCED_STEPS;
        fiber_go_on(m, f);
        m->forced = NULL;
        return true;
    }
    return false;
}

void wait_resolve(struct machine *m, uint64_t unbegun)
{
    struct trial *t = &m->trial;
    wait_settle(m);
    if (search_give_up(m))
        return;
    bool is_still = t->is_on && t->changes == m->changes;
    bool is_stuck = is_still && t->progress == m->progress;
    if (!is_stuck && !(is_still && have_all_come_back(m)) && poll_again(m))
        return;
    t->is_on = false;
    if (force_one(m))
        return;
    bool any = false;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        slot_enter(m, i);
        any |= m->slots[i].is_live && note_hangs(m, unbegun);
    }
    for (uint32_t i = 0; i < m->n_slots && !any; i++) {
        slot_enter(m, i);
        if (m->slots[i].is_live)
            note_stuck(m);
    }
    m->is_stopped = true;
}
