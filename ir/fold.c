// Folds constants, neutral operands and vectors of equal lanes.
//
//   2 + 3  =>  5          x * 1  =>  x          true && x  =>  x
//   broadcast(a, 4) * broadcast(b, 4)  =>  broadcast(a * b, 4)
//
// A result is folded only if it is a finite number and no operation that
// would have read or written memory disappears.  Functions whose last bit depends on
// the library (exp, sin, pow ...) are left to the device.

#include "ir/fold.h"
#include "ir/arith.h"
#include "ir/build.h"

#include <math.h>

// Return whether every library and device computes the same last bit.
static bool is_reproducible(enum ir_op op)
{
    static const bool table[OP_COUNT] = {
        [OP_add] = true,  [OP_sub] = true,   [OP_mul] = true,
        [OP_div] = true,  [OP_neg] = true,   [OP_abs] = true,
        [OP_min] = true,  [OP_max] = true,   [OP_relu] = true,
        [OP_fma] = true,  [OP_sqrt] = true,  [OP_floor] = true,
        [OP_ceil] = true, [OP_trunc] = true, [OP_rint] = true,
        [OP_tf32] = true,
    };
    return table[op];
}

bool ir_is_reproducible(const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->op == OP_const || x->op == OP_var || x->op == OP_select ||
        x->op == OP_cast || x->op == OP_load || x->op == OP_and ||
        x->op == OP_or || x->op == OP_not)
        return true;
    if (!(flags & OP_PURE) || x->n == 0 || x->n > 3)
        return false;
    const struct arith *row = ir_arith(x->op);
    return type_is_float(x->args[0]->type) ? row->test || is_reproducible(x->op)
                                           : row->on_int != NULL;
}

// Return a constant of a type.
static struct ir_expr *number_const(struct arena *a, struct type t,
                                    union number x)
{
    return type_is_float(t) ? ir_const_float(a, t, x.f)
                            : ir_const_int(a, t, x.i);
}

// Return the number of a constant.
static union number const_number(const struct ir_expr *x)
{
    if (type_is_float(x->type))
        return (union number){.f = x->u.f};
    return (union number){.i = x->u.i};
}

// Fold an operation on scalar constants.
static struct ir_expr *fold_consts(struct arena *a, enum ir_op op, uint32_t n,
                                   struct ir_expr *const *args)
{
    const struct arith *row = ir_arith(op);
    struct type t = args[0]->type;
    bool is_float = type_is_float(t);
    if (is_float ? !row->test && !is_reproducible(op) : !row->on_int)
        return NULL;
    union number x[3] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        if (args[i]->op != OP_const)
            return NULL;
        x[i] = const_number(args[i]);
    }
    const char *fault = NULL;
    union number r = ir_apply(op, t, x, &fault);
    bool is_test = ir_op_info(op)->result == RESULT_BOOL;
    bool is_new = is_float && !is_test && op != OP_neg;
    if (fault || (is_new && !isfinite(r.f)))
        return NULL;
    return number_const(a, is_test ? type_scalar(TYPE_bool) : t, r);
}

// Return whether x is that number, in every lane.
static bool is_number(const struct ir_expr *x, int value)
{
    while (x->op == OP_broadcast)
        x = x->args[0];
    if (x->op != OP_const)
        return false;
    return type_is_float(x->type) ? x->u.f == value : x->u.i == value;
}

// Return x unless it reads or writes memory: then it must stay.
static struct ir_expr *instead_of(const struct ir_expr *dropped,
                                  struct ir_expr *x)
{
    return ir_is_pure(dropped, true) ? x : NULL;
}

// Fold ceildiv(ceildiv(x, m) * m, c), where c divides m: the tiles of a padded
// extent.  An `int` does not overflow.
static struct ir_expr *fold_tiles(struct arena *a, struct ir_expr *x,
                                  struct ir_expr *y)
{
    if (x->type.kind != TYPE_int || x->op != OP_mul || y->op != OP_const ||
        x->args[0]->op != OP_ceildiv || x->args[1]->op != OP_const)
        return NULL;
    int64_t m = x->args[1]->u.i, c = y->u.i;
    if (c < 1 || m % c)
        return NULL;
    return ir_mul(a, x->args[0], ir_const_int(a, y->type, m / c));
}

// Fold an operation on integers with a neutral or an absorbing operand.
static struct ir_expr *fold_int(struct arena *a, enum ir_op op,
                                struct ir_expr *x, struct ir_expr *y)
{
    bool y0 = is_number(y, 0), y1 = is_number(y, 1);
    switch ((int)op) {
    case OP_add: return y0 ? x : is_number(x, 0) ? y : NULL;
    case OP_mul:
        if (is_number(x, 0))
            return instead_of(y, x);
        if (y0)
            return instead_of(x, y);
        return y1 ? x : is_number(x, 1) ? y : NULL;
    case OP_mod: return y1 ? instead_of(x, ir_zero(a, x->type)) : NULL;
    case OP_div: return y1 ? x : NULL;
    case OP_ceildiv: return y1 ? x : fold_tiles(a, x, y);
    case OP_sub:
    case OP_shl:
    case OP_shr:
    case OP_bit_or:
    case OP_bit_xor: return y0 ? x : NULL;
    }
    return NULL;
}

