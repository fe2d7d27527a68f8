// fragments: gives each thread its part of the arrays that a warp or a
// warpgroup holds, and replaces nests marked with a matrix instruction by it.
//
//   for w in 0..4 @warp {                     for w in 0..4 @warp {
//     alloc acc: f32[32, 8] in fragment         for lane in 0..32 @lane {
//     for i0 in 0..2 {                            alloc acc: f32[2, 1, 4] in local
//       for i in 0..16 @tensorize(mma..) {        for i0 in 0..2 {
//         for j in 0..8 { for k in 0..16 {          matrix mma.. acc[i0, 0, 0 : 4], ...
//           acc[i0 * 16 + i, j] += ...      =>    }
//     } } } }                                     for i0 in 0..2 { for e1 in 0..2 { for e0 in 0..2 {
//     for i in 0..32 { for j in 0..8 {              C[w * 32 + i0 * 16 + e1 * 8 + lane / 4, lane % 4 * 2 + e0] =
//       C[w * 32 + i, j] = acc[i, j]                  acc[i0, 0, e1 * 2 + e0]
//     } }                                         } } }
//   }                                         } }
//
// The instructions that use an array say which thread holds which element of a
// tile (ir/matrix.def). Stages that use the array are spread in the same way:
// each thread computes the elements that it holds.

#include "passes/lower/fragments.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"

#include <string.h>

enum { WARP = 32, GROUP_WARPS = 4 };

struct fragment *fragment_of(struct fragments *f, const struct ir_buffer *b)
{
    for (size_t i = 0; i < f->all.n; i++)
        if (f->all.at[i].array == b)
            return &f->all.at[i];
    return NULL;
}

bool fragments_declare(struct fragments *f, struct fragment *x)
{
    struct arena *a = f->p->arena;
    uint32_t rank = x->array->rank;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, (size_t)rank + 1);
    for (uint32_t d = 0; d < rank; d++)
        shape[d] = x->array->shape[d];
    for (int side = 0; side < 2; side++) {
        int64_t extent;
        if (x->dim[side] == FRAGMENT_NONE)
            continue;
        if (!ir_int_value(shape[x->dim[side]], &extent) ||
            extent % x->tile[side])
            return false;
        shape[x->dim[side]] = ir_int(a, extent / x->tile[side]);
    }
    shape[rank] = ir_int(a, x->layout.elements);
    x->local =
        ir_buffer_new(a, x->array->name, x->array->elem, rank + 1, shape);
    x->local->space = SPACE_local;
    x->local->is_double = x->array->is_double;
    x->local->doubled = x->array->doubled;
    x->local->span = x->array->span;
    dropped_swizzle(f->p, x->array);
    return true;
}

// Note how an instruction wants an operand of a nest; false after an error.
static bool note_operand(struct fragments *f, const struct tensor_nest *nest,
                         const struct ir_stmt *loop, enum matrix_operand which)
{
    struct fragment x = {.user = loop}, *known;
    struct matrix_info info = matrix_info(nest->op);
    known = fragment_of(f, nest->part[which].buffer);
    if (!matrix_layout(nest->op, which, &x.layout) || !known)
        return true;
    x.tile[0] = info.part[which].rows;
    x.tile[1] = info.part[which].columns;
    if (!tensor_dimensions(f->p->scratch, nest, which, x.dim))
        return diag_error(f->p->diags, loop->span, D_fragment_tiles,
                          known->array->name);
    if (!known->user) {
        x.alloc = known->alloc;
        x.array = known->array;
        *known = x;
        if (fragments_declare(f, known))
            return true;
        return diag_error(f->p->diags, loop->span, D_fragment_tiles,
                          known->array->name);
    }
    if (memcmp(&known->layout, &x.layout, sizeof x.layout) == 0 &&
        memcmp(known->dim, x.dim, sizeof x.dim) == 0)
        return true;
    diag_error(f->p->diags, loop->span, D_fragment_twice, known->array->name);
    diag_note(f->p->diags, known->user->span, "the other instruction is here");
    return false;
}

// Learn the layouts that a nest marked with an instruction asks for.
static bool note_nest(struct fragments *f, struct ir_stmt *s,
                      struct ir_matrix op)
{
    struct tensor_nest nest;
    const char *wrong = tensor_match(f->p->scratch, s, op, &nest);
    if (wrong)
        return fragments_refuse(f, s, op, wrong);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        if (!note_operand(f, &nest, s, (enum matrix_operand)i))
            return false;
    return true;
}

// Return whether a statement, or one below it, uses fragments.
static bool uses(struct fragments *f, const struct ir_stmt *root)
{
    ir_foreach_stmt_from(s, root)
        if (s->kind == STMT_store && fragment_of(f, s->u.store.buffer))
            return true;
    ir_foreach_expr_from(x, root)
        if (x->op == OP_load && fragment_of(f, x->u.buffer))
            return true;
    return false;
}

