// bind -- run the iterations of a loop on blocks or threads.
//
//   for i in 0..128 { ... }   =>   bind(i, thread.x)
//   for i in 0..128 @thread.x { ... }
//
// Requires:
//  1. the loop is serial                                 E0607
//  2. the loop counts from 0 in steps of 1               E0623
//  3. a loop around or inside has the axis already only
//     if both are bound to threads and the outer one's
//     may share the iterations of the inner one ...      E0617
//     ... which has no more iterations                   E0660
//  4. no grid loop is inside a thread loop               E0618
//  5. of threads: a constant extent                      E0619
//     of blocks: one that the sizes of the kernel decide E0622
//     of blocks of a cluster: a constant extent          E0846
//  6. the extent is within the axis's limit ...          E0620
//  7. ... and the block has at most 1024 threads         E0621
//     ... or the cluster 8 blocks                        E0847
//  8. the iterations are independent, or, for threads and the blocks of a
//     cluster, those of a reduction that can be combined in any order, or, for
//     threads and block.x, those of a scan               E0616
//  9. not thread.x ... in one nest with warp or lane     E0661
// 10. loops on warp inside of those on warpgroup ...     E0669
//     ... with at most 4 iterations there                E0620
//
// One thread plays the virtual threads of vthread.x ... all at once, statement
// by statement.  They have extents like threads.
// `vthread` alone is the first of these axes that is free.
//
// Blocks on cluster.x ... are neighbours in the grid and run together, beside
// loops on block.x ... that then count clusters. If all of them need the same
// TMA tile in a warp-specialized loop, each multicasts a part. They may share a
// reduction, as threads do.

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/gpu.h"
#include "passes/analysis/nested.h"

#include <string.h>

enum { THREADS_MOST = 1024 }; // of a block

// What is bound around and inside a loop.
struct bound {
    struct pass *pass;
    enum axis axis;                              // to be given to the loop
    struct VEC(struct ir_stmt *) around, inside; // have the axis already
    struct ir_stmt *thread;                      // around, bound to threads
    struct ir_stmt *block;                       // inside, bound to blocks
    struct ir_stmt *mixed;                    // counts threads in another way
    struct ir_stmt *group;                    // around, over warpgroups
    struct ir_stmt *warp;                     // around, over warps
    struct ir_stmt *inner_group, *inner_warp; // inside; that with the most
    int64_t extents[AXIS_COUNT]; // the most iterations on each axis
};

// Count the iterations of a bound loop.
static void count_iterations(struct bound *b, const struct ir_for *loop)
{
    int64_t n = 1;
    ir_int_value(loop->to, &n);
    if (axis_kind(loop->axis) >= AXIS_BLOCK && n > b->extents[loop->axis])
        b->extents[loop->axis] = n;
}

// Return whether an axis counts warps, groups of them, or their lanes.
static bool is_warps(enum axis axis)
{
    return axis == AXIS_warpgroup || axis == AXIS_warp || axis == AXIS_lane;
}

// Note a thread loop that counts threads in another way.
static void note_mixed(struct bound *b, struct ir_stmt *s)
{
    if (axis_kind(s->u.loop.axis) == AXIS_THREAD &&
        axis_kind(b->axis) == AXIS_THREAD &&
        is_warps(s->u.loop.axis) != is_warps(b->axis))
        b->mixed = s;
}

// Return the iterations of a thread loop.
static int64_t extent_of(const struct ir_stmt *s)
{
    int64_t n = 1;
    ir_int_value(s->u.loop.to, &n);
    return n;
}

// Note a loop inside.
static void note_inside(struct bound *b, struct ir_stmt *s)
{
    if (s->kind != STMT_for)
        return;
    count_iterations(b, &s->u.loop);
    note_mixed(b, s);
    if (s->u.loop.axis == AXIS_warpgroup)
        b->inner_group = s;
    if (s->u.loop.axis == AXIS_warp &&
        extent_of(s) >= (b->inner_warp ? extent_of(b->inner_warp) : 0))
        b->inner_warp = s;
    if (s->u.loop.axis == b->axis)
        vec_push(b->pass->scratch, &b->inside, s);
    if (axis_kind(s->u.loop.axis) == AXIS_BLOCK)
        b->block = s;
}

// Look at the loops around and inside.
static struct bound look_around(struct pass *p, struct ir_stmt *loop,
                                enum axis axis)
{
    struct bound b = {.pass = p, .axis = axis};
    struct ir_path path = sched_path(p, loop);
    ir_foreach_stmt(t, &loop->u.loop.body)
        note_inside(&b, t);
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        struct ir_stmt *s = path.stmts[i];
        if (s->kind != STMT_for)
            continue;
        count_iterations(&b, &s->u.loop);
        note_mixed(&b, s);
        if (s->u.loop.axis == AXIS_warpgroup)
            b.group = s;
        if (s->u.loop.axis == AXIS_warp)
            b.warp = s;
        if (s->u.loop.axis == axis)
            vec_push(p->scratch, &b.around, s);
        if (axis_kind(s->u.loop.axis) == AXIS_THREAD)
            b.thread = s;
    }
    return b;
}

