// The one index of an access: the offset of its element, in the width that it
// needs.

#include "passes/lower/flatten.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

// An index value and its conversion.
struct value {
    struct ir_expr *index; // of type `int`
    struct ir_expr *flat;  // of type idx32 or idx64
};

// Convert an index value.
static struct value value_of(struct flatten *f, struct ir_expr *x)
{
    return (struct value){x, flatten_expr(f, x)};
}

// Return an operation on two values; narrow if they are and the result is,
// which is known if `small`.
static struct value combine(struct flatten *f, enum ir_op op, struct value x,
                            struct value y, bool small)
{
    struct value r = {.index = ir_binary(f->arena, op, x.index, y.index)};
    bool narrow = flatten_is_narrow(x.flat) && flatten_is_narrow(y.flat) &&
                  (small || flatten_stays_narrow(f, r.index));
    enum type_kind width = narrow ? TYPE_idx32 : TYPE_idx64;
    r.flat = ir_binary(f->arena, op, flatten_in_width(f, x.flat, width),
                       flatten_in_width(f, y.flat, width));
    return r;
}

// Return the distance of neighbours in a dimension of an array, if it is a
// number.
static bool distance_of(const struct ir_buffer *b, uint32_t dimension,
                        int64_t *out)
{
    int64_t extent;
    if (b->strides)
        return ir_int_value(b->strides[dimension], out);
    *out = 1;
    for (uint32_t i = dimension + 1; i < b->rank; i++)
        if (!ir_int_value(b->shape[i], &extent) || !num_mul(*out, extent, out))
            return false;
    return true;
}

// Take the constant part out of the index of a dimension, if it is a known
// number of elements, and add it to *constant.
static void split_constant(struct flatten *f, const struct ir_buffer *b,
                           uint32_t dimension, struct ir_expr **index,
                           int64_t *constant)
{
    int64_t distance, part, sum;
    struct affine form = affine_of(f->facts.arena, *index);
    if (form.failed || form.constant == 0 ||
        !distance_of(b, dimension, &distance) ||
        !num_mul(distance, form.constant, &part) ||
        !num_add(part, *constant, &sum) || sum > INT32_MAX / 2 ||
        sum < INT32_MIN / 2)
        return;
    *constant = sum;
    form.constant = 0;
    *index = affine_expr(f->arena, &form, (*index)->type);
}

// Return whether every offset in an array, give or take a number of elements,
// is proved to fit in 32 bits.
static bool is_small(struct flatten *f, const struct ir_buffer *b, int64_t give)
{
    bool is_ours = b->role == ROLE_alloc || !b->strides;
    return is_ours && flatten_is_at_most(f, layout_elements(f->arena, b),
                                         give < 0 ? -give : give);
}

// The operations among these that an expression contains.
struct divisions {
    bool quotient, remainder;
};

// Return which divisions are in an expression.
static struct divisions divisions_in(struct ir_expr *x)
{
    struct divisions found = {false, false};
    ir_foreach_expr(e, x) {
        found.quotient |= e->op == OP_div;
        found.remainder |= e->op == OP_mod;
    }
    return found;
}

// Return whether an expression divides.
static bool divides(struct ir_expr *x)
{
    struct divisions d = divisions_in(x);
    return d.quotient || d.remainder;
}

// Replace a variable by the quotient or remainder that it is known to be.
static struct ir_expr *expand_division(struct arena *a, struct ir_expr *x,
                                       void *context)
{
    const struct flatten *f = context;
    (void)a;
    const struct fact_var *known =
        x->op == OP_var ? facts_var(&f->facts, x->u.var) : NULL;
    return known && known->value && divides(known->value) ? known->value : x;
}

// Return the offset of an element whose indices divide if the offset itself
// does not, as that of A[q / n, q % n] in rows of n; NULL otherwise.  It takes a
// quotient and its remainder.
static struct ir_expr *whole_offset(struct flatten *f,
                                    const struct ir_buffer *b,
                                    struct ir_expr *const *index)
{
    struct ir_expr *sum = ir_int(f->arena, 0);
    for (uint32_t i = 0; i < b->rank && !b->strides; i++)
        sum = ir_add(f->arena, ir_mul(f->arena, sum, b->shape[i]),
                     ir_rewrite(f->arena, index[i], expand_division, f));
    struct divisions d = divisions_in(sum);
    if (!d.quotient || !d.remainder ||
        divides(fold_root(f->facts.arena, &f->facts, sum)))
        return NULL;
    sum = fold_expr(f->arena, &f->facts, sum);
    return divides(sum) ? NULL : sum;
}

