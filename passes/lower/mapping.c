// The loops of a launch over blocks and threads: which positions they stand for.

#include "passes/lower/mapping.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/gpu.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

// Return the place of a loop's end, or of the loop where passes made the end.
static struct span end_of(const struct ir_for *loop)
{
    return loop->to->span.source ? loop->to->span : loop->var->span;
}

// Return the extent of a loop bound to threads as a number: an upper bound if
// it varies; reports E0703 and returns NULL if there is none.
static struct ir_expr *thread_extent(struct mapping *m, struct ir_stmt *s,
                                     struct ir_expr *extent)
{
    struct ir_for *loop = &s->u.loop;
    int64_t most = facts_range(&m->facts, extent).hi;
    if (most <= axis_most(loop->axis) || ir_is_const(extent))
        return ir_int(m->p->arena, most > 1 ? most : 1);
    diag_error(m->p->diags, end_of(loop), D_thread_extent, loop->var->name,
               axis_name(loop->axis));
    m->failed = true;
    return NULL;
}

// Return the extent of a loop bound to blocks; reports E0704 and returns NULL
// if it is not a matter of parameters.
static struct ir_expr *block_extent(struct mapping *m, struct ir_stmt *s,
                                    struct ir_expr *extent)
{
    struct ir_for *loop = &s->u.loop;
    const struct ir_var *local = NULL;
    ir_foreach_expr(x, extent)
        if (x->op == OP_var && x->u.var->kind != VAR_param)
            local = x->u.var;
    if (!local && ir_is_pure(extent, true))
        return extent;
    diag_error(m->p->diags, end_of(loop), D_grid_extent, loop->var->name,
               axis_name(loop->axis), local ? local->name : "memory");
    m->failed = true;
    return NULL;
}

// Return the extent of a loop over the blocks of a cluster, which must be the
// same number for all of a launch; NULL after reporting E0846 or E0849.
static struct ir_expr *cluster_extent(struct mapping *m, struct ir_stmt *s,
                                      struct ir_expr *extent)
{
    struct ir_for *loop = &s->u.loop;
    struct ir_expr *old = m->extent[loop->axis];
    if (!ir_is_const(extent))
        diag_error(m->p->diags, end_of(loop), D_cluster_extent,
                   loop->var->name);
    else if (old && !ir_expr_equal(old, extent))
        diag_error(m->p->diags, s->span, D_cluster_differs, loop->var->name,
                   axis_name(loop->axis), m->name[loop->axis]);
    else
        return extent;
    m->failed = true;
    return NULL;
}

// Return the extent of a bound loop for the launch; NULL after errors.
static struct ir_expr *launch_extent(struct mapping *m, struct ir_stmt *s,
                                     struct ir_expr *extent)
{
    enum axis axis = s->u.loop.axis;
    return axis_is_cluster(axis)            ? cluster_extent(m, s, extent)
           : axis_kind(axis) == AXIS_THREAD ? thread_extent(m, s, extent)
                                            : block_extent(m, s, extent);
}

// Return whether a number of iterations is proved to be at most another.
static bool is_at_most(struct mapping *m, struct ir_expr *x, struct ir_expr *y)
{
    struct arena *a = m->p->scratch;
    struct affine least = affine_of(a, x), most = affine_of(a, y);
    struct affine room = affine_add(a, &most, -1, &least);
    return !room.failed && facts_nonnegative(&m->facts, &room);
}

// Return what is known of a loop with others inside; of each axis, the last one
// stays known.
static const struct nested *inside(struct mapping *m, struct ir_stmt *outer)
{
    struct nested *n = &m->nested[outer->u.loop.axis];
    if (n->outer != outer)
        *n = nested_start(m->p->scratch, outer);
    return n;
}

// Check that a loop may share the axis of the loop around it; reports E0705
// or E0731.
static bool check_nested(struct mapping *m, struct ir_stmt *s,
                         struct ir_expr *extent)
{
    const struct ir_for *loop = &s->u.loop;
    struct ir_stmt *outer = m->around[loop->axis];
    struct nested_fault f = {"blocks do not share their iterations", s};
    if (axis_kind(loop->axis) == AXIS_THREAD)
        f = nested_check(inside(m, outer), s);
    if (f.why) {
        diag_error(m->p->diags, s->span, D_axis_nested, loop->var->name,
                   axis_name(loop->axis));
        diag_note(m->p->diags, f.stmt->span, "%s", f.why);
    } else if (!is_at_most(m, extent, map_get(&m->loop_extents, outer))) {
        diag_error(m->p->diags, end_of(loop), D_axis_nested_extent,
                   loop->var->name, axis_name(loop->axis),
                   outer->u.loop.var->name);
    } else {
        return true;
    }
    diag_note(m->p->diags, outer->span, "the loop around, `%s`, is bound to it",
              outer->u.loop.var->name);
    return false;
}

