// What a schedule finds out while it runs: sizes, or kernels, that it is not for.
//
//   require(size(k) > 128)            =>   schedule C when ... && k > 128
//   refuse("rows are not neighbours")   =>   error: not for this kernel
//
// `when` and `matches` ask before the schedule runs; these ask what only some steps
// show.

#include "passes/schedule/interpret/interpret.h"

#include "ir/build.h"
#include "ir/equal.h"

// Report a condition that is none, and why.
static bool refuse(struct interp *in, const struct sched_value *v,
                   const char *wrong)
{
    return diag_error(in->pass->diags, v->span, D_schedule_guard, wrong);
}

bool interp_require(struct interp *in, const struct sched_values *args,
                    struct sched_value *out)
{
    const struct sched_value *v = &args->at[0];
    struct ir_conditions *guard = &in->pass->kernel->guard;
    (void)out;
    if (in->keeps)
        return diag_error(in->pass->diags, v->span, D_rule_changes, "require");
    if (v->expr->type.kind != TYPE_bool)
        return refuse(in, v, "it is not a condition");
    if (!ir_is_of_params(v->expr))
        return refuse(in, v, "a loop or data decide about it, not sizes alone");
    if (v->expr->op == OP_const)
        return v->expr->u.i || refuse(in, v, "it does not hold");
    for (size_t i = 0; i < guard->n; i++)
        if (ir_expr_equal(guard->at[i], v->expr))
            return true;
    vec_push(in->pass->arena, guard, v->expr);
    vec_push(in->pass->arena, &in->required, v->expr);
    return true;
}

bool interp_refuse(struct interp *in, const struct sched_values *args,
                   struct sched_value *out)
{
    (void)out;
    return diag_error(in->pass->diags, args->at[0].span, D_schedule_refused,
                      in->pass->kernel->name, args->at[0].key);
}