// Return the number that the last index of an element is combined with, if the
// array is swizzled.
static struct value swizzle_mask(struct flatten *f, const struct ir_buffer *b,
                                 struct ir_expr *const *index)
{
    struct arena *a = f->arena;
    struct ir_swizzle s = b->swizzle;
    if (!s.bits)
        return (struct value){0};
    struct ir_expr *row = layout_row(a, b, index);
    struct ir_expr *some =
        s.shift ? ir_binary(a, OP_div, row, ir_int(a, (int64_t)1 << s.shift))
                : row;
    struct ir_expr *bits =
        ir_binary(a, OP_mod, some, ir_int(a, (int64_t)1 << s.bits));
    return value_of(
        f, fold_expr(a, &f->facts,
                     ir_mul(a, bits, ir_int(a, (int64_t)1 << s.base))));
}

// Return the strides by which indices are multiplied one by one, or NULL: those
// of the array, or the numbers that they are in one that is swizzled, so that
// what a loop does not change of an offset is a part of the sum.
static struct ir_expr **strides_of(struct flatten *f, const struct ir_buffer *b)
{
    int64_t distance;
    if (b->strides || !b->swizzle.bits)
        return b->strides;
    struct ir_expr **out = arena_array(f->arena, struct ir_expr *, b->rank);
    for (uint32_t i = 0; i < b->rank; i++) {
        if (!distance_of(b, i, &distance))
            return NULL;
        out[i] = ir_int(f->arena, distance);
    }
    return out;
}

// Return the offset of an element from its indices.
static struct ir_expr *flat_offset(struct flatten *f, const struct ir_buffer *b,
                                   struct ir_expr **index)
{
    int64_t constant = 0;
    struct ir_expr *whole = b->swizzle.bits ? NULL : whole_offset(f, b, index);
    struct value mask = swizzle_mask(f, b, index);
    uint32_t plain = mask.index ? b->rank - 1 : b->rank;
    if (whole)
        return value_of(f, whole).flat;
    for (uint32_t i = 0; i < plain; i++)
        split_constant(f, b, i, &index[i], &constant);
    bool small = is_small(f, b, constant);
    struct ir_expr *parts =
        mask.index ? NULL : flatten_parts(f, b, index, small);
    struct ir_expr **strides = strides_of(f, b);
    struct value sum = value_of(f, ir_int(f->arena, 0));
    for (uint32_t i = 0; i < b->rank && !parts; i++) {
        struct value term = value_of(f, index[i]);
        if (i == plain)
            term = combine(f, OP_bit_xor, term, mask, small);
        struct value scale = value_of(f, strides ? strides[i] : b->shape[i]);
        struct value *scaled = strides ? &term : &sum;
        if (strides || i > 0)
            *scaled = combine(f, OP_mul, *scaled, scale, small);
        sum = i > 0 ? combine(f, OP_add, sum, term, small) : term;
    }
    if (parts)
        sum.flat = parts;
    bool below = constant < 0;
    struct ir_expr *last = ir_int(f->arena, below ? -constant : constant);
    return combine(f, below ? OP_sub : OP_add, sum, value_of(f, last), small)
        .flat;
}

struct ir_expr *flatten_index(struct flatten *f, const struct ir_buffer *b,
                              struct ir_expr *const *index)
{
    struct ir_expr **scalar = arena_array(f->arena, struct ir_expr *, b->rank);
    unsigned lanes = 1;
    for (uint32_t i = 0; i < b->rank; i++) {
        bool is_ramp = index[i]->op == OP_ramp;
        lanes = is_ramp ? index[i]->type.lanes : lanes;
        scalar[i] = is_ramp ? index[i]->args[0] : index[i];
    }
    struct ir_expr *offset = flat_offset(f, b, scalar);
    return lanes > 1 ? ir_ramp(f->arena, offset, lanes) : offset;
}

// Return the rank of a block, not by a name that stands for a remainder: one on
// the block's index is its own (nvptx/emit_cluster.c).
static struct ir_expr *flatten_rank(struct flatten *f, struct ir_expr *rank)
{
    return flatten_expr(f, ir_rewrite(f->arena, rank, expand_division, f));
}

struct ir_expr **flatten_indices(struct flatten *f, const struct ir_buffer *b,
                                 struct ir_expr *const *index)
{
    struct ir_expr **out = arena_array(f->arena, struct ir_expr *, 2);
    if (!b->of_cluster) {
        out[0] = flatten_index(f, b, index);
        return out;
    }
    struct ir_buffer part = layout_in_block(f->arena, b);
    out[0] = flatten_rank(f, index[0]);
    out[1] = flatten_index(f, &part, index + 1);
    return out;
}
