// single_writer: leaves writes that several threads would repeat to one of them.
//
//   for ty in 0..8 @thread.y {
//     for tx in 0..32 @thread.x { S[tx] = A[tx] }     =>
//   ...                         { if thread.y == 0 { S[tx] = A[tx] } }
//
// If no loop is bound to a thread axis, every position of the axis executes the
// statement. Position 0 alone writes global memory. It alone also writes shared
// memory, if neither the element, nor the value, nor the condition of the write
// depends on a loop around; but if the program has barriers of its own, that
// applies only to memory ordered by mbarriers, which all threads arrive at. If
// only the condition depends on a loop, several threads may write the same
// value: such copies are not asynchronous. Every thread that goes on waits for
// mbarriers.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/lower/mapping.h"

// A write to memory.
struct write {
    struct ir_buffer *buffer;
    struct ir_expr *atomic; // NULL for a store
    bool by_each;           // thread of a group: it is part of an instruction
                            // on matrices, or counts them
    bool waits;             // changes nothing
    axis_set axes;          // on which it depends
};

// Return the last atomic among the expressions directly inside a statement, or
// NULL.
static struct ir_expr *atomic_of(struct ir_stmt *s)
{
    struct ir_expr *atomic = NULL;
    ir_foreach_expr_of(x, s)
        if (ir_op_info(x->op)->flags & OP_WRITES)
            atomic = x;
    return atomic;
}

// Return what the operands of an expression depend on.
static axis_set operand_axes(const struct mapping *m, const struct ir_expr *x)
{
    axis_set axes = 0;
    for (uint32_t i = 0; i < x->n; i++)
        axes |= divergence_of(&m->divergence, x->args[i]);
    return axes;
}

// Return what a statement writes.
static struct write find_write(const struct mapping *m, struct ir_stmt *s,
                               axis_set control)
{
    struct write w = {.axes = control, .atomic = atomic_of(s)};
    if (w.atomic) {
        w.buffer = w.atomic->u.buffer;
        w.axes |= operand_axes(m, w.atomic);
        w.waits = w.atomic->op == OP_mbarrier_wait;
        w.by_each = s->kind == STMT_matrix ||
                    (ir_op_info(w.atomic->op)->flags & OP_SYNCHRONISES);
    }
    if (s->kind == STMT_copy) {
        w.buffer = ir_copy_target(&s->u.copy);
        ir_foreach_place(place, s)
            w.axes |= divergence_of(&m->divergence, *place);
    }
    if (s->kind != STMT_store)
        return w;
    w.buffer = s->u.store.buffer;
    w.axes |= divergence_of(&m->divergence, s->u.store.value);
    for (uint32_t i = 0; i < s->u.store.n; i++)
        w.axes |= divergence_of(&m->divergence, s->u.store.index[i]);
    return w;
}

// Return whether all positions of an axis would repeat a write; a loop of one
// iteration has one position.  Each iteration has atomics of its own, but where
// threads do the work of one together.
static bool repeats(const struct mapping *m, const struct write *w,
                    enum axis axis)
{
    const struct ir_buffer *b = w->buffer;
    bool is_block = axis_kind(axis) == AXIS_BLOCK;
    if (!m->extent[axis] || ir_is_int_const(m->extent[axis], 1) || w->waits)
        return false;
    if (!m->around[axis])
        return !is_block || b->space != SPACE_shared ||
               (b->of_cluster && axis_is_cluster(axis));
    if (ir_is_int_const(map_get(&m->loop_extents, m->around[axis]), 1))
        return false;
    bool is_one = ir_attr_get(m->around[axis], MARK_collective);
    bool is_common = b->space == SPACE_shared || b->role == ROLE_alloc;
    bool is_placed = !m->launch->derives_barriers && !b->is_ordered;
    bool is_asked =
        w->atomic ? is_one && !w->by_each : (is_common || is_one) && !is_placed;
    return !is_block && is_asked && !(w->axes & 1u << axis);
}

// Return the condition that the thread is at position 0 of every axis that
// would repeat a write.
static struct ir_expr *is_first(const struct mapping *m, const struct write *w)
{
    struct arena *a = m->p->arena;
    struct ir_expr *r = ir_bool(a, true);
    for (int i = 0; i < AXIS_COUNT; i++) {
        enum axis axis = (enum axis)i;
        if (!repeats(m, w, axis))
            continue;
        struct ir_expr *zero =
            ir_binary(a, OP_eq, mapping_position(m, axis), ir_int(a, 0));
        r = ir_binary(a, OP_and, r, zero);
    }
    return r;
}

