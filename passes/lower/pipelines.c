// pipelines: software-pipelines loops with a ring (@ring): a prologue, and a ring
// of slots in shared memory. Lowers copies marked @via(cp_async) to cp.async.
//
//   for k in 0..n @ring(slots 3) {          alloc S: f32[3, 64] in shared
//     alloc S: f32[64] in shared          for p in 0..2 @unroll {
//     for t in 0..64 @thread.x {            if p < n { copy p into S[p] }
//       stage S @via(cp_async)              async_commit
//         { S[t] = A[k, t] }              }
//     }                                   for k in 0..n {
//     use S                          =>     async_wait(1)
//   }                                       if k + 2 < n {
//                                             copy k + 2 into S[(k + 2) % 3]
//                                           }
//                                           async_commit
//                                           use S[k % 3]
//                                         }
//
// If the use has matrix instructions, and there are slots enough, it goes in
// front of the copies, so it does not wait for their addresses. Every iteration
// commits a group, empty or not. So with S slots, the copy for iteration k has
// arrived when all groups but the last S - 2 have. Copies that are not
// asynchronous need no groups. A copy outside of such a loop is waited for
// before the first use of what it fills. Barriers are inserted later
// (barrier_insertion.c).

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/analysis/ring.h"
#include "passes/lower/async_copies.h"
#include "passes/lower/slots.h"
#include "passes/pass.h"

// The rewrite of a loop.
struct rewrite {
    struct pass *p;
    struct ring ring;
    int64_t slots;
    bool is_async; // some copies are
};

// Let a block use the slot of an iteration.
static void use_slot(struct rewrite *r, struct ir_block *block,
                     struct ir_expr *iteration)
{
    struct arena *a = r->p->arena;
    slots_use(a, &r->ring, block,
              ir_binary(a, OP_mod, iteration, ir_int(a, r->slots)));
}

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
    struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_lt, iteration, loop->to));
    ir_stmt_from(s, r->ring.fills.at[0]);
    s->u.branch.then = ir_copy_block(a, &fills, &vars, NULL);
    use_slot(r, &s->u.branch.then, iteration);
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

// Move the body of the loop to a block, without what fills; the arrays go to
// their place in front of the loop.
static void part_body(struct rewrite *r, struct ir_block *rest,
                      struct ir_block *front)
{
    struct arena *a = r->p->arena;
    const struct ir_block *body = &r->ring.loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (s->kind == STMT_alloc && slots_has(&r->ring, s->u.buffer))
            ir_append(a, front, s);
        else if (!ring_has_fill(&r->ring, s))
            ir_append(a, rest, s);
    }
}

// Set *(bool *)context at an instruction on matrices.
static void see_matrix(struct ir_stmt *s, void *context)
{
    *(bool *)context |= s->kind == STMT_matrix;
}

// Append an iteration: the copies for a later one, and the use of its own.
static void append_iteration(struct rewrite *r, struct ir_block *body,
                             struct ir_block *use)
{
    struct arena *a = r->p->arena;
    struct ir_expr *k = ir_read(a, r->ring.loop->u.loop.var);
    bool uses_first = false;
    ir_each_stmt(use, see_matrix, &uses_first);
    uses_first = uses_first && r->is_async && r->slots > 2;
    use_slot(r, use, k);
    if (!uses_first)
        append_copies(r, body, ir_add(a, k, ir_int(a, r->slots - 1)));
    ir_append_all(a, body, use);
    if (uses_first)
        append_copies(r, body, ir_add(a, k, ir_int(a, r->slots - 1)));
}

// Put what stands in the place of a loop into `out`.
static void rewrite_loop(struct rewrite *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->ring.loop->u.loop;
    struct ir_block rest = {0}, body = {0};
    for (size_t i = 0; i < r->ring.fills.n; i++) {
        struct ir_block one = {.at = &r->ring.fills.at[i], .n = 1};
        r->is_async |= async_copies_start(&one);
    }
    part_body(r, &rest, out);
    for (size_t i = 0; i < r->ring.arrays.n; i++)
        layout_stack(a, r->ring.arrays.at[i], ir_int(a, r->slots));
    ir_append(a, out, first_copies(r));
    if (r->is_async)
        ir_append(a, &body,
                  ir_stmt_from(ir_stmt_wait(a, SYNC_async_wait,
                                            (uint32_t)(r->slots - 2)),
                               r->ring.fills.at[0]));
    append_iteration(r, &body, &rest);
    loop->body = body;
    loop->ring = NULL;
    ir_append(a, out, r->ring.loop);
}

// Report that a loop can no longer have its ring.  Returns false.
static bool report(struct pass *p, const struct ring *ring)
{
    diag_error(p->diags, ring->loop->span, D_pipeline_lost,
               ring->loop->u.loop.var->name, ring->fault);
    if (ring->at && ring->at != ring->loop)
        diag_note(p->diags, ring->at->span, "this is in the way");
    return false;
}

