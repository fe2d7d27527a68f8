// Whether an expression may be evaluated where nobody asked for it.

#include "passes/analysis/facts.h"

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