// Put a statement under a condition: into the branch in front if that has the
// same one.  Returns how many statements stand there instead.
static size_t guard(struct mapping *m, struct ir_block *block, size_t at,
                    struct ir_expr *condition, const struct ir_stmt *last)
{
    struct arena *a = m->p->arena;
    struct ir_stmt *s = block->at[at];
    if (last && at && block->at[at - 1] == last &&
        ir_expr_equal(last->u.branch.cond, condition)) {
        ir_append(a, &block->at[at - 1]->u.branch.then, s);
        ir_splice(a, block, at, &(struct ir_block){0});
        return 0;
    }
    struct ir_stmt *branch = ir_stmt_if(a, condition);
    ir_stmt_from(branch, s);
    ir_append(a, &branch->u.branch.then, s);
    block->at[at] = branch;
    return 1;
}

// Let a copy be an ordinary one if several threads may make it; but not into a
// ring that mbarriers order: only the threads of one warpgroup fill that.
static void copy_at_once(const struct mapping *m, struct ir_stmt *s)
{
    if (!ir_is_thread_copy(s) || s->u.copy.near.buffer->is_ordered)
        return;
    struct write w = find_write(m, s, 0);
    if (!space_is_own(w.buffer->space) && !ir_is_true(is_first(m, &w)))
        *s = *ir_at_once(m->p->arena, s);
}

// Leave a write to one thread if several would repeat it; returns how many
// statements stand there then.
static size_t single_write(struct mapping *m, struct ir_block *block, size_t at,
                           axis_set control, const struct ir_stmt *last)
{
    struct ir_stmt *s = block->at[at];
    struct write w = find_write(m, s, control);
    if (!w.buffer || space_is_own(w.buffer->space))
        return 1;
    struct ir_expr *first = is_first(m, &w);
    if (ir_is_true(first)) {
        copy_at_once(m, s);
        return 1;
    }
    if (s->kind == STMT_store || s->kind == STMT_eval || s->kind == STMT_copy)
        return guard(m, block, at, first, last);
    diag_error(m->p->diags, w.atomic->span, D_redundant_atomic,
               m->launch->name);
    m->failed = true;
    return 1;
}

// Put a loop that holds nothing but a branch made here into that branch.
static void guard_loop(struct ir_block *block, size_t at)
{
    struct ir_stmt *loop = block->at[at];
    if (loop->kind != STMT_for || is_bound(&loop->u.loop) ||
        loop->u.loop.body.n != 1 || !mapping_is_single(loop->u.loop.body.at[0]))
        return;
    struct ir_stmt *branch = loop->u.loop.body.at[0];
    struct ir_block inner = loop->u.loop.body;
    loop->u.loop.body = branch->u.branch.then;
    inner.at[0] = loop;
    branch->u.branch.then = inner;
    block->at[at] = branch;
}

static void single_block(struct mapping *m, struct ir_block *block,
                         axis_set control);

// Go into a statement.
static void single_inside(struct mapping *m, struct ir_block *block, size_t at,
                          axis_set control)
{
    struct ir_stmt *s = block->at[at];
    struct ir_stmt *around = NULL;
    bool bound = s->kind == STMT_for && is_bound(&s->u.loop);
    if (bound) {
        around = m->around[s->u.loop.axis];
        m->around[s->u.loop.axis] = s;
    }
    ir_foreach_block(inner, s)
        single_block(m, inner,
                     control | divergence_of_control(&m->divergence, s));
    if (bound)
        m->around[s->u.loop.axis] = around;
    guard_loop(block, at);
}

// Leave the writes of a block and below to single threads.
static void single_block(struct mapping *m, struct ir_block *block,
                         axis_set control)
{
    const struct ir_stmt *last = NULL;
    for (size_t i = 0; i < block->n && !m->failed;) {
        struct ir_stmt *s = block->at[i];
        single_inside(m, block, i, control);
        size_t n = 1;
        if (block->at[i] == s)
            n = single_write(m, block, i, control, last);
        if (n && block->at[i] != s)
            last = block->at[i];
        i += n;
    }
}

// Leave the writes of a launch to single threads.
static void single_writer(struct mapping *m)
{
    mapping_diverge(m);
    single_block(m, &m->launch->body, 0);
}

enum pass_result pass_single_writer(struct pass *p)
{
    return mapping_each(p, single_writer) ? PASS_CHANGED : PASS_FAILED;
}
