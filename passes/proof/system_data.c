// Elements of inputs: a kernel's text may say between which numbers they are.
//
//   range at in 0..n      A[at[i]]      =>      0 <= at[i] < n
//
// That holds where the element exists, which is a claim of its own.

#include "passes/proof/system_parts.h"

enum { STEPS_MOST = 8 };

// Return whether a conversion keeps the value of every integer: an index that
// cannot hold one is a fault.
static bool keeps_value(const struct ir_expr *x)
{
    struct type to = x->type, from = x->args[0]->type;
    return type_is_index(to) || (!type_is_float(to) && !type_is_float(from) &&
                                 type_is_signed(to) == type_is_signed(from) &&
                                 type_bits(to) >= type_bits(from));
}

// Return the range of what an expression, or what it names, is an element of;
// NULL if nothing is said.
static const struct ir_range *range_of(const struct system *s,
                                       const struct ir_expr *x)
{
    const struct ir_kernel *k = s->program->kernel;
    for (int i = 0; i < STEPS_MOST && x; i++) {
        if (x->op == OP_var)
            x = map_get(&s->program->elements, x->u.var);
        else if (x->op == OP_cast && keeps_value(x))
            x = x->args[0];
        else
            break;
    }
    if (!x || x->op != OP_load || type_is_float(x->u.buffer->elem) ||
        x->u.buffer->role != ROLE_input)
        return NULL;
    vec_foreach(r, &k->terms.ranges) {
        if (k->params.at[r->parameter].buffer == x->u.buffer)
            return r;
    }
    return NULL;
}

bool system_is_said(const struct system *s, const struct ir_expr *x)
{
    return range_of(s, x) != NULL;
}

void system_require_said(struct system *s, const struct ir_expr *x,
                         const struct sum *value, enum side side)
{
    const struct ir_range *r = range_of(s, x);
    if (r && system_counts(s, r->low)) {
        struct sum low = system_value(s, r->low, side);
        linear_require(&s->linear, value, &low, 0);
    }
    if (r && system_counts(s, r->high)) {
        struct sum high = system_value(s, r->high, side);
        linear_require(&s->linear, &high, value, -1);
    }
}