// Check that the threads of a loop may share the iterations of one inside;
// `other` is the one of them that has the axis already.
static bool check_nested(const struct sched_call *c, const struct bound *b,
                         struct ir_stmt *outer, struct ir_stmt *inner,
                         struct ir_stmt *other)
{
    const char *axis = axis_name(b->axis);
    struct nested_fault f = {NULL, NULL};
    if (axis_kind(b->axis) == AXIS_THREAD) {
        struct nested around = nested_start(c->pass->scratch, outer);
        f = nested_check(&around, inner);
    }
    if (f.why || axis_kind(b->axis) != AXIS_THREAD) {
        sched_refuse_two(c, outer, inner, axis, D_bind_taken, axis,
                         other->u.loop.var->name);
        if (f.why)
            diag_help(c->pass->diags,
                      "the threads of `%s` cannot share the iterations of "
                      "`%s`: %s",
                      outer->u.loop.var->name, inner->u.loop.var->name, f.why);
        return false;
    }
    int64_t most, n;
    if (!ir_int_value(outer->u.loop.to, &most) ||
        !ir_int_value(inner->u.loop.to, &n) || n <= most)
        return true;
    const char *name = inner->u.loop.var->name;
    sched_refuse_two(c, outer, inner, axis, D_bind_nested_extent, name,
                     (long long)n, axis, outer->u.loop.var->name,
                     (long long)most);
    diag_help(c->pass->diags, "split it first: `i0, i1 = split(%s, _, %lld)`",
              name, (long long)most);
    return false;
}

// Check the loops that have the axis already.
static bool check_same(const struct sched_call *c, struct ir_stmt *loop,
                       const struct bound *b)
{
    vec_foreach_value(outer, &b->around)
        if (!check_nested(c, b, outer, loop, outer))
            return false;
    vec_foreach_value(inner, &b->inside)
        if (!check_nested(c, b, loop, inner, inner))
            return false;
    return true;
}

// Report that a loop over warps has more iterations than a warpgroup warps.
static bool refuse_warps(const struct sched_call *c, struct ir_stmt *loop)
{
    return sched_refuse(c, loop, "too large", D_bind_extent,
                        loop->u.loop.var->name, (long long)extent_of(loop),
                        "warp in a warpgroup", (long long)GROUP_WARPS);
}

// Check that warps are inside of warpgroups, and not too many.
static bool check_warps(const struct sched_call *c, struct ir_stmt *loop,
                        const struct bound *b)
{
    bool is_group = b->axis == AXIS_warpgroup, is_warp = b->axis == AXIS_warp;
    struct ir_stmt *outer = is_group ? b->warp : is_warp ? loop : NULL;
    struct ir_stmt *inner = is_group ? loop : b->inner_group;
    if (outer && inner) {
        return sched_refuse_two(c, outer, inner, "in the wrong order",
                                D_bind_warpgroup, inner->u.loop.var->name,
                                outer->u.loop.var->name);
    }
    if (is_group && b->inner_warp && extent_of(b->inner_warp) > GROUP_WARPS)
        return refuse_warps(c, b->inner_warp);
    if (is_warp && b->group && extent_of(loop) > GROUP_WARPS)
        return refuse_warps(c, loop);
    return true;
}

// Check what the loops around and inside forbid.
static bool check_around(const struct sched_call *c, struct ir_stmt *loop,
                         const struct bound *b)
{
    bool is_block = axis_kind(b->axis) == AXIS_BLOCK;
    struct ir_stmt *outer = is_block ? b->thread : loop;
    struct ir_stmt *inner = is_block ? loop : b->block;
    if (b->mixed)
        return sched_refuse_two(c, b->mixed, loop, "counts threads",
                                D_bind_mixed, loop->u.loop.var->name,
                                axis_name(b->axis), b->mixed->u.loop.var->name,
                                axis_name(b->mixed->u.loop.axis));
    if (!check_same(c, loop, b) || !check_warps(c, loop, b))
        return false;
    if (!outer || !inner || axis_kind(b->axis) == AXIS_VTHREAD)
        return true;
    sched_refuse_two(c, outer, inner, "in the wrong order",
                     D_block_inside_thread, inner->u.loop.var->name,
                     outer->u.loop.var->name);
    return diag_help(c->pass->diags, "reorder(%s, %s) before binding them",
                     inner->u.loop.var->name, outer->u.loop.var->name);
}

// Return whether a loop around, inside or to be bound has one of two axes.
static bool has_axis(const struct bound *b, enum axis x, enum axis y)
{
    return b->extents[x] || b->extents[y] || b->axis == x || b->axis == y;
}

