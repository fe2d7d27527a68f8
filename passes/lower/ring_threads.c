// Lowers a ring that the threads of the loop fill: a software pipeline with a
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

#include "passes/lower/ring_threads.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/analysis/ring.h"
#include "passes/analysis/tensor.h"
#include "passes/lower/async_copies.h"

// The rewrite of a loop.
struct rewrite {
    struct pass *p;
    struct ring ring;
    int64_t slots;
    const struct ir_stmt *slot; // of an iteration: a let
    bool is_async;              // some copies are
};

// Append the copies of an iteration, if there is one, as a group.
static void append_copies(struct rewrite *r, struct ir_block *out,
                          struct ir_expr *iteration)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->ring.loop->u.loop;
    struct map vars = {.arena = r->p->scratch};
    struct ir_block fills = {0};
    for (size_t i = 0; i < r->ring.fills.n; i++)
        ir_append(a, &fills, r->ring.fills.at[i]);
    map_set(&vars, loop->var, iteration);
    map_set(&vars, r->slot->u.let.var,
            ir_substitute(a, r->slot->u.let.value, &vars, NULL));
    struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_lt, iteration, loop->to));
    ir_stmt_from(s, r->ring.fills.at[0]);
    s->u.branch.then = ir_copy_block(a, &fills, &vars, NULL);
    ir_append(a, out, s);
    if (r->is_async)
        ir_append(a, out, ir_stmt_from(ir_stmt_sync(a, SYNC_async_commit), s));
}

// Return the loop over the copies that precede the first iteration.
static struct ir_stmt *first_copies(struct rewrite *r)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->ring.loop->u.loop;
    struct ir_var *var = ir_var_new(a, str_name(r->p->names, "ahead"),
                                    loop->var->type, VAR_loop, loop->var->span);
    struct ir_stmt *s =
        ir_stmt_for(a, var, ir_int(a, 0), ir_int(a, r->slots - 1), ir_int(a, 1),
                    AXIS_unroll);
    append_copies(r, &s->u.loop.body, ir_read(a, var));
    return ir_stmt_from(s, r->ring.loop);
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

// Append an iteration: the copies for a later one, and the use of its own.
static void append_iteration(struct rewrite *r, struct ir_block *body,
                             struct ir_block *use)
{
    struct arena *a = r->p->arena;
    struct ir_expr *k = ir_read(a, r->ring.loop->u.loop.var);
    struct map vars = {.arena = r->p->scratch};
    bool uses_first = r->is_async && r->slots > 2 && has_matrix(use);
    map_set(&vars, r->slot->u.let.var, r->slot->u.let.value);
    ir_substitute_in(a, use, &vars, NULL);
    if (!uses_first)
        append_copies(r, body, ir_add(a, k, ir_int(a, r->slots - 1)));
    ir_append_all(a, body, use);
    if (uses_first)
        append_copies(r, body, ir_add(a, k, ir_int(a, r->slots - 1)));
}

// Return what uses the slots: the body without the slot's number and what fills.
static struct ir_block use_of(const struct rewrite *r)
{
    struct ir_block use = {0};
    const struct ir_block *body = &r->ring.loop->u.loop.body;
    for (size_t i = 1; i < body->n; i++) {
        if (!ring_has_fill(&r->ring, body->at[i]))
            ir_append(r->p->arena, &use, body->at[i]);
    }
    return use;
}

void ring_threads_lower(struct pass *p, struct ir_stmt *loop,
                        struct ir_block *out)
{
    struct arena *a = p->arena;
    struct ir_block body = {0};
    struct rewrite r = {.p = p,
                        .ring = ring_planned(p->scratch, loop),
                        .slots = loop->u.loop.ring->slots,
                        .slot = ir_ring_slot(&loop->u.loop)};
    struct ir_block use = use_of(&r);
    for (size_t i = 0; i < r.ring.fills.n; i++) {
        struct ir_block one = {.at = &r.ring.fills.at[i], .n = 1};
        r.is_async |= async_copies_start(a, &p->kernel->body, &one);
    }
    ir_append(a, out, first_copies(&r));
    if (r.is_async)
        ir_append(a, &body,
                  ir_stmt_from(
                      ir_stmt_wait(a, SYNC_async_wait, (uint32_t)(r.slots - 2)),
                      r.ring.fills.at[0]));
    append_iteration(&r, &body, &use);
    loop->u.loop.body = body;
    loop->u.loop.ring = NULL;
    ir_append(a, out, loop);
}