// Fold an operation on floating numbers with a neutral operand.
static struct ir_expr *fold_float(enum ir_op op, struct ir_expr *x,
                                  struct ir_expr *y)
{
    bool y1 = is_number(y, 1);
    if (op == OP_mul)
        return y1 ? x : is_number(x, 1) ? y : NULL;
    return op == OP_div && y1 ? x : NULL;
}

// Fold `x && y` (neutral is true) or `x || y` (neutral is false).
static struct ir_expr *fold_logic(bool neutral, struct ir_expr *x,
                                  struct ir_expr *y)
{
    if (is_number(x, neutral))
        return y;
    if (is_number(x, !neutral))
        return x;
    if (is_number(y, neutral))
        return x;
    return is_number(y, !neutral) ? instead_of(x, y) : NULL;
}

// Fold an operation on two operands, not both constants.
static struct ir_expr *fold_two(struct arena *a, enum ir_op op,
                                struct ir_expr *x, struct ir_expr *y)
{
    if (op == OP_and || op == OP_or)
        return fold_logic(op == OP_and, x, y);
    if (type_is_float(x->type))
        return fold_float(op, x, y);
    return fold_int(a, op, x, y);
}

// Fold a choice whose condition is known.
static struct ir_expr *fold_select(struct ir_expr *const *args)
{
    if (is_number(args[0], 1))
        return args[1];
    if (is_number(args[0], 0))
        return args[2];
    return args[1] == args[2] ? instead_of(args[0], args[1]) : NULL;
}

// Fold an operation on broadcasts into the broadcast of one on scalars.
static struct ir_expr *fold_broadcasts(struct arena *a, enum ir_op op,
                                       uint32_t n, struct ir_expr *const *args)
{
    struct ir_expr *scalars[3];
    unsigned lanes = 1;
    for (uint32_t i = 0; i < n; i++) {
        bool is_vector = args[i]->type.lanes > 1;
        if (n > 3 || (is_vector && args[i]->op != OP_broadcast))
            return NULL;
        scalars[i] = is_vector ? args[i]->args[0] : args[i];
        lanes = is_vector ? args[i]->type.lanes : lanes;
    }
    if (lanes == 1 || op == OP_lanes || op == OP_dp4a)
        return NULL;
    return ir_broadcast(a, ir_call(a, op, n, scalars), lanes);
}

// Fold a ramp plus or minus a broadcast into a ramp.
static struct ir_expr *fold_ramp(struct arena *a, enum ir_op op,
                                 struct ir_expr *x, struct ir_expr *y)
{
    if (op == OP_add && x->op == OP_broadcast && y->op == OP_ramp)
        return ir_ramp(a, ir_add(a, x->args[0], y->args[0]), y->type.lanes);
    if ((op == OP_add || op == OP_sub) && x->op == OP_ramp &&
        y->op == OP_broadcast)
        return ir_ramp(a, ir_binary(a, op, x->args[0], y->args[0]),
                       x->type.lanes);
    return NULL;
}

struct ir_expr *ir_fold(struct arena *a, enum ir_op op, uint32_t n,
                        struct ir_expr *const *args)
{
    struct ir_expr *r = fold_broadcasts(a, op, n, args);
    if (r)
        return r;
    if (op == OP_select)
        return fold_select(args);
    if ((op == OP_neg || op == OP_not) && args[0]->op == op)
        return args[0]->args[0];
    if (n <= 3 && (r = fold_consts(a, op, n, args)))
        return r;
    if (n != 2)
        return NULL;
    r = fold_ramp(a, op, args[0], args[1]);
    return r ? r : fold_two(a, op, args[0], args[1]);
}

struct ir_expr *ir_fold_cast(struct arena *a, struct type type,
                             struct ir_expr *x)
{
    if (type_equal(type, x->type))
        return x;
    if (x->op == OP_broadcast)
        return ir_broadcast(a, ir_cast(a, type_scalar(type.kind), x->args[0]),
                            type.lanes);
    if (x->op != OP_const)
        return NULL;
    const char *fault = NULL;
    union number r = ir_convert(type, x->type, const_number(x), &fault);
    if (fault || (type_is_float(type) && !isfinite(r.f)))
        return NULL;
    return number_const(a, type, r);
}

struct ir_expr *ir_fold_lane(struct arena *a, struct ir_expr *vector,
                             unsigned k)
{
    if (vector->op == OP_broadcast)
        return vector->args[0];
    if (vector->op == OP_ramp)
        return ir_add(a, vector->args[0],
                      ir_const_int(a, vector->args[0]->type, k));
    if (vector->op == OP_lanes && ir_is_pure(vector, true))
        return vector->args[k];
    return NULL;
}
