// noalias: marks at a launch the arrays whose elements are each accessed by one
// thread of a block only: barriers do not change what that thread sees of them.
//
//   launch f grid(n, 1, 1) block(16, 1, 1) {
//     for k in 0..4 {
//       barrier
//       C[block.x * 16 + thread.x] = C[block.x * 16 + thread.x] + S[k]
//     }
//   }                              => launch f ... block(16, 1, 1) noalias(C) {
//
// Any two accesses to such an array, one of which writes, are by the same
// thread of a block, or access different elements, in all iterations of the
// loops around (thread_conflicts.h). If the threads of a launch never
// synchronize, no proof is needed. Blocks do not wait for each other; so a
// launch with atomics in global memory, a fence, or TMA copies, by which they
// could, gets no marks. Only arrays that are both read and written are
// considered: in others there is nothing to keep in a register across a
// barrier.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/lower/accesses.h"
#include "passes/pass.h"

enum { ACCESSES_MOST = 32 }; // to an array, all pairs of which are asked about

// Return whether a statement may order accesses otherwise than where threads of
// a block meet.
static bool orders_otherwise(const struct ir_stmt *s)
{
    if (s->kind != STMT_sync)
        return ir_is_tma_copy(s) ||
               (s->kind == STMT_barrier && s->u.of_cluster);
    switch (s->u.sync.kind) {
    case SYNC_warp:
    case SYNC_warpgroup:
    case SYNC_async_commit:
    case SYNC_async_wait:
    case SYNC_return:
    case SYNC_break:
    case SYNC_continue: return false;
    default: return true;
    }
}

// Return whether accesses of a launch may be ordered otherwise: also by
// mbarriers, atomics in global memory, and instructions on matrices there.
static bool has_other_order(const struct ir_launch *launch)
{
    if (ir_cluster_blocks(launch) > 1)
        return true;
    ir_foreach_stmt(s, &launch->body)
        if (orders_otherwise(s))
            return true;
    ir_foreach_expr_in(x, &launch->body) {
        unsigned flags = ir_op_info(x->op)->flags;
        if (flags & OP_SYNCHRONISES ||
            (flags & OP_WRITES && x->u.buffer->space == SPACE_global))
            return true;
    }
    return false;
}

// The search for the accesses of a launch to an array.
struct search {
    struct arena *arena;
    const struct ir_buffer *array;
    struct map values; // what lets stand for
    const struct conflict_scope *scope;
    struct accesses accesses;
    bool is_async; // one goes on behind its statement
};

// Add a scope; returns it to be filled in.
static struct conflict_scope *add_scope(struct search *s)
{
    struct conflict_scope *scope = arena_new(s->arena, struct conflict_scope);
    scope->up = s->scope;
    s->scope = scope;
    return scope;
}

// Return an expression without the names of lets.
static struct ir_expr *value_of(struct search *s, struct ir_expr *x)
{
    return ir_substitute(s->arena, x, &s->values, NULL);
}

// Enter a loop; of ends that may change nothing is known.
static void enter_loop(struct search *s, const struct ir_for *loop)
{
    struct conflict_scope *scope = add_scope(s);
    struct ir_expr *from = value_of(s, loop->from);
    struct ir_expr *to = value_of(s, loop->to);
    scope->var = loop->var;
    scope->step = 1;
    if (!ir_is_stable(from) || !ir_is_stable(to))
        return;
    scope->from = from;
    scope->to = to;
    ir_int_value(loop->step, &scope->step);
}

// Enter the k-th block inside a loop or a branch.
static void enter(struct search *s, const struct ir_stmt *stmt, uint32_t k)
{
    if (stmt->kind == STMT_for)
        enter_loop(s, &stmt->u.loop);
    if (stmt->kind != STMT_if)
        return;
    struct ir_expr *condition = value_of(s, stmt->u.branch.cond);
    struct conflict_scope *scope = add_scope(s);
    scope->condition = ir_is_stable(condition) ? condition : NULL;
    scope->holds = k == 0;
}

