// Magnitudes by rewriting: the terms of a store are taken by their absolute
// values.

#include "tools/ingot/magnitude.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

// Return the sum, product ... of operands by their magnitudes.
static struct ir_expr *magnitude(struct arena *a, struct ir_expr *x)
{
    struct ir_expr **args = x->args;
    switch ((int)x->op) {
    case OP_neg: return magnitude(a, args[0]);
    case OP_add:
    case OP_sub:
        return ir_binary(a, OP_add, magnitude(a, args[0]),
                         magnitude(a, args[1]));
    case OP_mul:
        return ir_binary(a, OP_mul, magnitude(a, args[0]),
                         magnitude(a, args[1]));
    case OP_div:
        return ir_binary(a, OP_div, magnitude(a, args[0]),
                         ir_unary(a, OP_abs, args[1]));
    case OP_fma:
        return ir_binary(
            a, OP_add,
            ir_binary(a, OP_mul, magnitude(a, args[0]), magnitude(a, args[1])),
            magnitude(a, args[2]));
    case OP_select:
        return ir_select(a, args[0], magnitude(a, args[1]),
                         magnitude(a, args[2]));
    case OP_cast:
        if (type_is_float(args[0]->type))
            return ir_cast(a, x->type, magnitude(a, args[0]));
        break;
    default: break;
    }
    return ir_unary(a, OP_abs, x);
}

struct ir_kernel *magnitude_of(struct arena *a, const struct ir_kernel *kernel,
                               size_t parameter)
{
    struct ir_kernel *copy = ir_copy_kernel(a, kernel);
    const struct ir_buffer *result = copy->params.at[parameter].buffer;
    ir_foreach_stmt(s, &copy->body)
        if (s->kind == STMT_store && s->u.store.buffer == result)
            s->u.store.value = magnitude(a, s->u.store.value);
    return copy;
}
