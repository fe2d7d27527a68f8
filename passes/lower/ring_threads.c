// Lowers the rings of a loop that its threads fill: a software pipeline with a
// prologue.
//
//   alloc S: f32[3, 64] in shared           alloc S: f32[3, 64] in shared
//   for k in 0..n @ring(slots 3, arrays S) {
//     let slot = k % 3                      for p in 0..2 @unroll {
//     for t in 0..64 @thread.x {              if p < n { copy p into S[p] }
//       stage S @via(cp_async)                async_commit
//         { S[slot, t] = A[k, t] }          }
//     }                                     for k in 0..n {
//     use S[slot]                      =>     async_wait(1)
//   }                                         if k + 2 < n {
//                                               copy k + 2 into S[(k + 2) % 3]
//                                             }
//                                             async_commit
//                                             use S[k % 3]
//                                           }
//
// If the use has matrix instructions, and there are slots enough, it goes in
// front of the copies, so it does not wait for their addresses. Every iteration
// commits a group, empty or not. So with S slots, the copy for iteration k has
// arrived when all groups but the last S - 2 have. Copies that are not
// asynchronous need no groups. Barriers are inserted later
// (barrier_insertion.c).
//
// Several rings of a loop share the groups. If one is filled from another, the
// prologue waits, too (analysis/ring_ahead.h).

#include "passes/lower/ring_threads.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/analysis/ring_ahead.h"
#include "passes/analysis/tensor.h"
#include "passes/lower/async_copies.h"
#include "passes/lower/slots.h"

// The rewrite of a loop.
struct rewrite {
    struct pass *p;
    struct ir_stmt *loop;
    struct ring_aheads streams; // in the order of the rings
    int64_t ahead;              // the most of them
    int64_t pending;            // groups that need not have arrived
    bool is_async;              // some copies are
    bool is_chain;              // a ring is filled from another
};

// Find the rings of a loop, and how far ahead they are filled.
static struct rewrite find(struct pass *p, struct ir_stmt *loop)
{
    struct rewrite r = {.p = p, .loop = loop, .pending = INT64_MAX};
    for (size_t i = 0; i < loop->u.loop.rings.n; i++)
        vec_push(
            p->scratch, &r.streams,
            ((struct ring_ahead){.ring = ring_planned(p->scratch, loop, i)}));
    ring_ahead_find(p->scratch, loop, &r.streams);
    for (size_t i = 0; i < r.streams.n; i++) {
        const struct ring_ahead *x = &r.streams.at[i];
        int64_t pending = x->ahead - x->most - 1;
        r.ahead = x->ahead > r.ahead ? x->ahead : r.ahead;
        r.is_chain |= x->most > 0;
        if (!ir_ring_is(x->ring.of, RING_arrive_group))
            continue;
        r.is_async = true;
        r.pending = pending < r.pending ? pending : r.pending;
    }
    return r;
}

// Append what fills a ring for an iteration, if there is one.
static void append_fills(struct rewrite *r, const struct ring *ring,
                         struct ir_block *out, struct ir_expr *iteration,
                         struct ir_expr *condition)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->loop->u.loop;
    struct map vars = {.arena = r->p->scratch};
    struct ir_block fills = {0};
    for (size_t i = 0; i < ring->fills.n; i++)
        ir_append(a, &fills, ring->fills.at[i]);
    slots_at(a, loop, iteration, &vars);
    struct ir_expr *runs = ir_binary(a, OP_lt, iteration, loop->to);
    if (condition)
        runs = ir_binary(a, OP_and, condition, runs);
    struct ir_stmt *s = ir_stmt_if(a, runs);
    ir_stmt_from(s, ring->fills.at[0]);
    s->u.branch.then = ir_copy_block(a, &fills, &vars, NULL);
    ir_append(a, out, s);
}

