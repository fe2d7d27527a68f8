// Stores that copy an element of another array as it is.

#include "passes/analysis/copies.h"

#include "ir/build.h"

#include <math.h>

// Return whether an expression is 0, in every lane.
static bool is_zero(const struct ir_expr *x)
{
    if (x->op == OP_broadcast)
        return is_zero(x->args[0]);
    if (x->op != OP_const)
        return false;
    return type_is_float(x->type) ? x->u.f == 0 && !signbit(x->u.f)
                                  : x->u.i == 0;
}

const struct ir_expr *copies_source(const struct ir_stmt *store)
{
    const struct ir_expr *x = store->u.store.value;
    if (x->op == OP_select && x->args[0]->type.lanes == 1 &&
        ir_is_pure(x->args[0], true) && is_zero(x->args[2]))
        x = x->args[1];
    return x->op == OP_load ? x : NULL;
}

bool copies_can_be_async(const struct ir_stmt *store)
{
    const struct ir_expr *from = copies_source(store);
    const struct ir_buffer *to = store->u.store.buffer;
    size_t bytes = type_bytes(store->u.store.value->type);
    return from && from->u.buffer->space == SPACE_global &&
           to->space == SPACE_shared &&
           (bytes == 4 || bytes == 8 || bytes == 16);
}
