// Copies that TMA can do.

#include "passes/analysis/tma_copy.h"

#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/marks.h"
#include "passes/analysis/copies.h"

#include <string.h>

// Return whether a stage is marked to be copied in a way.
static bool is_via(const struct ir_stage *stage, const char *way)
{
    const char *word = ir_attrs_word(&stage->attrs, MARK_via);
    return word && strcmp(word, way) == 0;
}

bool tma_copy_is_bulk(const struct ir_stage *stage)
{
    return is_via(stage, "bulk");
}

bool tma_copy_only(const struct ir_stmt *nest)
{
    ir_foreach_stmt_from(s, nest)
        if (s->kind == STMT_stage && !tma_copy_marked(&s->u.stage))
            return false;
    return true;
}

bool tma_copy_marked(const struct ir_stage *stage)
{
    return is_via(stage, "tma") || is_via(stage, "bulk");
}

// Fill in the two sides of a copy that stores to `to` what it loads.
static bool find_sides(struct ir_stmt *store, struct ir_expr *from,
                       struct tma_copy *out)
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

const char *tma_copy_find(const struct ir_stage *stage, struct tma_copy *out)
{
    struct ir_stmt *store = stage->body.n == 1 ? stage->body.at[0] : NULL;
    *out = (struct tma_copy){.is_bulk = tma_copy_is_bulk(stage)};
    if (!store || store->kind != STMT_store || stage->has_init)
        return "it is more than one store";
    struct ir_expr *from = (struct ir_expr *)copies_source(store);
    struct ir_expr *value = store->u.store.value;
    out->rounds = !from && copies_rounded(store);
    if (out->rounds)
        from = (struct ir_expr *)copies_rounded(store);
    if (!from)
        return "it does not store an element as it is";
    if (!find_sides(store, from, out))
        return "it is not between an array in global memory and one in shared "
               "memory";
    if (out->rounds && (out->is_bulk || !out->is_load))
        return "only loads of TMA tiles round";
    if (value->op == OP_select)
        out->condition = value->args[0];
    if (out->condition && !out->is_load)
        return "it writes zeros to global memory";
    if (out->near->is_double && out->is_load)
        return "what it fills is double buffered";
    if (out->far->rank < 1 || out->far->rank > TENSOR_RANK_MOST)
        return "the array in global memory has no dimension, or more than 5";
    if (out->far->swizzle.bits)
        return "the array in global memory is swizzled";
    return NULL;
}

bool tma_copy_demand(struct arena *a, struct facts *f,
                     struct ir_expr *condition, struct ir_conditions *out)
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
    return tma_copy_demand(a, f, ir_binary(a, OP_le, least, extent), out) &&
           tma_copy_demand(a, f, ir_binary(a, OP_le, extent, most), out);
}

bool tma_copy_demand_stride(struct arena *a, struct facts *f,
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
    return tma_copy_demand(a, f, ir_binary(a, OP_eq, rest, ir_int(a, 0)), out);
}

struct ir_expr *tma_copy_stride(struct arena *a, const struct ir_buffer *b,
                                uint32_t d)
{
    struct ir_expr **strides = layout_strides(a, b);
    return strides ? strides[d] : ir_buffer_stride(a, b, d);
}

const char *tma_copy_conditions(struct arena *a, struct facts *f,
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
        if (d + 1 < b->rank &&
            !tma_copy_demand_stride(a, f, tma_copy_stride(a, b, d),
                                    type_bytes(b->elem), out))
            return "rows in global memory are no multiple of 16 bytes apart";
    }
    return NULL;
}