// Know a let behind it: by its value, or as one of each thread.
static void enter_let(struct search *s, const struct ir_stmt *stmt)
{
    struct ir_expr *value = value_of(s, stmt->u.let.value);
    if (ir_is_stable(value))
        map_set(&s->values, stmt->u.let.var, value);
    else
        add_scope(s)->var = stmt->u.let.var;
}

// Note the accesses to the array that a statement makes itself.
static void note(struct search *s, struct ir_stmt *stmt)
{
    struct accesses all =
        accesses_of(s->arena, stmt, &s->values, s->scope, NULL);
    for (size_t i = 0; i < all.n; i++) {
        struct accesses one = {.at = &all.at[i], .n = 1};
        if (all.at[i]->buffer != s->array)
            continue;
        s->is_async |= ir_is_thread_copy(stmt);
        accesses_add(s->arena, &s->accesses, &one);
    }
}

// Find the accesses of a block, until there are too many.
static void walk(struct search *s, struct ir_block *block)
{
    const struct conflict_scope *outside = s->scope;
    for (size_t i = 0; i < block->n && s->accesses.n <= ACCESSES_MOST; i++) {
        struct ir_stmt *stmt = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        const struct conflict_scope *here = s->scope;
        uint32_t n = ir_stmt_blocks(stmt, inside);
        note(s, stmt);
        for (uint32_t k = 0; k < n; k++) {
            enter(s, stmt, k);
            walk(s, inside[k]);
            s->scope = here;
        }
        if (stmt->kind == STMT_let)
            enter_let(s, stmt);
    }
    s->scope = outside;
}

// Return whether different threads may access the same element in two of some
// accesses, one of which writes, whenever each of them happens.
static bool may_conflict(struct arena *a, const struct ir_launch *launch,
                         const struct accesses *all)
{
    struct conflict_place anywhere = {NULL, NULL, false, 0, 0};
    struct thread_conflicts *m = conflict_start(a, launch);
    bool found = false;
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k <= i && !found; k++)
            found = (all->at[i]->writes || all->at[k]->writes) &&
                    conflict_test(m, all->at[i], all->at[k], &anywhere);
    conflict_end(m);
    return found;
}

// Return whether all accesses to each element of an array are by one thread of
// a block.  By strides of its own, elements may share a place.
static bool is_proved(struct pass *p, struct ir_launch *launch,
                      const struct ir_buffer *b)
{
    struct search s = {
        .arena = p->scratch, .array = b, .values = {.arena = p->scratch}};
    if (b->strides || b->is_ordered)
        return false;
    walk(&s, &launch->body);
    return !s.is_async && s.accesses.n <= ACCESSES_MOST &&
           !may_conflict(p->scratch, launch, &s.accesses);
}

// Let a launch own an array, if it does, and if that is of use.
static void consider(struct pass *p, struct ir_launch *launch, bool meet,
                     struct ir_buffer *b)
{
    if (b->space == SPACE_global && ir_block_stores(&launch->body, b) &&
        ir_block_reads(&launch->body, b) && (!meet || is_proved(p, launch, b)))
        vec_push(p->arena, &launch->noalias, b);
}

// Find the arrays that a launch owns, whatever it says so far; returns whether
// there are or were any.
static bool find_noalias(struct pass *p, struct ir_launch *launch)
{
    const struct ir_kernel *kernel = p->kernel;
    bool said = launch->noalias.n > 0;
    launch->noalias.n = 0;
    if (has_other_order(launch))
        return said;
    bool meet = ir_has_meeting(&launch->body);
    for (size_t i = 0; i < kernel->params.n; i++)
        if (kernel->params.at[i].buffer)
            consider(p, launch, meet, kernel->params.at[i].buffer);
    for (size_t i = 0; i < kernel->body.n; i++)
        if (kernel->body.at[i]->kind == STMT_alloc)
            consider(p, launch, meet, kernel->body.at[i]->u.buffer);
    return said || launch->noalias.n > 0;
}

enum pass_result pass_noalias(struct pass *p)
{
    bool found = false;
    vec_foreach_value(s, &p->kernel->body)
        if (s->kind == STMT_launch)
            found |= find_noalias(p, &s->u.launch);
    return found ? PASS_CHANGED : PASS_SAME;
}
