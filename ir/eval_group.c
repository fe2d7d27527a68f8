// Runs threads in lock-step.
//
// A thread runs a statement without a barrier from end to end.  A statement
// with a barrier inside is finished by all threads of the group before any
// starts the next, and all must take the same way through it.  Where only the
// threads of a warp meet, the same holds for each warp.

#include "ir/eval_code.h"

#include <stdlib.h>

struct group eval_group_new(const struct group *parents, size_t each)
{
    struct machine *m = parents->at[0]->machine;
    size_t n = parents->n * each;
    struct group g = {calloc(n + 1, sizeof *g.at), 0, 0, 0};
    struct thread *threads = calloc(n + 1, sizeof *threads);
    if (!g.at || !threads)
        eval_stop(m, EVAL_FAULT, m->kernel->span, "no memory for threads");
    for (; !m->is_stopped && g.n < n; g.n++) {
        threads[g.n] = eval_thread_new(m, parents->at[g.n / each]);
        g.at[g.n] = &threads[g.n];
    }
    if (!g.n)
        free(threads);
    return g;
}

void eval_group_free(struct group *g)
{
    for (size_t i = 0; i < g->n; i++)
        eval_thread_free(g->at[i]);
    if (g->n)
        free(g->at[0]);
    free(g->at);
}

// Return what an expression is in all threads; stops if they differ.
static int64_t uniform(struct group *g, const struct code *x, struct span span)
{
    int64_t first = eval_run(g->at[0], x).i;
    for (size_t i = 1; i < g->n; i++) {
        if (eval_run(g->at[i], x).i != first) {
            eval_stop(g->at[0]->machine, EVAL_FAULT, span,
                      "%s in divergent control flow",
                      g->width ? "exchange" : "barrier");
            break;
        }
    }
    return first;
}

void eval_set_place(struct thread *t, enum axis axis, int64_t i, int64_t n)
{
    int d = axis_dimension(axis);
    if (axis == AXIS_warpgroup) {
        t->place[0] = t->place[0] % WARPGROUP + i * WARPGROUP;
        t->block[0] = n * WARPGROUP;
        t->in_warpgroup = true;
    } else if (axis == AXIS_warp && t->in_warpgroup) {
        t->place[0] =
            t->place[0] / WARPGROUP * WARPGROUP + t->place[0] % WARP + i * WARP;
    } else if (axis == AXIS_warp) {
        t->place[0] = t->place[0] % WARP + i * WARP;
        t->block[0] = n * WARP;
    } else if (axis == AXIS_lane) {
        t->place[0] = t->place[0] / WARP * WARP + i;
        t->block[0] = t->block[0] > n ? t->block[0] : n;
    } else {
        t->place[d] = i;
        t->block[d] = n;
    }
}

// Run a loop over threads in lock-step: every thread of the group becomes as
// many as the loop has iterations.  Local arrays from outside of the loop are
// then as the last of them has left them.
static void spawn(struct group *g, const struct action *s,
                  const struct range *r)
{
    size_t n = (size_t)((r->to - r->from - 1) / r->step) + 1;
    struct group all = eval_group_new(g, n);
    for (size_t i = 0; i < all.n; i++) {
        all.at[i]->frame[s->slot].i = r->from + (int64_t)(i % n) * r->step;
        eval_set_place(all.at[i], s->origin->u.loop.axis, (int64_t)(i % n),
                       (int64_t)n);
    }
    if (all.n)
        eval_run_group(&all, &s->body);
    for (size_t i = 0; i < g->n && all.n == g->n * n; i++)
        eval_thread_return(all.at[i * n + n - 1], g->at[i]);
    eval_group_free(&all);
}

// Return whether a loop may have another iteration in which a thread of the
// group does anything.
static bool goes_on(const struct group *g, const struct action *s)
{
    bool holds = !s->holds;
    for (size_t i = 0; i < g->n && !holds; i++)
        holds = eval_run(g->at[i], s->holds).i;
    return holds;
}

// Run the iterations of a loop, one after another.
static void repeat(struct group *g, const struct action *s,
                   const struct range *r)
{
    struct machine *m = g->at[0]->machine;
    int64_t i = r->from;
    uint64_t before;
    do {
        before = m->events;
        if (!eval_begin_iteration(m, s))
            return;
        for (size_t k = 0; k < g->n; k++)
            g->at[k]->frame[s->slot].i = i;
        eval_run_group(g, &s->body);
    } while (goes_on(g, s) && eval_goes_on(m, s, r, before) &&
             eval_next_iteration(r, &i));
}

// Run a loop in which threads wait for one another.
static void group_for(struct group *g, const struct action *s)
{
    uniform(g, s->x, s->origin->span);
    uniform(g, s->y, s->origin->span);
    uniform(g, s->z, s->origin->span);
    struct range r = eval_loop_range(g->at[0], s);
    if (r.from >= r.to)
        return;
    enum axis_kind kind = axis_kind(s->origin->u.loop.axis);
    if (kind == AXIS_THREAD)
        spawn(g, s, &r);
    else if (kind == AXIS_BLOCK && s->waits && g->n == 1)
        eval_block_loop(g, s, &r);
    else
        repeat(g, s, &r);
}

// Run a branch with a barrier inside.
static void group_if(struct group *g, const struct action *s)
{
    bool taken = uniform(g, s->x, s->origin->span);
    if (!g->at[0]->machine->is_stopped)
        eval_run_group(g, taken ? &s->body : &s->other);
}