// Return an operand of a quotient, at least so large whatever holds.
static struct ir_expr *at_least(const struct mapping *m, struct ir_expr *x,
                                int64_t least)
{
    struct affine n = affine_of(m->p->scratch, x);
    affine_offset(&n, -least);
    return facts_nonnegative(&m->top, &n)
               ? x
               : ir_binary(m->p->arena, OP_max, x,
                           ir_const_int(m->p->arena, x->type, least));
}

// Let a quotient of the grid have a meaning where the loops around do not run,
// under whose facts it was simplified.
static struct ir_expr *keep_defined(struct arena *a, struct ir_expr *x,
                                    void *context)
{
    const struct mapping *m = context;
    if (x->op != OP_ceildiv && x->op != OP_div && x->op != OP_mod)
        return x;
    struct ir_expr *of = at_least(m, x->args[0], 0);
    struct ir_expr *by = at_least(m, x->args[1], 1);
    return of == x->args[0] && by == x->args[1] ? x
                                                : ir_binary(a, x->op, of, by);
}

// Let the launch be long enough for a bound loop.
static void measure_loop(struct mapping *m, struct ir_stmt *s)
{
    struct ir_for *loop = &s->u.loop;
    struct arena *a = m->p->arena;
    struct ir_expr *extent = fold_expr(a, &m->facts, ir_for_extent(a, loop));
    if (axis_kind(loop->axis) == AXIS_BLOCK)
        extent = ir_rewrite(a, extent, keep_defined, m);
    map_set(&m->loop_extents, s, extent);
    if (m->around[loop->axis] && !check_nested(m, s, extent)) {
        m->failed = true;
        return;
    }
    if (loop->axis == AXIS_warp && !m->around[AXIS_warpgroup])
        m->lone_warp = s;
    extent = launch_extent(m, s, extent);
    struct ir_expr *old = m->extent[loop->axis];
    if (!extent || (old && ir_expr_equal(old, extent)))
        return;
    if (old)
        extent = fold_expr(a, &m->facts, ir_binary(a, OP_max, old, extent));
    m->extent[loop->axis] = extent;
    m->name[loop->axis] = loop->var->name;
}

// Check that no loop over threads around an array in shared memory would have
// one of its own for each of its iterations; reports E0860.
static void check_shared(struct mapping *m, const struct ir_stmt *alloc)
{
    const struct ir_buffer *b = alloc->u.buffer;
    for (int i = 0; i < AXIS_COUNT && b->space == SPACE_shared; i++) {
        const struct ir_stmt *loop = m->around[i];
        if (axis_kind((enum axis)i) != AXIS_THREAD || !loop ||
            ir_is_int_const(map_get(&m->loop_extents, loop), 1))
            continue;
        diag_error(m->p->diags, alloc->span, D_shared_in_threads, b->name,
                   loop->u.loop.var->name, axis_name((enum axis)i));
        diag_note(m->p->diags, loop->span, "in front of `%s` it is one for all",
                  loop->u.loop.var->name);
        m->failed = true;
        return;
    }
}

// Measure the bound loops of a block and below.
static void measure(struct mapping *m, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&m->facts);
    for (size_t i = 0; i < block->n && !m->failed; i++) {
        struct ir_stmt *s = block->at[i];
        bool bound = s->kind == STMT_for && is_bound(&s->u.loop);
        struct ir_stmt *around = bound ? m->around[s->u.loop.axis] : NULL;
        if (s->kind == STMT_alloc)
            check_shared(m, s);
        if (bound)
            measure_loop(m, s);
        if (bound)
            m->around[s->u.loop.axis] = s;
        struct facts_mark outside = facts_mark(&m->facts);
        facts_enter(&m->facts, s);
        ir_foreach_block(inner, s)
            measure(m, inner);
        if (s->kind != STMT_let)
            facts_leave(&m->facts, outside);
        if (bound)
            m->around[s->u.loop.axis] = around;
    }
    facts_leave(&m->facts, here);
}

