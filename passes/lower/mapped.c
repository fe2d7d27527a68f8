// mapped: lowers loops bound to blocks and threads to launches.
//
//   for b in 0..ceildiv(n, 256) @block.x {
//     for t in 0..256 @thread.x { A[b * 256 + t] = 1 }
//   }                                                                   =>
//   launch f grid(ceildiv(n, 256), 1, 1) block(256, 1, 1) {
//     A[block.x * 256 + thread.x] = 1
//   }
//
// Each statement at the top of a kernel becomes a launch, together with the
// declarations whose values it needs. Arrays in global memory stay on top. A
// grid or thread axis is as long as the longest loop bound to it; shorter loops
// get a guard. The blocks of a cluster are neighbours: a loop on cluster.x is
// block.x % n, and loops on block.x beside it are block.x / n. Two nested loops
// on the same thread axis both stand for the position of the thread: the
// threads of the outer one share the iterations of the inner one. What all
// threads would repeat, one of them does (single_writer.c). Barriers are
// inserted between accesses that conflict (barrier_insertion.c).

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/nested.h"
#include "passes/lower/constants.h"
#include "passes/lower/mapping.h"
#include "passes/opt/fold.h"

enum { LANES = 32, WARPS = 4 }; // of a warp, of a warpgroup
enum { THREADS_MOST = 1024 };

// Find a variable that is not a parameter.
static void see_local(struct ir_expr *x, void *context)
{
    const struct ir_var **found = context;
    if (x->op == OP_var && x->u.var->kind != VAR_param)
        *found = x->u.var;
}

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
    ir_each_expr(extent, see_local, &local);
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

// Check that a loop may share the axis of the loop around it; reports E0705
// or E0731.
static bool check_nested(struct mapping *m, struct ir_stmt *s,
                         struct ir_expr *extent)
{
    const struct ir_for *loop = &s->u.loop;
    struct ir_stmt *outer = m->around[loop->axis];
    struct nested_fault f = {"blocks do not share their iterations", s};
    if (axis_kind(loop->axis) == AXIS_THREAD)
        f = nested_check(m->p->scratch, outer, s);
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
        struct ir_block *inside[IR_BLOCKS_MOST];
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
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n && !m->failed; k++)
            measure(m, inside[k]);
        if (s->kind != STMT_let)
            facts_leave(&m->facts, outside);
        if (bound)
            m->around[s->u.loop.axis] = around;
    }
    facts_leave(&m->facts, here);
}

static void map_block(struct mapping *m, struct ir_block *block);

// Put the body of a bound loop in its place; returns how many statements that
// made.
static size_t map_loop(struct mapping *m, struct ir_block *block, size_t at)
{
    struct arena *a = m->p->arena;
    struct ir_stmt *s = block->at[at];
    struct ir_for *loop = &s->u.loop;
    struct ir_expr *index = ir_at(a, mapping_position(m, loop->axis), s->span);
    struct ir_expr *value = ir_add(a, loop->from, ir_mul(a, index, loop->step));
    struct ir_expr *extent = map_get(&m->loop_extents, s);
    struct map vars = {.arena = m->p->scratch};
    struct ir_stmt *around = m->around[loop->axis];
    struct ir_expr *there =
        around ? map_get(&m->loop_extents, around) : m->extent[loop->axis];
    map_set(&vars, loop->var, value);
    m->around[loop->axis] = s;
    map_block(m, &loop->body);
    m->around[loop->axis] = around;
    ir_substitute_in(a, &loop->body, &vars, NULL);
    struct ir_block body = loop->body;
    if (!ir_expr_equal(extent, there)) {
        struct ir_stmt *branch =
            ir_stmt_if(a, ir_binary(a, OP_lt, index, extent));
        ir_stmt_from(branch, s);
        branch->u.branch.then = body;
        body = (struct ir_block){0};
        ir_append(a, &body, branch);
    }
    ir_splice(a, block, at, &body);
    return body.n;
}

// Map the loops of a block and below.
static void map_block(struct mapping *m, struct ir_block *block)
{
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_for && is_bound(&s->u.loop)) {
            i += map_loop(m, block, i);
            continue;
        }
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++)
            map_block(m, inside[k]);
        i++;
    }
}