// Run a branch inside which threads of warps meet: those that go one way, then
// the others.
static void warp_if(struct group *g, const struct action *s)
{
    struct machine *m = g->at[0]->machine;
    struct thread **at = calloc(2 * g->n, sizeof(struct thread *));
    struct group part[2] = {{at, 0, g->whole, g->width},
                            {at + g->n, 0, g->whole, g->width}};
    if (!at) {
        eval_stop(m, EVAL_FAULT, m->kernel->span, "no memory for threads");
        return;
    }
    for (size_t i = 0; i < g->n && eval_step(m, s->origin); i++) {
        struct group *to = &part[!eval_run(g->at[i], s->x).i];
        to->at[to->n++] = g->at[i];
    }
    if (part[0].n && !m->is_stopped)
        eval_run_group(&part[0], &s->body);
    if (part[1].n && !m->is_stopped)
        eval_run_group(&part[1], &s->other);
    free(at);
}

// Run a statement for the only thread of a group.
static void run_one(struct group *g, const struct action *s)
{
    if (eval_step(g->at[0]->machine, s->origin))
        s->run(g->at[0], s);
}

// Run the statements of one for a thread.
static void run_body(struct thread *t, const struct action *s)
{
    eval_run_actions(t, &s->body);
}

// Parts of a group that run a statement round-robin.
struct parts {
    struct turns turns;
    struct group *at;
    const struct action *action;
    void (*run)(struct group *g, const struct action *s);
};

// Run a statement for one part.
static void run_part(const struct turns *turns, size_t number)
{
    const struct parts *all = (const struct parts *)turns;
    all->run(&all->at[number], all->action);
}

void eval_parts(struct group *parts, size_t n, const struct action *s,
                void (*run)(struct group *g, const struct action *s))
{
    struct machine *m = parts[0].at[0]->machine;
    const struct parts all = {{m, s->origin->span, n, run_part}, parts, s, run};
    eval_turns(&all.turns);
}

// Run a statement whole for each thread, round-robin.
static void run_in_turns(struct group *g, const struct action *s)
{
    struct group *parts = calloc(g->n, sizeof *parts);
    if (!parts)
        eval_stop(g->at[0]->machine, EVAL_FAULT, s->origin->span,
                  "no memory for threads");
    for (size_t i = 0; parts && i < g->n; i++)
        parts[i] = (struct group){g->at + i, 1, g->whole, g->width};
    if (parts)
        eval_parts(parts, g->n, s, run_one);
    free(parts);
}

// Run a statement whole, thread after thread.
static void run_each(struct group *g, const struct action *s)
{
    if (s->waits && g->n > 1) {
        run_in_turns(g, s);
        return;
    }
    for (size_t i = 0; i < g->n; i++) {
        if (!eval_step(g->at[i]->machine, s->origin))
            return;
        s->run(g->at[i], s);
    }
}

// Let the threads of a warp do the operations of a statement.
static void run_exchanges(struct group *g, const struct action *s)
{
    for (size_t i = 0; i < s->exchanges.n; i++)
        eval_exchange(g, s->exchanges.at[i]);
}

// Return whether a block waits for the others of its cluster at a statement: an
// arrival alone need not be seen.
static bool waits_for_cluster(const struct ir_stmt *s)
{
    return s->kind == STMT_barrier
               ? s->u.of_cluster
               : s->kind == STMT_sync && s->u.sync.kind == SYNC_cluster_wait;
}

void eval_group_run(struct group *g, const struct action *s)
{
    bool meets = s->has_barrier || s->joint;
    bool is_wider = !g->width || g->width > s->joint;
    if (s->joint && !s->has_barrier && !s->spawns && is_wider) {
        eval_units(g, s->joint, s, eval_group_run);
        return;
    }
    if (g->width > WARP && s->exchanges.n)
        eval_units(g, WARP, s, run_exchanges);
    else
        run_exchanges(g, s);
    if (g->at[0]->machine->is_stopped)
        return;
    if (meets && s->origin->kind == STMT_for)
        group_for(g, s);
    else if (meets && s->origin->kind == STMT_if)
        (s->has_barrier ? group_if : warp_if)(g, s);
    else if (s->joint && s->origin->kind == STMT_sync)
        eval_exchange(g, NULL);
    else if (s->origin->kind == STMT_matrix)
        eval_matrix(g, s);
    else if (waits_for_cluster(s->origin))
        eval_cluster_barrier(g->at[0], s->origin->span);
    else
        run_each(g, s);
}

void eval_alone(struct thread *t, const struct action *s)
{
    eval_group_run(&(struct group){&t, 1, 0, 0}, s);
}

// Return as one the statements of a block from number `at` up to a barrier, if
// threads wait in some of them; else none.
static struct action until_barrier(const struct actions *block, size_t at)
{
    struct action all = {.origin = block->at[at]->origin,
                         .body = {block->at + at, 0}};
    for (; at < block->n && !block->at[at]->has_barrier; at++, all.body.n++) {
        const struct action *s = block->at[at];
        all.waits |= s->waits;
        all.joint = s->joint > all.joint ? s->joint : all.joint;
    }
    all.body.n = all.waits ? all.body.n : 0;
    return all;
}

// Run the statements of one for a warp or a warpgroup.
static void run_unit(struct group *g, const struct action *s)
{
    eval_run_group(g, &s->body);
}

// Run statements of which some wait: each thread, warp or warpgroup all of
// them, round-robin.
static void run_waiting(struct group *g, struct action *s)
{
    s->run = run_body;
    if (s->joint)
        eval_units(g, s->joint, s, run_unit);
    else
        run_in_turns(g, s);
}

void eval_run_group(struct group *g, const struct actions *block)
{
    for (size_t i = 0; i < block->n; i++) {
        if (g->at[0]->machine->is_stopped)
            return;
        struct action all = until_barrier(block, i);
        if (all.body.n > 1 && g->n > 1 && !g->width) {
            run_waiting(g, &all);
            i += all.body.n - 1;
        } else {
            eval_group_run(g, block->at[i]);
        }
    }
}