// Collect the stages below a block that use fragments and belong to no marked
// nest, and put instructions in the places of those.
static bool collect(struct fragments *f, struct ir_block *block,
                    struct ir_block *stages)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_matrix op;
        struct fragment *x =
            s->kind == STMT_alloc ? fragment_of(f, s->u.buffer) : NULL;
        if (x && x->local)
            s->u.buffer = x->local;
        if (tensor_marked(s, &op)) {
            if (!fragments_multiply(f, s, &block->at[i]))
                return false;
            continue;
        }
        if (s->kind == STMT_stage && uses(f, s))
            vec_push(f->p->scratch, stages, s);
        if (s->kind == STMT_stage)
            continue;
        ir_foreach_block(inner, s)
            if (!collect(f, inner, stages))
                return false;
    }
    return true;
}

// Let loops over all threads of the new one's axis below a block be this one:
// their iterations are the threads' already.
static void join_loops(struct fragments *f, struct ir_block *block,
                       const struct ir_stmt *around)
{
    struct arena *a = f->p->arena;
    const struct ir_for *outer = &around->u.loop;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            join_loops(f, inner, around);
        if (s->kind != STMT_for || s->u.loop.axis != outer->axis ||
            !ir_expr_equal(s->u.loop.from, outer->from) ||
            !ir_expr_equal(s->u.loop.to, outer->to) ||
            !ir_expr_equal(s->u.loop.step, outer->step))
            continue;
        struct ir_block body = s->u.loop.body;
        ir_replace_in(a, &body, s->u.loop.var, ir_read(a, outer->var));
        ir_splice(a, block, i, &body);
        i += body.n - 1;
    }
}

// Put the body of a loop into a new one inside of it, over threads that do its
// work together, and return its variable.
static struct ir_var *enclose(struct fragments *f, struct ir_stmt *loop,
                              const char *name, int64_t extent, enum axis axis)
{
    struct arena *a = f->p->arena;
    struct ir_var *var =
        ir_var_new(a, str_name(f->p->names, name), type_scalar(TYPE_int),
                   VAR_loop, loop->span);
    struct ir_stmt *s =
        ir_stmt_from(ir_stmt_for(a, var, ir_int(a, 0), ir_int(a, extent),
                                 ir_int(a, 1), axis),
                     loop);
    ir_attr_set(a, s, MARK_collective, 1);
    s->u.loop.body = loop->u.loop.body;
    join_loops(f, &s->u.loop.body, s);
    loop->u.loop.body = (struct ir_block){0};
    ir_append(a, &loop->u.loop.body, s);
    return var;
}

// Lower the body of a loop over warps or warpgroups.
static bool lower_group(struct fragments *f, struct ir_stmt *loop)
{
    struct ir_block stages = {0};
    struct ir_stmt *inner = loop;
    f->warp = NULL;
    if (loop->u.loop.axis == AXIS_warpgroup) {
        f->warp = enclose(f, loop, "warp", GROUP_WARPS, AXIS_warp);
        inner = loop->u.loop.body.at[0];
    }
    f->lane = enclose(f, inner, "lane", WARP, AXIS_lane);
    if (!collect(f, &inner->u.loop.body, &stages))
        return false;
    for (size_t i = 0; i < stages.n; i++)
        if (!fragments_spread(f, inner->u.loop.body.at[0], stages.at[i]))
            return false;
    return fragments_order(f, &inner->u.loop.body.at[0]->u.loop.body);
}

// Find the loops over warps and warpgroups that use fragments, and lower them;
// a use anywhere else is an error.
static bool lower_block(struct fragments *f, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        bool is_group =
            s->kind == STMT_for &&
            (s->u.loop.axis == AXIS_warp || s->u.loop.axis == AXIS_warpgroup);
        if (!uses(f, s))
            continue;
        if (is_group) {
            if (!lower_group(f, s))
                return false;
            continue;
        }
        if (s->kind != STMT_for && s->kind != STMT_if)
            return diag_error(f->p->diags, s->span, D_fragment_outside);
        ir_foreach_block(inner, s)
            if (!lower_block(f, inner))
                return false;
    }
    return true;
}

// Check that every fragment has got a layout.
static bool check_layouts(struct fragments *f)
{
    vec_foreach(x, &f->all) {
        if (x->local)
            continue;
        return diag_error(f->p->diags, x->array->span, D_fragment_layout,
                          x->array->name);
    }
    return true;
}

// Remove the marks of loops whose iterations release slots late, but have no
// WGMMAs to leave in flight.
static void remove_late(const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        ir_attr_remove(s, MARK_in_flight);
}

// Find the fragments of a kernel.
static void find_all(struct fragments *f)
{
    ir_foreach_stmt(s, &f->p->kernel->body) {
        struct fragment x = {.alloc = s, .array = s->u.buffer};
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_fragment)
            vec_push(f->p->scratch, &f->all, x);
    }
}

enum pass_result pass_fragments(struct pass *p)
{
    struct fragments f = {.p = p};
    struct ir_matrix op;
    find_all(&f);
    ir_foreach_stmt(s, &p->kernel->body)
        if (tensor_marked(s, &op) && !note_nest(&f, s, op))
            return PASS_FAILED;
    if (!f.all.n) {
        remove_late(&p->kernel->body);
        return PASS_SAME;
    }
    fragments_follow(&f);
    if (!check_layouts(&f) || !lower_block(&f, &p->kernel->body))
        return PASS_FAILED;
    remove_late(&p->kernel->body);
    return PASS_CHANGED;
}
