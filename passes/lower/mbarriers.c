// The mbarriers of a ring.

#include "passes/lower/mbarriers.h"

#include "ir/build.h"

struct ir_buffer *mbarriers_new(struct pass *p, const char *name, int64_t n,
                                struct span span)
{
    struct ir_expr **shape = arena_new(p->arena, struct ir_expr *);
    shape[0] = ir_int(p->arena, n);
    struct ir_buffer *b = ir_buffer_new(p->arena, str_name(p->names, name),
                                        type_scalar(TYPE_u64), 1, shape);
    b->space = SPACE_shared;
    b->span = span;
    return b;
}

void mbarriers_append(struct arena *a, struct ir_block *out, enum ir_op op,
                      struct ir_buffer *barriers, struct ir_expr *slot,
                      struct ir_expr *operand, const struct ir_stmt *from)
{
    if (operand)
        operand = ir_cast(a, type_scalar(TYPE_u64), operand);
    struct ir_expr *x =
        ir_atomic(a, op, barriers, 1, &slot, operand ? 1 : 0, &operand);
    ir_append(a, out, ir_stmt_from(ir_stmt_eval(a, x), from));
}
