// Checks the outcome of a schedule as a whole.
//
//   for i @block.x { stage C.init { C[i] = 0 }         every thread stores
//                    for k { for j @thread.x { ... } } }   to C[i]
//
// A nest is one grid.  A statement outside of the loops bound to an axis runs
// on every block or thread of that axis; if it stores, all of them do, at
// any time.  Arrays that the kernel allocates may be filled by all threads of
// a block: one of them will store, and the others wait (lower/single_writer.c,
// barrier_insertion.c).  What directives moved into a loop after it was bound must not
// make its iterations conflict.

#include "passes/schedule/verify.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/tma_copy.h"
#include "passes/schedule/advise.h"
#include "passes/schedule/depend/depend.h"
#include "passes/schedule/rings.h"

// The axes of a nest.
struct axes {
    bool has[AXIS_COUNT]; // some loop is bound to it, with several iterations
};

// Return the axes of the loops of a nest.
static struct axes axes_of(const struct ir_stmt *nest)
{
    struct axes axes = {0};
    ir_foreach_stmt_from(s, nest)
        if (s->kind == STMT_for && !ir_is_int_const(s->u.loop.to, 1))
            axes.has[s->u.loop.axis] = true;
    return axes;
}

// Return whether a statement stores to memory that the blocks or threads on an
// axis share, and that they do not fill together. Of the blocks of a cluster, the
// first one will store.
static bool is_shared_store(const struct ir_stmt *s, enum axis axis)
{
    return s->kind == STMT_store && !axis_is_cluster(axis) &&
           s->u.store.buffer->space == SPACE_global &&
           (axis_kind(axis) == AXIS_BLOCK ||
            s->u.store.buffer->role != ROLE_alloc);
}

// Return whether a stage or a store is or has such a store.
static bool stores(struct ir_stmt *s, enum axis axis)
{
    if (s->kind != STMT_stage)
        return is_shared_store(s, axis);
    ir_foreach_stmt_from(t, s)
        if (is_shared_store(t, axis))
            return true;
    return false;
}

// Report a store that runs on all of an axis.
static bool refuse(struct pass *p, const struct sched_item *schedule,
                   struct ir_stmt *s, enum axis axis)
{
    struct sched_call c = {.pass = p, .span = schedule->name.span};
    sched_refuse(&c, s, "not inside a loop of that axis", D_thread_repeats,
                 sched_name_of(s), axis_name(axis));
    return diag_help(p->diags, "bind a loop around `%s` to %s, too",
                     sched_name_of(s), axis_name(axis));
}

// Return whether a statement runs on an axis as the fragments that it uses are
// spread over it: each thread does its part.
static bool is_spread(struct ir_stmt *s, enum axis axis)
{
    if (axis != AXIS_lane && axis != AXIS_warp)
        return false;
    ir_foreach_expr_from(x, s)
        if (x->op == OP_load && x->u.buffer->space == SPACE_fragment)
            return true;
    return false;
}

// Return whether a statement runs in one thread whatever is around it.
static bool is_single(const struct ir_stmt *s, enum axis axis)
{
    return axis_kind(axis) == AXIS_THREAD && s->kind == STMT_stage &&
           tma_copy_marked(&s->u.stage);
}

// Check the stores of a block; `axes` are those not yet around.
static bool check_block(struct pass *p, const struct sched_item *schedule,
                        struct ir_block *block, struct axes axes)
{
    vec_foreach_value(s, block) {
        struct axes inner = axes;
        if (s->kind == STMT_for)
            inner.has[s->u.loop.axis] = false;
        for (int axis = 0; axis < AXIS_COUNT; axis++) {
            enum axis_kind kind = axis_kind((enum axis)axis);
            if (axes.has[axis] && stores(s, (enum axis)axis) &&
                (kind == AXIS_BLOCK || kind == AXIS_THREAD) &&
                !is_spread(s, (enum axis)axis) &&
                !is_single(s, (enum axis)axis))
                return refuse(p, schedule, s, (enum axis)axis);
        }
        if (s->kind == STMT_stage)
            continue;
        ir_foreach_block(below, s)
            if (!check_block(p, schedule, below, inner))
                return false;
    }
    return true;
}

// Check that no blocks in different loops of a nest access the same element.
static bool check_blocks(struct pass *p, const struct sched_item *schedule,
                         struct ir_stmt *nest)
{
    struct depend_conflict m;
    struct ir_stmt *loops[2];
    struct sched_call c = {.pass = p, .span = schedule->name.span};
    if (!depend_between(p, nest, &m, loops))
        return true;
    diag_error(p->diags, c.span, D_blocks_conflict, loops[0]->u.loop.var->name,
               loops[1]->u.loop.var->name, axis_name(loops[0]->u.loop.axis));
    sched_note_conflict(&c, &m);
    sched_blame(&c, loops, 2, "on blocks");
    diag_help(p->diags, "blocks of one launch do not wait for each other: run "
                        "the loops around on the host, or on one block");
    return false;
}

// Return the directive that made an access of a conflict, or the schedule.
static struct span maker_of(const struct depend_conflict *m,
                            const struct sched_item *schedule)
{
    return m->first.stmt->by.source    ? m->first.stmt->by
           : m->second.stmt->by.source ? m->second.stmt->by
                                       : schedule->name.span;
}

// Check that iterations that were independent when they were bound still are,
// and that directives did not make those conflict that the kernel binds.
static bool check_bound(struct pass *p, const struct sched_item *schedule,
                        struct ir_block *nest)
{
    ir_foreach_stmt(loop, nest) {
        if (loop->kind != STMT_for || axis_kind(loop->u.loop.axis) < AXIS_BLOCK)
            continue;
        struct sched_call c = {.pass = p, .span = loop->by};
        bool is_given = !loop->by.source;
        struct depend_conflict m;
        if (is_given && !depend_carried(p, loop, loop->u.loop.axis, false, &m))
            continue;
        if (is_given)
            c.span = maker_of(&m, schedule);
        if (sched_check_parallel(&c, loop, loop->u.loop.axis))
            continue;
        diag_help(p->diags, "%s",
                  is_given ? "the kernel binds the loop: put the array where "
                             "each iteration has its own"
                           : "a directive behind this one changed what the "
                             "iterations share: bind the loop after that");
        return false;
    }
    return true;
}

bool schedule_verify(struct pass *p, const struct sched_item *schedule,
                     bool has_checked_rings)
{
    struct ir_block *body = &p->kernel->body;
    struct sched_call c = {.pass = p, .span = schedule->name.span};
    if (!has_checked_rings && !schedule_verify_rings(&c))
        return false;
    for (size_t i = 0; i < body->n; i++) {
        struct axes axes = axes_of(body->at[i]);
        if (!check_block(p, schedule, ir_alone(body->at[i]), axes) ||
            !check_blocks(p, schedule, body->at[i]) ||
            !check_bound(p, schedule, ir_alone(body->at[i])))
            return false;
        schedule_advise(p, schedule, body->at[i]);
    }
    return true;
}
