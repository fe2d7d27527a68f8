// Copies that the copy engine may do.

#include "passes/analysis/tensor_copy.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"
#include "passes/analysis/copies.h"
#include "passes/opt/fold.h"

#include <string.h>

// Return whether a stage is marked to be copied in a way.
static bool is_via(const struct ir_stage *stage, const char *way)
{
    for (size_t i = 0; i < stage->attrs.n; i++) {
        const struct ir_attr *attr = &stage->attrs.at[i];
        if (strcmp(attr->name, "via") == 0 && attr->word &&
            strcmp(attr->word, way) == 0)
            return true;
    }
    return false;
}

bool tensor_copy_is_bulk(const struct ir_stage *stage)
{
    return is_via(stage, "bulk");
}

bool tensor_copy_marked(const struct ir_stage *stage)
{
    return is_via(stage, "tma") || is_via(stage, "bulk");
}

// Fill in the two sides of a copy that stores to `to` what it loads.
static bool find_sides(struct ir_stmt *store, struct ir_expr *from,
                       struct tensor_copy *out)
{
    struct ir_buffer *to = store->u.store.buffer;
    out->is_load = to->space == SPACE_shared;
    out->hint = store->u.store.hint;
    out->far = out->is_load ? from->u.buffer : to;
    out->near = out->is_load ? to : from->u.buffer;
    out->far_index = out->is_load ? from->args : store->u.store.index;
    out->near_index = out->is_load ? store->u.store.index : from->args;
    return out->far->space == SPACE_global && out->near->space == SPACE_shared;
}

const char *tensor_copy_find(const struct ir_stage *stage,
                             struct tensor_copy *out)
{
    struct ir_stmt *store = stage->body.n == 1 ? stage->body.at[0] : NULL;
    *out = (struct tensor_copy){.is_bulk = tensor_copy_is_bulk(stage)};
    if (!store || store->kind != STMT_store || stage->has_init)
        return "it is more than one store";
    struct ir_expr *from = (struct ir_expr *)copies_source(store);
    struct ir_expr *value = store->u.store.value;
    if (!from)
        return "it does not store an element as it is";
    if (!find_sides(store, from, out))
        return "it is not between an array in global memory and one in shared "
               "memory";
    if (value != from)
        out->condition = value->args[0];
    if (out->condition && !out->is_load)
        return "it writes zeros to global memory";
    if (out->near->is_double && out->is_load)
        return "what it fills is double buffered";
    if (out->far->rank < 1 || out->far->rank > TENSOR_RANK_MOST)
        return "the array in global memory has no dimension, or more than 5";
    return NULL;
}

// Append a condition unless it is known; false if it is known not to hold.
static bool demand(struct arena *a, struct facts *f, struct ir_expr *condition,
                   struct ir_conditions *out)
{
    enum truth known = facts_decide(f, condition);
    if (known == TRUTH_TRUE)
        return true;
    vec_push(a, out, condition);
    facts_assume(f, condition, true);
    return known != TRUTH_FALSE && !ir_is_false(condition);
}

// Append that a dimension has elements, as many as coordinates can count.
static bool demand_extent(struct arena *a, struct facts *f,
                          struct ir_expr *extent, struct ir_conditions *out)
{
    struct ir_expr *least = ir_int(a, 1), *most = ir_int(a, INT32_MAX);
    return demand(a, f, ir_binary(a, OP_le, least, extent), out) &&
           demand(a, f, ir_binary(a, OP_le, extent, most), out);
}

// Append that neighbours lie a multiple of 16 bytes apart.
static bool demand_stride(struct arena *a, struct facts *f,
                          struct ir_expr *stride, size_t bytes,
                          struct ir_conditions *out)
{
    int64_t number, group = TENSOR_GROUP_BYTES / (int64_t)bytes;
    struct affine form = affine_of(f->arena, stride);
    if (ir_int_value(stride, &number))
        return number % group == 0;
    if (facts_multiple(f, &form, group))
        return true;
    struct ir_expr *rest = ir_binary(a, OP_mod, stride, ir_int(a, group));
    return demand(a, f, ir_binary(a, OP_eq, rest, ir_int(a, 0)), out);
}

struct ir_expr *tensor_copy_stride(struct arena *a, const struct ir_buffer *b,
                                   uint32_t d)
{
    struct ir_expr **strides = layout_strides(a, b);
    return strides ? strides[d] : ir_buffer_stride(a, b, d);
}

const char *tensor_copy_conditions(struct arena *a, struct facts *f,
                                   const struct ir_buffer *b,
                                   struct ir_conditions *out)
{
    if (b->strides && !ir_is_int_const(b->strides[b->rank - 1], 1))
        return "the rows in global memory have gaps";
    if (b->swizzle.bits)
        return "the array in global memory is swizzled";
    for (uint32_t d = b->rank; d-- > 0;) {
        if (!demand_extent(a, f, b->shape[d], out))
            return "the array in global memory has no elements, or too many";
        if (d + 1 < b->rank && !demand_stride(a, f, tensor_copy_stride(a, b, d),
                                              type_bytes(b->elem), out))
            return "rows in global memory are no multiple of 16 bytes apart";
    }
    return NULL;
}

// ---- Pieces -----------------------------------------------------------------

// Set *(bool *)context at what may vary in a launch.
static void see_varying(struct ir_expr *x, void *context)
{
    *(bool *)context |= (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES)) ||
                        x->op == OP_index ||
                        (x->op == OP_var && x->u.var->kind != VAR_param);
}

