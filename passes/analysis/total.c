// Whether an expression may be evaluated where nobody asked for it.

#include "passes/analysis/facts.h"

#include "ir/build.h"
#include "ir/walk.h"

// A look at the operations of an expression.
struct look {
    const struct facts *facts;
    bool is_total;
};

// Note a quotient that is not defined for all that is known of its operands.
static void see_quotient(struct ir_expr *x, void *context)
{
    struct look *l = context;
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    if (!divides || !type_is_integer(x->type))
        return;
    if (facts_range(l->facts, x->args[1]).lo <= 0)
        l->is_total = false;
    if (x->op != OP_ceildiv || !l->is_total)
        return;
    struct affine whole = affine_of(l->facts->arena, x->args[0]);
    l->is_total = facts_nonnegative(l->facts, &whole);
}

bool facts_is_total(const struct facts *f, struct ir_expr *x)
{
    struct look l = {f, true};
    ir_each_expr(x, see_quotient, &l);
    return l.is_total;
}

bool facts_is_within(const struct facts *f, struct ir_expr *index,
                     struct ir_expr *extent)
{
    struct affine x = affine_of(f->arena, index), one = affine_number(1);
    struct affine room = affine_of(f->arena, extent);
    room = affine_add(f->arena, &room, -1, &x);
    room = affine_add(f->arena, &room, -1, &one);
    return ir_is_stable(index) && facts_nonnegative(f, &x) &&
           facts_nonnegative(f, &room);
}

// Note what may fault: integer operations that are not defined for all
// operands, and reads that are not proved to lie in their array.
static void see_fault(struct ir_expr *x, void *context)
{
    struct look *l = context;
    unsigned flags = ir_op_info(x->op)->flags;
    bool partial = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv ||
                   x->op == OP_shl || x->op == OP_shr;
    if (partial && type_is_integer(x->type) && !ir_is_const(x->args[1]))
        l->is_total = false;
    if ((flags & (OP_WRITES | OP_TOGETHER)) || x->type.lanes > 1 ||
        (type_is_index(x->type) && !ir_is_stable(x)))
        l->is_total = false;
    for (uint32_t d = 0; x->op == OP_load && d < x->n && l->is_total; d++)
        l->is_total =
            facts_is_within(l->facts, x->args[d], x->u.buffer->shape[d]);
}

bool facts_is_safe(const struct facts *f, struct ir_expr *x)
{
    struct look l = {f, true};
    ir_each_expr(x, see_fault, &l);
    return l.is_total;
}
