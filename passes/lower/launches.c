// launches: makes a launch of each nest at the top of a kernel.
//
//   for b in 0..ceildiv(n, 256) @block.x {
//     for t in 0..256 @thread.x { A[b * 256 + t] = 1 }
//   }                                                                   =>
//   launch f grid(ceildiv(n, 256), 1, 1) block(256, 1, 1) derive_barriers {
//     for b in 0..ceildiv(n, 256) @block.x {
//       for t in 0..256 @thread.x { A[b * 256 + t] = 1 }
//     }
//   }
//
// Each statement at the top becomes a launch, together with the declarations
// whose values it needs, and the waits behind it; tables in constant memory go to the launches that read
// them. Arrays in global memory stay on top. The loops say how large the grid
// and a block are (mapping.h); they stay until the pass `mapped`. A launch in
// which the program places no barriers says `derive_barriers`.

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/gpu.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/lower/constants.h"
#include "passes/lower/mapping.h"

enum { THREADS_MOST = 1024 };

// Return how many positions an axis has at most.
static int64_t most_positions(const struct mapping *m, enum axis axis)
{
    return axis == AXIS_warp && m->extent[AXIS_warpgroup] ? GROUP_WARPS
                                                          : axis_most(axis);
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

// Check that arrays of a cluster lie in as many blocks as it has; reports E0850.
static void check_cluster_arrays(struct mapping *m)
{
    int64_t blocks = ir_cluster_blocks(m->launch), n;
    ir_foreach_stmt(s, &m->launch->body) {
        if (s->kind != STMT_alloc || !s->u.buffer->of_cluster)
            continue;
        bool is_known = ir_int_value(s->u.buffer->shape[0], &n);
        if (is_known && n == blocks)
            continue;
        m->failed = true;
        diag_error(
            m->p->diags, s->u.buffer->span, D_cluster_array, s->u.buffer->name,
            is_known ? arena_printf(m->p->scratch, "%lld blocks", (long long)n)
                     : "an unknown number of blocks",
            (long long)blocks);
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

// Return whether a block has barriers for the threads of a block or fewer, but
// for those in loops whose threads do their work together.
static bool has_barriers(const struct ir_block *block)
{
    vec_foreach_value(s, block) {
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        if (s->kind == STMT_barrier ||
            (s->kind == STMT_sync && sync_threads(s->u.sync.kind)))
            return true;
        for (uint32_t i = 0; i < n && !ir_attr_get(s, MARK_collective); i++)
            if (has_barriers(inside[i]))
                return true;
    }
    return false;
}

// Return whether the program leaves barriers to us: it has none, or passes have
// placed those, with mbarriers or where threads do their work together.
static bool lacks_barriers(const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_alloc && s->u.buffer->is_ordered)
            return true;
    return !has_barriers(block);
}

// Note which directives bound loops of a launch to blocks and threads.
static void note_bound(struct pass *p, struct ir_launch *launch)
{
    ir_foreach_stmt(s, &launch->body)
        if (s->by.source &&
            (ir_is_over(s, AXIS_BLOCK) || ir_is_over(s, AXIS_THREAD)))
            vec_push(p->arena, &launch->bound_by, s->by);
}

// Make a launch of the statements of a block; NULL after errors.
static struct ir_stmt *make_launch(struct pass *p, struct ir_block body,
                                   size_t number)
{
    struct mapping m;
    struct ir_stmt *s = ir_stmt_launch(p->arena, entry_name(p, number));
    struct ir_launch *launch = &s->u.launch;
    launch->min_blocks = p->kernel->min_blocks;
    launch->max_registers = p->kernel->max_registers;
    launch->attributes = p->kernel->attributes;
    launch->body = body;
    s->span = body.at[0]->span;
    note_bound(p, launch);
    if (mapping_start(&m, p, launch))
        set_geometry(&m);
    if (!m.failed)
        check_geometry(&m, s->span);
    if (!m.failed)
        check_cluster_arrays(&m);
    launch->derives_barriers = lacks_barriers(&launch->body);
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
    for (size_t i = at + 1; i < block->n; i++)
        if (ir_stmt_uses_declared(block->at[i], block->at[at]))
            last = i;
    return last;
}

// Return the place of the last of the waits, fences and barriers behind a
// statement of a block: they are for what stands before them.
static size_t last_sync(const struct ir_block *block, size_t at)
{
    while (at + 1 < block->n && (block->at[at + 1]->kind == STMT_sync ||
                                 block->at[at + 1]->kind == STMT_barrier))
        at++;
    return at;
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
        ir_expand_let(p->arena, top, i);
    }
}

// Return whether a statement is, or has, a loop over blocks.
static bool has_grid(const struct ir_stmt *stmt)
{
    ir_foreach_stmt_from(s, stmt)
        if (ir_is_over(s, AXIS_BLOCK))
            return true;
    return false;
}

// Return whether at most one statement of a group has loops over blocks;
// reports E0708 otherwise: blocks do not wait for each other.
static bool check_group(struct pass *p, const struct ir_block *group)
{
    int grids = 0;
    const struct ir_stmt *declaration = NULL;
    for (size_t i = 0; i < group->n; i++) {
        grids += has_grid(group->at[i]);
        if (!declaration && is_declaration(group->at[i]))
            declaration = group->at[i];
    }
    if (grids <= 1 || !declaration)
        return true;
    return diag_error(p->diags, declaration->span, D_between_launches,
                      declaration->kind == STMT_alloc
                          ? declaration->u.buffer->name
                          : declaration->u.let.var->name);
}

// Make launches of the statements at the top, those that declarations bind
// together in one.
static bool make_launches(struct pass *p, struct ir_block *top,
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
        until = last_sync(top, until > last ? until : last);
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

enum pass_result pass_launches(struct pass *p)
{
    struct ir_block out = {0};
    expand_lets(p, &p->kernel->body);
    struct ir_block tables = constants_take(p, &p->kernel->body);
    if (!make_launches(p, &p->kernel->body, &out))
        return PASS_FAILED;
    constants_place(p, &out, &tables);
    p->kernel->body = out;
    return PASS_CHANGED;
}