// Append the fills of all rings, of the iterations that are as far ahead as each
// of them is, from one that is `late` iterations before `at`, as a group.
static void append_group(struct rewrite *r, struct ir_block *out,
                         struct ir_expr *at, int64_t late)
{
    struct arena *a = r->p->arena;
    for (size_t i = 0; i < r->streams.n; i++) {
        const struct ring_ahead *x = &r->streams.at[i];
        int64_t shift = x->ahead - late;
        struct ir_expr *iteration = ir_add(a, at, ir_int(a, shift));
        append_fills(r, &x->ring, out, iteration,
                     shift < 0 ? ir_binary(a, OP_ge, at, ir_int(a, -shift))
                               : NULL);
    }
    if (r->is_async)
        ir_append(a, out,
                  ir_stmt_from(ir_stmt_sync(a, SYNC_async_commit),
                               r->streams.at[0].ring.fills.at[0]));
}

// Append the wait for the groups that an iteration needs.
static void append_wait(struct rewrite *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    if (r->is_async)
        ir_append(
            a, out,
            ir_stmt_from(ir_stmt_wait(a, SYNC_async_wait, (uint32_t)r->pending),
                         r->streams.at[0].ring.fills.at[0]));
}

// Return the loop over the fills that precede the first iteration.
static struct ir_stmt *prologue(struct rewrite *r)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->loop->u.loop;
    struct ir_var *var = ir_var_new(a, str_name(r->p->names, "ahead"),
                                    loop->var->type, VAR_loop, loop->var->span);
    struct ir_stmt *s = ir_stmt_for(a, var, ir_int(a, 0), ir_int(a, r->ahead),
                                    ir_int(a, 1), AXIS_unroll);
    if (r->is_chain)
        append_wait(r, &s->u.loop.body);
    append_group(r, &s->u.loop.body, ir_read(a, var), r->ahead);
    return ir_stmt_from(s, r->loop);
}

// Return whether a matrix instruction, or a nest that becomes one, is in a block.
static bool has_matrix(const struct ir_block *block)
{
    struct ir_matrix op;
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_matrix || tensor_marked(s, &op))
            return true;
    return false;
}

// Append an iteration: the fills for later ones, and the use of its own.
static void append_iteration(struct rewrite *r, struct ir_block *body,
                             struct ir_block *use)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->loop->u.loop;
    struct ir_expr *k = ir_read(a, loop->var);
    struct map vars = {.arena = r->p->scratch};
    bool uses_first = r->is_async && r->pending > 0 && has_matrix(use);
    slots_at(a, loop, k, &vars);
    ir_substitute_in(a, use, &vars, NULL);
    if (!uses_first)
        append_group(r, body, k, 0);
    ir_append_all(a, body, use);
    if (uses_first)
        append_group(r, body, k, 0);
}

// Return what uses the slots: the body without their numbers and what fills.
static struct ir_block use_of(const struct rewrite *r)
{
    struct ir_block use = {0};
    const struct ir_for *loop = &r->loop->u.loop;
    for (size_t i = ir_ring_slots(loop); i < loop->body.n; i++) {
        bool fills = false;
        for (size_t k = 0; k < r->streams.n; k++)
            fills |= ring_has_fill(&r->streams.at[k].ring, loop->body.at[i]);
        if (!fills)
            ir_append(r->p->arena, &use, loop->body.at[i]);
    }
    return use;
}

// Let the marked copies of the rings be asynchronous.
static void start_copies(struct rewrite *r)
{
    for (size_t i = 0; i < r->streams.n; i++) {
        const struct ring *ring = &r->streams.at[i].ring;
        for (size_t k = 0; k < ring->fills.n; k++)
            async_copies_start(r->p->arena, &r->p->kernel->body,
                               ring->fills.at[k]);
    }
}

void ring_threads_lower(struct pass *p, struct ir_stmt *loop,
                        struct ir_block *out)
{
    struct rewrite r = find(p, loop);
    struct ir_block body = {0}, use = use_of(&r);
    start_copies(&r);
    ir_append(p->arena, out, prologue(&r));
    append_wait(&r, &body);
    append_iteration(&r, &body, &use);
    loop->u.loop.body = body;
    loop->u.loop.rings = (struct ir_rings){0};
    ir_append(p->arena, out, loop);
}