// Put the iteration of a loop in which a form is least in the place of the
// loop's variable; false if there is none.
static bool lower_over(struct arena *a, const struct ir_for *loop,
                       struct affine *form)
{
    int64_t factor;
    struct affine rest;
    if (!affine_linear(a, form, loop->var, &factor, &rest))
        return false;
    struct ir_expr *before = ir_sub(a, ir_for_extent(a, loop), ir_int(a, 1));
    struct ir_expr *last = ir_add(a, loop->from, ir_mul(a, before, loop->step));
    struct affine at = affine_of(a, factor > 0 ? loop->from : last);
    *form = affine_add(a, &rest, factor, &at);
    return !form->failed;
}

// Set *(const struct ir_expr **)context at a quotient that is rounded up.
static void see_quotient(struct ir_expr *x, void *context)
{
    int64_t by;
    if (x->op == OP_ceildiv && ir_int_value(x->args[1], &by))
        *(const struct ir_expr **)context = x;
}

// Return the condition that n is a multiple of c where that is what another one
// comes to, ceildiv(n, c) * c <= n; else that one.
static struct ir_expr *as_multiple(struct arena *a, struct facts *f,
                                   struct ir_expr *condition)
{
    const struct ir_expr *quotient = NULL;
    struct facts_mark here = facts_mark(f);
    ir_each_expr(condition, see_quotient, &quotient);
    if (!quotient)
        return condition;
    struct ir_expr *rest =
        ir_binary(a, OP_mod, quotient->args[0], quotient->args[1]);
    struct ir_expr *multiple = ir_binary(a, OP_eq, rest, ir_int(a, 0));
    facts_assume(f, multiple, true);
    bool follows = ir_is_true(fold_expr(a, f, condition));
    facts_leave(f, here);
    return follows ? multiple : condition;
}

// Return a condition on sizes under which another one holds in all iterations of
// the loops of a path, or NULL.
static struct ir_expr *for_all(struct arena *a, struct facts *f,
                               const struct ir_path *path,
                               struct ir_expr *condition)
{
    struct affine form;
    bool varies = false;
    if (!facts_form(a, condition, &form))
        return NULL;
    for (uint32_t i = path->n; i-- > 0;)
        if (path->stmts[i]->kind == STMT_for &&
            !lower_over(a, &path->stmts[i]->u.loop, &form))
            return NULL;
    struct ir_expr *all = fold_condition(a, &form);
    ir_each_expr(all, see_varying, &varies);
    return varies || !facts_is_total(f, all) ? NULL : as_multiple(a, f, all);
}

// Return whether a loop directly around a stage, with nothing else in it,
// decides on a condition.
static bool is_inside(const struct ir_path *path, struct ir_expr *condition)
{
    for (uint32_t i = path->n - 1; i-- > 0;) {
        const struct ir_stmt *s = path->stmts[i];
        if (s->kind == STMT_for && ir_is_int_const(s->u.loop.to, 1))
            continue;
        if (s->kind != STMT_for || s->u.loop.body.n > 1 ||
            (axis_kind(s->u.loop.axis) != AXIS_SERIAL &&
             axis_kind(s->u.loop.axis) != AXIS_UNROLL))
            return false;
        if (ir_mentions(condition, s->u.loop.var))
            return true;
    }
    return false;
}

// Append that a condition holds throughout, where it may leave out a part of
// what a nest copies, or all of it if `anywhere`; false if it never does.
static bool demand_throughout(struct arena *a, struct facts *f,
                              const struct ir_path *path,
                              struct ir_expr *condition, bool anywhere,
                              struct ir_conditions *out)
{
    struct conditions all = {0};
    fold_split(a, condition, &all);
    for (size_t i = 0; i < all.n; i++) {
        bool matters = anywhere || is_inside(path, all.at[i]);
        struct ir_expr *always =
            matters && !ir_is_true(fold_expr(a, f, all.at[i]))
                ? for_all(a, f, path, all.at[i])
                : NULL;
        if (always && !demand(a, f, always, out))
            return false;
    }
    return true;
}

// Return an expression over iteration variables of a stage, over loops.
static struct ir_expr *over_loops(struct arena *a, const struct ir_stage *stage,
                                  struct ir_expr *x)
{
    struct map vars = {.arena = a};
    for (size_t i = 0; i < stage->iters.n; i++)
        map_set(&vars, stage->iters.at[i].var, stage->iters.at[i].binding);
    return ir_substitute(a, x, &vars, NULL);
}

const char *tensor_copy_pieces(struct arena *a, struct facts *f,
                               const struct ir_path *path,
                               struct ir_conditions *out)
{
    const struct ir_stage *stage = &path->stmts[path->n - 1]->u.stage;
    struct tensor_copy copy;
    int64_t number;
    const char *fault = tensor_copy_find(stage, &copy);
    if (fault)
        return fault;
    if (stage->predicate &&
        !demand_throughout(a, f, path, stage->predicate, false, out))
        return "it leaves out a part at every size";
    if (copy.condition &&
        !demand_throughout(a, f, path, over_loops(a, stage, copy.condition),
                           true, out))
        return "it stores zeros at every size";
    for (uint32_t d = copy.far->rank - 1; d-- > 0;) {
        struct ir_expr *stride = tensor_copy_stride(a, copy.far, d);
        if (!ir_int_value(stride, &number) &&
            !demand_stride(a, f, stride, type_bytes(copy.far->elem), out))
            return "rows in global memory are no multiple of 16 bytes apart";
    }
    return NULL;
}