// Return how many positions an axis has at most.
static int64_t most_positions(const struct mapping *m, enum axis axis)
{
    return axis == AXIS_warp && m->extent[AXIS_warpgroup] ? WARPS
                                                          : axis_most(axis);
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
        m->extent[AXIS_lane] = ir_int(m->p->arena, LANES);
    int64_t inside;
    if (warps == AXIS_warpgroup &&
        !(m->extent[AXIS_warp] && ir_int_value(m->extent[AXIS_warp], &inside) &&
          inside > WARPS))
        m->extent[AXIS_warp] = ir_int(m->p->arena, WARPS);
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
        return ir_binary(a, OP_div, x, ir_int(a, WARPS * LANES));
    x = ir_binary(a, axis == AXIS_warp ? OP_div : OP_mod, x, ir_int(a, LANES));
    return axis == AXIS_warp && groups && !ir_is_int_const(groups, 1)
               ? ir_binary(a, OP_mod, x, ir_int(a, WARPS))
               : x;
}

// Check that a block and a cluster of the launch are not too large; reports
// E0707 or E0847.
static void check_geometry(struct mapping *m, struct span span)
{
    const struct ir_launch *l = m->launch;
    int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
    if (threads > THREADS_MOST) {
        diag_error(m->p->diags, span, D_block_threads, l->name,
                   (long long)threads);
        diag_label(m->p->diags, "%lld x %lld x %lld threads",
                   (long long)l->block[0], (long long)l->block[1],
                   (long long)l->block[2]);
        m->failed = true;
    } else if (ir_cluster_blocks(l) > (uint32_t)axis_most(AXIS_cluster_x)) {
        diag_error(m->p->diags, span, D_cluster_blocks,
                   (long long)ir_cluster_blocks(l));
        m->failed = true;
    }
}

// Set the geometry of the launch from the extents, within the limits of the
// hardware.
static void set_geometry(struct mapping *m)
{
    struct ir_launch *l = m->launch;
    for (int d = 0; d < 3; d++) {
        l->grid[d] = ir_int(m->p->arena, 1);
        l->block[d] = 1;
    }
    for (int i = 0; i < AXIS_COUNT; i++) {
        int64_t n, most = most_positions(m, (enum axis)i);
        int d = axis_dimension((enum axis)i);
        if (!m->extent[i])
            continue;
        if (ir_int_value(m->extent[i], &n) && n > most) {
            diag_error(m->p->diags, m->extent[i]->span, D_axis_extent,
                       axis_name((enum axis)i), (long long)n, (long long)most);
            diag_label(m->p->diags, "the extent of `%s`", m->name[i]);
            m->failed = true;
        } else if (axis_kind((enum axis)i) == AXIS_BLOCK) {
            l->grid[d] = ir_mul(m->p->arena, l->grid[d], m->extent[i]);
            if (axis_is_cluster((enum axis)i))
                l->cluster[d] = (uint32_t)n;
        } else {
            l->block[d] *= (uint32_t)n;
        }
    }
}

// Return the name of launch number `number` of a kernel.
static const char *entry_name(struct pass *p, size_t number)
{
    const struct ir_kernel *k = p->kernel;
    const char *text = arena_printf(p->scratch, "%s%s%s", k->name,
                                    *k->variant ? "__" : "", k->variant);
    if (number)
        text = arena_printf(p->scratch, "%s_%zu", text, number);
    return str_name(p->names, text);
}

// Who has seen to the order of threads: a note of see_order.
struct order {
    bool has_barriers; // of the threads of a block or fewer
    bool has_roles;    // arrays that passes have ordered by mbarriers
};

// Note what orders threads.
static void see_order(struct ir_stmt *s, void *context)
{
    struct order *o = context;
    o->has_barriers |= s->kind == STMT_barrier ||
                       (s->kind == STMT_sync && sync_threads(s->u.sync.kind));
    o->has_roles |= s->kind == STMT_alloc && s->u.buffer->is_ordered;
}

