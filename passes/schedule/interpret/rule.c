// Cases of rules: a rule has parameters, as a def has, and names for its cases.

#include "ir/build.h"
#include "passes/schedule/interpret/interpret.h"

// Run `name = value` in front of cases: a condition or a number of sizes is what
// it is in a guard.
static bool run_size(struct interp *in, const struct sched_stmt *s)
{
    struct ir_expr *known = interp_known(in, s);
    struct ir_expr *x = known ? known : interp_guard(in, s->value);
    struct sched_value v = {
        .kind = VALUE_expr, .span = s->value->span, .expr = x};
    if (x && x->type.kind == TYPE_int && ir_int_value(x, &v.number))
        v.kind = VALUE_int;
    if (x)
        interp_set(in, s->names.at[0].text, &v);
    interp_know(in, s, x);
    return x != NULL;
}

// Run what stands in front of the cases of a rule.
static bool run_names(struct interp *in, const struct sched_block *names)
{
    bool ok = true;
    for (size_t i = 0; i < names->n && ok; i++) {
        struct sched_block one = {names->at + i, 1, 1};
        const struct sched_stmt *s = names->at[i];
        bool is_size = s->kind == SCHED_assign && s->names.n == 1 &&
                       interp_is_size(in, s->value);
        ok = is_size ? run_size(in, s) : interp_block(in, &one);
    }
    return ok;
}

bool interp_rule_frame(struct interp *in, const struct sched_item *schedule,
                       struct sched_frame *frame)
{
    *frame = (struct sched_frame){.item = schedule->rule,
                                  .caller = in->frame,
                                  .call = schedule->by->span};
    bool ok = interp_bind(in, schedule->by, frame, interp_expr);
    if (ok)
        in->frame = frame;
    return ok;
}

bool interp_rule(struct interp *in, const struct sched_item *schedule,
                 struct sched_frame *frame)
{
    const struct sched_item *rule = schedule->rule;
    int errors = in->pass->diags->errors;
    if (!interp_rule_frame(in, schedule, frame))
        return false;
    in->keeps = true;
    bool ok = run_names(in, &rule->body);
    in->keeps = false;
    frame->item = schedule;
    if (!ok && in->pass->diags->errors > errors)
        diag_note(in->pass->diags, schedule->by->span, "the rule is for this");
    return ok;
}