// Return the threads of the block once a loop of `extent` is bound.
static int64_t all_threads(const struct bound *b, int64_t extent)
{
    int64_t all = 1;
    for (int i = 0; i < AXIS_COUNT; i++) {
        int64_t n = b->extents[i];
        if (axis_kind((enum axis)i) != AXIS_THREAD)
            continue;
        if (i == (int)b->axis && extent > n)
            n = extent;
        if (i == AXIS_lane && has_axis(b, AXIS_warp, AXIS_warpgroup))
            n = axis_most(AXIS_lane);
        if (i == AXIS_warp && has_axis(b, AXIS_warpgroup, AXIS_warpgroup))
            n = GROUP_WARPS;
        all *= n > 1 ? n : 1;
    }
    return all;
}

// Check that a grid's extent can be computed before the launch.
static bool check_grid(const struct sched_call *c, struct ir_stmt *loop)
{
    if (ir_is_of_params(loop->u.loop.to))
        return true;
    const char *name = loop->u.loop.var->name;
    sched_refuse(c, loop, "its extent varies", D_bind_grid, name);
    return diag_help(c->pass->diags,
                     "bind the loops on which its bounds depend; threads may "
                     "share it: `%s_0, %s_1 = split(%s, _, 128)`, "
                     "`bind(%s_1, thread.x)`",
                     name, name, name, name);
}

// Check that the blocks of a cluster are a number, and not too many together.
static bool check_cluster(const struct sched_call *c, struct ir_stmt *loop,
                          const struct bound *b)
{
    int64_t all;
    if (!ir_int_value(loop->u.loop.to, &all))
        return sched_refuse(c, loop, "not a constant extent", D_cluster_extent,
                            loop->u.loop.var->name);
    for (int i = AXIS_cluster_x; i <= (int)AXIS_cluster_z; i++)
        all *= b->extents[i] > 1 ? b->extents[i] : 1;
    if (all <= axis_most(b->axis))
        return true;
    return sched_refuse(c, loop, "one too many", D_cluster_blocks,
                        (long long)all);
}

// Say how to make a loop short enough for its axis.
static bool help_split(const struct sched_call *c, const struct ir_stmt *loop,
                       const struct bound *b, int64_t most)
{
    return diag_help(c->pass->diags,
                     "split it first: `i0, i1 = split(%s, _, %lld)`, then "
                     "`bind(i0, block.x)` and `bind(i1, %s)`",
                     loop->u.loop.var->name, (long long)most,
                     axis_name(b->axis));
}

// Check the extent against the axis and the size of a block.
static bool check_extent(const struct sched_call *c, struct ir_stmt *loop,
                         const struct bound *b)
{
    bool is_thread = axis_kind(b->axis) == AXIS_THREAD;
    const char *name = loop->u.loop.var->name;
    int64_t extent;
    if (axis_is_cluster(b->axis) && !check_cluster(c, loop, b))
        return false;
    if (!ir_int_value(loop->u.loop.to, &extent)) {
        if (axis_kind(b->axis) == AXIS_BLOCK)
            return check_grid(c, loop);
        sched_refuse(c, loop, "not a constant extent", D_bind_thread_extent,
                     name);
        return help_split(c, loop, b, 256);
    }
    if (extent > axis_most(b->axis)) {
        sched_refuse(c, loop, "too large", D_bind_extent, name,
                     (long long)extent, axis_name(b->axis),
                     (long long)axis_most(b->axis));
        return help_split(c, loop, b, axis_most(b->axis) / 4);
    }
    int64_t threads = all_threads(b, extent);
    if (is_thread && threads > THREADS_MOST)
        return sched_refuse(c, loop, "one too many", D_bind_threads,
                            (long long)threads);
    return true;
}

// Return the axis that is meant: `vthread` is the first one that no loop
// around or inside has.
static enum axis axis_of(const struct sched_call *c, struct ir_stmt *loop)
{
    const struct sched_value *v = &c->args.at[1];
    if (!v->key || strcmp(v->key, "vthread") != 0)
        return v->axis;
    for (int i = AXIS_vthread_x; i <= (int)AXIS_vthread_z; i++) {
        struct bound b = look_around(c->pass, loop, (enum axis)i);
        if (!b.around.n && !b.inside.n)
            return (enum axis)i;
    }
    return v->axis;
}

bool sched_bind(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    enum axis axis = axis_of(c, loop);
    if (!sched_check_serial(c, loop) || !sched_check_from_zero(c, loop))
        return false;
    struct bound b = look_around(c->pass, loop, axis);
    bool is_late = c->is_late && axis_kind(axis) >= AXIS_BLOCK;
    if (!check_around(c, loop, &b) || !check_extent(c, loop, &b) ||
        !(is_late || sched_check_parallel(c, loop, axis)))
        return false;
    loop->u.loop.axis = axis;
    return true;
}
