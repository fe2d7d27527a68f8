// Runs threads that wait for one another without a barrier, and such blocks of
// a grid, round-robin: each has a stack of its own, and runs until it waits.
//
// Turns may stand inside of others, as those of threads inside that of their
// block.  Where a round of turns has changed nothing, those outside go on.

#include "ir/eval_code.h"

#include <stdlib.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 128 << 10,
    TURNS_MOST = 1 << 14, // at a time
    PATIENCE = 16,        // rounds after which others go on, whatever changes
};

// One member of a round-robin, with a stack of its own.
struct turn {
    ucontext_t here, back; // where it goes on, and who gave it the turn
    const struct turns *all;
    size_t number;
    bool is_done;
    struct turn *next;
    char stack[];
};

// How far an evaluation was when a round began.
struct round {
    uint64_t events, looks;
};

// Run a turn from its start; makecontext passes integers, so the pointer comes in
// two.
static void begin(unsigned high, unsigned low)
{
    struct turn *t =
        (struct turn *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    t->all->run(t->all, t->number);
    t->is_done = true;
    t->all->machine->events++;
}

void eval_pause(struct machine *m, struct span span)
{
    struct turn *t = m->turn;
    m->waits_at = m->waits_at.source ? m->waits_at : span;
    if (t && !m->is_stopped)
        swapcontext(&t->here, &t->back);
    else
        eval_stop(m, EVAL_WAITS, m->waits_at,
                  "what a thread waits for never comes");
}

// Return a stack for one more; NULL after a stop.
static struct turn *turn_new(struct machine *m, const struct turns *all)
{
    bool is_many = m->n_turns >= TURNS_MOST;
    struct turn *t = is_many ? NULL : malloc(sizeof *t + STACK_BYTES);
    if (is_many)
        eval_stop(m, EVAL_LIMIT, all->span,
                  "more than %d threads that wait at a time", TURNS_MOST);
    else if (!t)
        eval_stop(m, EVAL_FAULT, all->span, "no memory for threads");
    m->n_turns += t != NULL;
    return t;
}

// Take back a stack, or none.
static void turn_free(struct machine *m, struct turn *t)
{
    m->n_turns -= t != NULL;
    free(t);
}

// Let a turn start at `begin`, as number `number`.
static void prepare(struct turn *t, const struct turns *all, size_t number)
{
    t->all = all;
    t->number = number;
    t->is_done = false;
    t->next = NULL;
    getcontext(&t->here);
    t->here.uc_stack.ss_sp = t->stack;
    t->here.uc_stack.ss_size = STACK_BYTES;
    t->here.uc_link = &t->back;
    uint64_t bits = (uintptr_t)t;
    makecontext(&t->here, (void (*)(void))begin, 2, (unsigned)(bits >> 32),
                (unsigned)bits);
}

// Run one until it waits or ends.
static void give_turn(struct machine *m, struct turn *t)
{
    struct turn *outer = m->turn;
    m->turn = t;
    swapcontext(&t->back, &t->here);
    m->turn = outer;
}

// Begin all, one after another; those that wait are put into a list, in order.
static void begin_all(const struct turns *all, struct turn **list)
{
    struct machine *m = all->machine;
    struct turn *t = NULL;
    for (size_t i = 0; i < all->n && !m->is_stopped; i++) {
        t = t ? t : turn_new(m, all);
        if (!t)
            return;
        prepare(t, all, i);
        give_turn(m, t);
        if (t->is_done)
            continue;
        *list = t;
        list = &t->next;
        t = NULL;
    }
    turn_free(m, t);
}

// Let each of a list go on until it waits again; those that end leave it.
static void go_on(struct machine *m, struct turn **list)
{
    while (*list) {
        struct turn *t = *list;
        give_turn(m, t);
        if (t->is_done) {
            *list = t->next;
            turn_free(m, t);
        } else {
            list = &t->next;
        }
    }
}

// End a round in which all have waited: others go on if nothing has changed, or
// now and then.  Stops if nobody can.
static void end_round(const struct turns *all, const struct round *before,
                      unsigned rounds)
{
    struct machine *m = all->machine;
    bool is_same = m->events == before->events;
    bool is_stuck = is_same && m->looks == before->looks;
    if (m->turn ? is_same || rounds % PATIENCE == 0 : is_stuck)
        eval_pause(m, all->span);
    if (!m->turn)
        m->waits_at = (struct span){0};
}

void eval_turns(const struct turns *all)
{
    struct machine *m = all->machine;
    struct turn *list = NULL;
    struct round before = {m->events, m->looks};
    begin_all(all, &list);
    for (unsigned rounds = 1; list; rounds++) {
        end_round(all, &before, rounds);
        before = (struct round){m->events, m->looks};
        go_on(m, &list);
    }
}