// Rewrite the loops with a ring of a block and below, the inner ones first; false
// after an error.
static bool rewrite_block(struct pass *p, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST], out = {0};
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++) {
            if (!rewrite_block(p, inside[k]))
                return false;
        }
        if (!ir_ring_of(s))
            continue;
        struct rewrite r = {.p = p, .slots = ir_ring_of(s)->slots};
        r.ring = ring_find(p->scratch, p->kernel, s);
        if (r.ring.fault)
            return report(p, &r.ring);
        rewrite_loop(&r, &out);
        ir_splice(p->arena, block, i, &out);
        i += out.n - 1;
    }
    return true;
}

// Copies on their way: the context of see_copied.
struct pending {
    struct pass *p;
    const struct ir_stmt *copy;        // the last of them
    struct VEC(struct ir_buffer *) to; // what they fill
    struct VEC(struct ir_buffer *) from;
};

// Note what a copy reads.
static void see_source(struct ir_expr *x, void *context)
{
    struct pending *c = context;
    if (x->op == OP_load)
        vec_push(c->p->scratch, &c->from, x->u.buffer);
}

// Note what a copy fills.
static void see_copied(struct ir_stmt *s, void *context)
{
    struct pending *c = context;
    if (s->kind == STMT_store && s->u.store.is_async)
        vec_push(c->p->scratch, &c->to, s->u.store.buffer);
}

// Note what decides whether a statement has nothing in it but marked copies.
static void see_unmarked(struct ir_stmt *s, void *context)
{
    bool *only_copies = context;
    *only_copies &= s->kind == STMT_for || s->kind == STMT_if ||
                    s->kind == STMT_let || s->kind == STMT_store ||
                    (s->kind == STMT_stage && copies_marked(&s->u.stage));
}

// Set *(bool *)context at a barrier, or a fence for TMA: it lets
// that see what has arrived.
static void see_barrier(struct ir_stmt *s, void *context)
{
    bool is_fence = s->kind == STMT_sync && s->u.sync.kind == SYNC_fence_async;
    *(bool *)context |= s->kind == STMT_barrier || is_fence;
}

// Return whether a statement needs the copies to have arrived.
static bool needs(const struct pending *c, struct ir_stmt *s)
{
    struct ir_block one = {.at = &s, .n = 1};
    bool found = false;
    ir_each_stmt(&one, see_barrier, &found);
    for (size_t i = 0; i < c->to.n; i++)
        found |= ir_block_reads(&one, c->to.at[i]) ||
                 ir_block_writes(&one, c->to.at[i]);
    for (size_t i = 0; i < c->from.n; i++)
        found |= ir_block_writes(&one, c->from.at[i]);
    return found && c->to.n;
}

// Let statement `at` of a block wait for the copies; returns how many
// statements that made.
static size_t await(struct pending *c, struct ir_block *block, size_t at)
{
    struct arena *a = c->p->arena;
    struct ir_stmt *commit = ir_stmt_sync(a, SYNC_async_commit);
    struct ir_stmt *wait = ir_stmt_wait(a, SYNC_async_wait, 0);
    ir_insert(a, block, at, ir_stmt_from(commit, c->copy));
    ir_insert(a, block, at + 1, ir_stmt_from(wait, c->copy));
    c->to.n = c->from.n = 0;
    return 2;
}

// Make the other marked copies of a block and below asynchronous; returns
// whether there were any.
static bool start_others(struct pass *p, struct ir_block *block)
{
    struct pending c = {.p = p};
    bool found = false;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block one = {.at = &s, .n = 1}, *inside[IR_BLOCKS_MOST];
        bool only_copies = true;
        ir_each_stmt(&one, see_unmarked, &only_copies);
        if (needs(&c, s))
            i += await(&c, block, i);
        uint32_t n = only_copies ? 0 : ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++)
            found |= start_others(p, inside[k]);
        if (!only_copies || !async_copies_start(&one))
            continue;
        c.copy = s;
        ir_each_stmt(&one, see_copied, &c);
        ir_each_expr_in(&one, see_source, &c);
    }
    found |= c.to.n > 0;
    if (c.to.n)
        await(&c, block, block->n);
    return found;
}

// Set *(bool *)context at a loop with a ring.
static void see_marked(struct ir_stmt *s, void *context)
{
    *(bool *)context |= ir_ring_of(s) != NULL;
}

// Take the mark of a copy that nothing reads: nothing would wait for it.
static void unmark_unread(struct ir_stmt *s, void *context)
{
    struct pass *p = context;
    if (s->kind != STMT_stage || !copies_marked(&s->u.stage))
        return;
    const struct ir_block *body = &s->u.stage.body;
    const struct ir_stmt *store = body->n ? body->at[body->n - 1] : NULL;
    if (store && store->kind == STMT_store &&
        !ir_block_reads(&p->kernel->body, store->u.store.buffer))
        copies_unmark(&s->u.stage);
}

enum pass_result pass_pipelines(struct pass *p)
{
    bool changed = false;
    ir_each_stmt(&p->kernel->body, unmark_unread, p);
    ir_each_stmt(&p->kernel->body, see_marked, &changed);
    if (!rewrite_block(p, &p->kernel->body))
        return PASS_FAILED;
    changed |= start_others(p, &p->kernel->body);
    return changed ? PASS_CHANGED : PASS_SAME;
}
