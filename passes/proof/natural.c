// Whether a value is never negative, by its form.

#include "passes/proof/natural.h"

#include "ir/build.h"
#include "ir/walk.h"

// Return whether the variable of a loop around, or a size, is natural.
static bool is_natural_var(const struct facts *f, const struct scope *scope,
                           const struct ir_var *var)
{
    if (var->kind == VAR_param)
        return type_is_index(var->type);
    while (scope && scope->var != var)
        scope = scope->up;
    return scope && ir_is_steady(scope->from) &&
           natural_is(f, scope->up, scope->from);
}

// Return whether a difference is natural by what is known of the sizes.
static bool is_natural_sum(const struct facts *f, struct ir_expr *x)
{
    struct affine form = affine_of(f->arena, x);
    return !form.failed && facts_nonnegative(f, &form);
}

bool natural_is(const struct facts *f, const struct scope *scope,
                struct ir_expr *x)
{
    int64_t value;
    if (ir_int_value(x, &value))
        return value >= 0;
    if (!type_is_index(x->type) || x->type.lanes != 1)
        return false;
    switch ((int)x->op) {
    case OP_index: return true;
    case OP_var: return is_natural_var(f, scope, x->u.var);
    case OP_add:
    case OP_mul:
    case OP_div:
    case OP_ceildiv:
    case OP_min:
        return (natural_is(f, scope, x->args[0]) &&
                natural_is(f, scope, x->args[1])) ||
               (x->op == OP_add && is_natural_sum(f, x));
    case OP_mod: return natural_is(f, scope, x->args[0]);
    case OP_max:
        return natural_is(f, scope, x->args[0]) ||
               natural_is(f, scope, x->args[1]);
    case OP_select:
        return natural_is(f, scope, x->args[1]) &&
               natural_is(f, scope, x->args[2]);
    case OP_sub: return is_natural_sum(f, x);
    case OP_cast: return facts_range(f, x).lo >= 0;
    default: return false;
    }
}

bool natural_is_sum(const struct facts *f, const struct scope *scope,
                    const struct affine *x)
{
    bool is_natural = !x->failed && x->constant >= 0;
    for (size_t i = 0; i < x->terms.n && is_natural; i++) {
        const struct affine_term *t = &x->terms.at[i];
        is_natural = t->factor > 0;
        for (uint32_t k = 0; k < t->n && is_natural; k++)
            is_natural = natural_is(f, scope, t->atoms[k]);
    }
    return is_natural;
}
