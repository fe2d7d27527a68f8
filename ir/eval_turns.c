// Threads that wait for one another in a statement without a barrier take
// turns: each has a stack of its own, and runs until it waits.

#include "ir/eval_code.h"

#include <stdlib.h>
#include <ucontext.h>

enum { STACK_BYTES = 128 << 10 };

// A thread, or several that run together, with a stack of its own.
struct turn {
    ucontext_t here, back; // where it goes on, and who gave it the turn
    struct group *part;
    const struct action *action;
    void (*run)(struct group *g, const struct action *s);
    bool is_done;
};

// Run a turn from its start; makecontext passes integers, so the pointer comes in
// two.
static void begin(unsigned high, unsigned low)
{
    struct turn *t =
        (struct turn *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    t->run(t->part, t->action);
    t->is_done = true;
    t->part->at[0]->machine->events++;
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

// Give a turn its stack, and let it start at `begin`.
static void prepare(struct turn *t, char *stack)
{
    getcontext(&t->here);
    t->here.uc_stack.ss_sp = stack;
    t->here.uc_stack.ss_size = STACK_BYTES;
    t->here.uc_link = &t->back;
    uint64_t bits = (uintptr_t)t;
    makecontext(&t->here, (void (*)(void))begin, 2, (unsigned)(bits >> 32),
                (unsigned)bits);
}

// Run each that is not done until it waits; returns how many are not done.
static size_t give_turns(struct machine *m, struct turn *turns, size_t n)
{
    struct turn *outer = m->turn;
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (turns[i].is_done)
            continue;
        m->turn = &turns[i];
        swapcontext(&turns[i].back, &turns[i].here);
        left += !turns[i].is_done;
    }
    m->turn = outer;
    return left;
}

void eval_turns(struct group *parts, size_t n, const struct action *s,
                void (*run)(struct group *g, const struct action *s))
{
    struct machine *m = parts[0].at[0]->machine;
    struct turn *turns = calloc(n, sizeof *turns);
    char *stacks = malloc(n * STACK_BYTES);
    if (!turns || !stacks) {
        eval_stop(m, EVAL_FAULT, s->origin->span, "no memory for threads");
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        turns[i].part = &parts[i];
        turns[i].action = s;
        turns[i].run = run;
        prepare(&turns[i], stacks + i * STACK_BYTES);
    }
    for (uint64_t before = m->events; give_turns(m, turns, n);
         before = m->events) {
        if (m->events == before)
            eval_pause(m, s->origin->span);
        m->waits_at = (struct span){0};
    }
    free(stacks);
    free(turns);
}
