// Bounds of expressions by interval arithmetic.

#include "ir/build.h"
#include "passes/analysis/facts.h"

enum { SMS_MOST = 65535 };

// Return the range of an index value: of the launch around, or of its axis.
static struct interval index_range(const struct facts *f, enum axis axis)
{
    int d = axis_dimension(axis);
    int64_t most = axis_most(axis);
    if (!f->launch)
        return (struct interval){0, most ? most - 1 : INT64_MAX};
    if (axis_kind(axis) == AXIS_THREAD)
        return (struct interval){0, (int64_t)f->launch->block[d] - 1};
    int64_t grid = facts_range(f, f->launch->grid[d]).hi;
    if (grid > most)
        grid = most;
    return (struct interval){0, grid > 0 ? grid - 1 : 0};
}

// Return the range of a variable.
static struct interval var_range(const struct facts *f,
                                 const struct ir_var *var)
{
    const struct fact_var *known = facts_var(f, var);
    return known && var->kind != VAR_mutable ? known->range
                                             : interval_of_type(var->type);
}

// Return the range of x << y or x >> y for x >= 0.
static struct interval shift_range(struct interval x, struct interval y,
                                   bool left)
{
    if (x.lo < 0 || y.lo < 0 || y.hi > 62)
        return interval_all();
    struct interval by = {INT64_C(1) << y.lo, INT64_C(1) << y.hi};
    return left ? interval_mul(x, by) : interval_div(x, by);
}

// Return the range of x & y, x | y or x ^ y of numbers that are not negative.
static struct interval bits_range(enum ir_op op, struct interval x,
                                  struct interval y)
{
    if (op == OP_bit_and && (x.lo >= 0 || y.lo >= 0)) {
        int64_t most = x.lo < 0 || (y.lo >= 0 && y.hi < x.hi) ? y.hi : x.hi;
        return (struct interval){0, most};
    }
    if (x.lo < 0 || y.lo < 0)
        return interval_all();
    int64_t most = 1, all = x.hi > y.hi ? x.hi : y.hi;
    while (most <= all && most < INT64_MAX / 2)
        most *= 2;
    return (struct interval){0, most <= all ? INT64_MAX : most - 1};
}

// Return the range of |x|.
static struct interval abs_range(struct interval x)
{
    struct interval both = interval_union(x, interval_negate(x));
    both.lo = x.lo > 0 ? x.lo : 0;
    return both;
}

// Return the range of the upper half of a product of u32.
static struct interval upper_half_range(struct interval x, struct interval y)
{
    uint64_t most = (uint64_t)x.hi * (uint64_t)y.hi >> 32;
    return (struct interval){0, (int64_t)most};
}

// Return the range of the number of blocks that run at a time.
static struct interval resident_range(struct interval each)
{
    return interval_mul(each, (struct interval){1, SMS_MOST});
}

// Return the range of an operation, in exact arithmetic.
static struct interval exact_range(const struct facts *f,
                                   const struct ir_expr *x)
{
    struct interval r[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (uint32_t i = 0; i < x->n && i < 3; i++)
        r[i] = facts_range(f, x->args[i]);
    switch ((int)x->op) {
    case OP_add: return interval_add(r[0], r[1]);
    case OP_sub: return interval_add(r[0], interval_negate(r[1]));
    case OP_mul: return interval_mul(r[0], r[1]);
    case OP_div: return interval_div(r[0], r[1]);
    case OP_mod: return interval_mod(r[0], r[1]);
    case OP_ceildiv: return interval_ceildiv(r[0], r[1]);
    case OP_neg: return interval_negate(r[0]);
    case OP_min: return interval_min(r[0], r[1]);
    case OP_max: return interval_max(r[0], r[1]);
    case OP_abs: return abs_range(r[0]);
    case OP_popcount: return (struct interval){0, type_bits(x->type)};
    case OP_mulhi: return upper_half_range(r[0], r[1]);
    case OP_select: return interval_union(r[1], r[2]);
    case OP_shl: return shift_range(r[0], r[1], true);
    case OP_shr: return shift_range(r[0], r[1], false);
    case OP_bit_and:
    case OP_bit_or:
    case OP_bit_xor: return bits_range(x->op, r[0], r[1]);
    case OP_cast: return r[0];
    case OP_resident: return resident_range(r[0]);
    default: return interval_all();
    }
}

struct interval facts_range(const struct facts *f, const struct ir_expr *x)
{
    int64_t value;
    if (ir_int_value(x, &value))
        return interval_of(value);
    struct interval all = interval_of_type(x->type);
    if (!type_is_integer(x->type) || x->type.lanes != 1)
        return all;
    if (x->op == OP_var)
        return var_range(f, x->u.var);
    if (x->op == OP_index)
        return index_range(f, x->u.axis);
    bool from_float = x->op == OP_cast && !type_is_integer(x->args[0]->type) &&
                      x->args[0]->type.kind != TYPE_bool;
    bool is_unsigned_64 = type_bits(x->type) == 64 && !type_is_signed(x->type);
    if (from_float || is_unsigned_64)
        return all;
    struct interval r = exact_range(f, x);
    return interval_within(r, all) ? r : all;
}

struct interval facts_range_of(const struct facts *f, const struct affine *x)
{
    if (x->failed)
        return interval_all();
    struct interval sum = interval_of(x->constant);
    vec_foreach(t, &x->terms) {
        struct interval product = interval_of(t->factor);
        for (uint32_t j = 0; j < t->n; j++)
            product = interval_mul(product, facts_range(f, t->atoms[j]));
        sum = interval_add(sum, product);
    }
    return sum;
}