// Make a launch of the statements of a block; NULL after errors.
static struct ir_stmt *make_launch(struct pass *p, struct ir_block body,
                                   size_t number)
{
    struct mapping m = {.p = p, .loop_extents = {.arena = p->scratch}};
    struct order order = {false, false};
    struct ir_stmt *s = ir_stmt_launch(p->arena, entry_name(p, number));
    m.launch = &s->u.launch;
    m.launch->min_blocks = p->kernel->min_blocks;
    m.launch->max_registers = p->kernel->max_registers;
    s->span = body.at[0]->span;
    facts_start(&m.facts, p->scratch, p->kernel);
    facts_start(&m.top, p->scratch, p->kernel);
    measure(&m, &body);
    if (!m.failed)
        settle_warps(&m);
    if (!m.failed)
        set_geometry(&m);
    if (!m.failed)
        check_geometry(&m, s->span);
    ir_each_stmt(&body, see_order, &order);
    m.has_barriers = order.has_barriers && !order.has_roles;
    if (!m.failed)
        mapping_grid_hazards(&m, &body);
    if (!m.failed)
        mapping_grid_hazards_loops(&m, &body);
    if (!m.failed)
        mapping_single_writer(&m, &body);
    if (!m.failed && !m.has_barriers)
        mapping_barriers(&m, &body);
    if (!m.failed)
        map_block(&m, &body);
    m.launch->body = body;
    m.launch->derives_barriers = !m.has_barriers;
    return m.failed ? NULL : s;
}

// Return whether a statement at the top declares something that has to stay
// with its uses.
static bool is_declaration(const struct ir_stmt *s)
{
    return s->kind == STMT_let || s->kind == STMT_var ||
           (s->kind == STMT_alloc && s->u.buffer->space != SPACE_global);
}

// Return the place of the last statement of a block that uses what statement
// `at` declares.
static size_t last_use(struct ir_block *block, size_t at)
{
    size_t last = at;
    for (size_t i = at + 1; i < block->n; i++) {
        struct ir_block one = {.at = &block->at[i], .n = 1};
        if (ir_uses_declared(&one, block->at[at]))
            last = i;
    }
    return last;
}

// Put the values of lets at the top, where they follow from the parameters,
// in place of their names.
static void expand_lets(struct pass *p, struct ir_block *top)
{
    for (size_t i = 0; i < top->n;) {
        struct ir_stmt *s = top->at[i];
        if (s->kind != STMT_let || !ir_is_stable(s->u.let.value)) {
            i++;
            continue;
        }
        struct map vars = {.arena = p->scratch};
        map_set(&vars, s->u.let.var, s->u.let.value);
        ir_splice(p->arena, top, i, &(struct ir_block){0});
        ir_substitute_in(p->arena, top, &vars, NULL);
    }
}

// Set *(bool *)context at a loop over blocks.
static void see_grid(struct ir_stmt *s, void *context)
{
    *(bool *)context |=
        s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_BLOCK;
}

// Return whether at most one statement of a group has loops over blocks;
// reports E0708 otherwise: blocks do not wait for each other.
static bool check_group(struct pass *p, const struct ir_block *group)
{
    int grids = 0;
    const struct ir_stmt *declaration = NULL;
    for (size_t i = 0; i < group->n; i++) {
        struct ir_block one = {.at = &group->at[i], .n = 1};
        bool has_grid = false;
        ir_each_stmt(&one, see_grid, &has_grid);
        grids += has_grid;
        if (!declaration && is_declaration(group->at[i]))
            declaration = group->at[i];
    }
    if (grids <= 1 || !declaration)
        return true;
    diag_error(p->diags, declaration->span, D_between_launches,
               declaration->kind == STMT_alloc ? declaration->u.buffer->name
                                               : declaration->u.let.var->name);
    return false;
}

// Make launches of the statements at the top, those that declarations bind
// together in one.
static bool map_groups(struct pass *p, struct ir_block *top,
                       struct ir_block *out)
{
    struct ir_block group = {0};
    size_t until = 0, number = 0;
    for (size_t i = 0; i < top->n; i++) {
        struct ir_stmt *s = top->at[i];
        if (s->kind == STMT_alloc && !is_declaration(s)) {
            ir_append(p->arena, out, s);
            continue;
        }
        size_t last = is_declaration(s) ? last_use(top, i) : i;
        until = until > last ? until : last;
        ir_append(p->arena, &group, s);
        if (i < until)
            continue;
        if (!check_group(p, &group))
            return false;
        struct ir_stmt *launch = make_launch(p, group, number++);
        if (!launch)
            return false;
        ir_append(p->arena, out, launch);
        group = (struct ir_block){0};
    }
    return true;
}

enum pass_result pass_mapped(struct pass *p)
{
    struct ir_block out = {0};
    expand_lets(p, &p->kernel->body);
    struct ir_block tables = constants_take(p, &p->kernel->body);
    if (!map_groups(p, &p->kernel->body, &out))
        return PASS_FAILED;
    constants_place(p, &out, &tables);
    p->kernel->body = out;
    return PASS_CHANGED;
}