// Let warpgroups have 4 warps each, and those 32 lanes; reports E0732 if other
// loops count the threads of the block, and E0733 if there are warpgroups and a
// loop over warps stands outside of them.
static void settle_warps(struct mapping *m)
{
    enum axis warps = m->extent[AXIS_warpgroup] ? AXIS_warpgroup
                      : m->extent[AXIS_warp]    ? AXIS_warp
                                                : AXIS_lane;
    if (!m->extent[warps])
        return;
    if (warps == AXIS_warpgroup && m->lone_warp) {
        diag_error(m->p->diags, m->lone_warp->span, D_warp_outside,
                   m->lone_warp->u.loop.var->name, m->name[warps]);
        m->failed = true;
    }
    for (int i = AXIS_thread_x; i <= AXIS_thread_z; i++) {
        if (!m->extent[i] || ir_is_int_const(m->extent[i], 1))
            continue;
        diag_error(m->p->diags, m->extent[i]->span, D_axis_mixed, m->name[i],
                   axis_name((enum axis)i), m->name[warps], axis_name(warps));
        m->failed = true;
    }
    if (warps != AXIS_lane)
        m->extent[AXIS_lane] = ir_int(m->p->arena, WARP_LANES);
    int64_t inside;
    if (warps == AXIS_warpgroup &&
        !(m->extent[AXIS_warp] && ir_int_value(m->extent[AXIS_warp], &inside) &&
          inside > GROUP_WARPS))
        m->extent[AXIS_warp] = ir_int(m->p->arena, GROUP_WARPS);
}

// Return the position of the block in its cluster, or of the cluster in the
// grid where there are some on that axis.
static struct ir_expr *block_position(const struct mapping *m, enum axis axis)
{
    struct arena *a = m->p->arena;
    int d = axis_dimension(axis);
    struct ir_expr *blocks = m->extent[AXIS_cluster_x + d];
    struct ir_expr *x = ir_index_value(a, (enum axis)(AXIS_block_x + d));
    if (!blocks)
        return x;
    return ir_binary(a, axis_is_cluster(axis) ? OP_mod : OP_div, x, blocks);
}

bool mapping_each(struct pass *p, void (*step)(struct mapping *m))
{
    vec_foreach_value(s, &p->kernel->body) {
        struct mapping m;
        if (s->kind != STMT_launch)
            continue;
        if (mapping_start(&m, p, &s->u.launch))
            step(&m);
        if (m.failed)
            return false;
    }
    return true;
}

struct ir_expr *mapping_position(const struct mapping *m, enum axis axis)
{
    struct arena *a = m->p->arena;
    if (m->extent[axis] && ir_is_int_const(m->extent[axis], 1))
        return ir_int(a, 0);
    if (axis_kind(axis) == AXIS_BLOCK)
        return block_position(m, axis);
    if (axis != AXIS_warpgroup && axis != AXIS_warp && axis != AXIS_lane)
        return ir_index_value(a, axis);
    struct ir_expr *x = ir_index_value(a, AXIS_thread_x), *groups;
    groups = m->extent[AXIS_warpgroup];
    if (!m->extent[AXIS_warp])
        return x;
    if (axis == AXIS_warpgroup)
        return ir_binary(a, OP_div, x, ir_int(a, GROUP_THREADS));
    x = ir_binary(a, axis == AXIS_warp ? OP_div : OP_mod, x,
                  ir_int(a, WARP_LANES));
    return axis == AXIS_warp && groups && !ir_is_int_const(groups, 1)
               ? ir_binary(a, OP_mod, x, ir_int(a, GROUP_WARPS))
               : x;
}

bool mapping_start(struct mapping *m, struct pass *p, struct ir_launch *launch)
{
    *m = (struct mapping){
        .p = p, .launch = launch, .loop_extents = {.arena = p->scratch}};
    facts_start(&m->facts, p->scratch, p->kernel);
    facts_start(&m->top, p->scratch, p->kernel);
    measure(m, &launch->body);
    if (!m->failed)
        settle_warps(m);
    return !m->failed;
}

axis_set mapping_threads(const struct mapping *m)
{
    axis_set axes = 0;
    for (int i = 0; i < AXIS_COUNT; i++)
        if (axis_kind((enum axis)i) == AXIS_THREAD && m->extent[i] &&
            !ir_is_int_const(m->extent[i], 1))
            axes |= 1u << i;
    return axes;
}

void mapping_diverge(struct mapping *m)
{
    axis_set axes = mapping_threads(m);
    if (axes & (1u << AXIS_warpgroup | 1u << AXIS_warp | 1u << AXIS_lane))
        axes |= 1u << AXIS_thread_x;
    m->divergence = divergence_start(m->p->scratch, axes);
    divergence_find(&m->divergence, &m->launch->body);
}

bool mapping_is_single(const struct ir_stmt *s)
{
    if (s->kind != STMT_if)
        return false;
    ir_foreach_expr(x, s->u.branch.cond)
        if (x->op == OP_index)
            return true;
    return false;
}
