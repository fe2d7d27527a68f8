// What a reduction starts from.

#include "ir/neutral.h"

#include "ir/build.h"

#include <math.h>

enum neutral { NONE, ZERO, ONE, LOWEST, HIGHEST, ONES, FALSE, TRUE };

static const enum neutral neutrals[OP_COUNT] = {
    [OP_add] = ZERO,          [OP_mul] = ONE,
    [OP_min] = HIGHEST,       [OP_max] = LOWEST,
    [OP_and] = TRUE,          [OP_or] = FALSE,
    [OP_atomic_add] = ZERO,   [OP_atomic_min] = HIGHEST,
    [OP_atomic_max] = LOWEST, [OP_atomic_and] = ONES,
    [OP_atomic_or] = ZERO,    [OP_atomic_xor] = ZERO,
};

// Return the least or the greatest value of a type.
static struct ir_expr *extreme(struct arena *a, struct type type, bool is_most)
{
    unsigned bits = type_bits(type);
    int64_t least =
        type_is_signed(type) ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    int64_t most = type_is_signed(type) ? ~least : -1;
    if (type_is_float(type))
        return ir_const_float(a, type, is_most ? INFINITY : -INFINITY);
    return ir_const_int(a, type, is_most ? most : least);
}

struct ir_expr *ir_neutral(struct arena *a, enum ir_op op, struct type type)
{
    switch (neutrals[op]) {
    case NONE: return NULL;
    case ZERO: return ir_zero(a, type);
    case ONE:
        return type_is_float(type) ? ir_const_float(a, type, 1)
                                   : ir_const_int(a, type, 1);
    case LOWEST: return extreme(a, type, false);
    case HIGHEST: return extreme(a, type, true);
    case ONES: return ir_const_int(a, type, ir_wrap_int(type, -1));
    case FALSE: return ir_bool(a, false);
    case TRUE: return ir_bool(a, true);
    }
    return NULL;
}

const char *ir_neutral_text(enum ir_op op)
{
    switch (neutrals[op]) {
    case NONE: break;
    case ZERO: return "0";
    case ONE: return "1";
    case LOWEST: return "the least value";
    case HIGHEST: return "the greatest value";
    case ONES: return "all bits set";
    case FALSE: return "false";
    case TRUE: return "true";
    }
    return NULL;
}
