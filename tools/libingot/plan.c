// The schedules of a kernel that has none: the cases of the first rule that
// matches it, those of the program before those of the library.

#include "tools/libingot/plan.h"

#include "ir/copy.h"
#include "passes/schedule/schedule.h"

// Return whether all cases of a rule can be applied to a kernel; nothing is said
// of what cannot.
static bool applies(struct compilation *c, const struct ir_kernel *kernel,
                    const struct sched_items *cases)
{
    struct diag_list dropped = {.arena = &c->scratch, .is_brief = true};
    bool ok = true;
    for (size_t i = 0; ok && i < cases->n; i++) {
        struct pass p = {.kernel = ir_copy_kernel(&c->scratch, kernel),
                         .arena = &c->scratch,
                         .scratch = &c->scratch,
                         .names = &c->names,
                         .diags = &dropped};
        struct ir_expr *guard = NULL;
        ok = schedule_guard(&p, &c->program.schedules, cases->at[i], NULL, 0,
                            &guard);
        if (ok && !schedule_excludes(kernel, cases->at[i], guard))
            ok = schedule_apply(&p, &c->program.schedules, cases->at[i], NULL,
                                0, NULL) &&
                 schedule_complete(&p);
    }
    return ok;
}

// Return whether a kernel of the program has the results of this one: what that
// is compared with stays as plain as it is written.
static bool is_definition(const struct compilation *c,
                          const struct ir_kernel *kernel)
{
    vec_foreach_value(other, &c->program.kernels)
        if (other->definition == kernel)
            return true;
    return false;
}

bool plan_kernel(struct compilation *c, const struct ir_kernel *kernel,
                 struct sched_items *out)
{
    struct pass p = {.kernel = (struct ir_kernel *)kernel,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &c->diags};
    struct sched_item schedule = {.name = {kernel->name, kernel->span},
                                  .is_planned = true};
    if (is_definition(c, kernel))
        return false;
    for (const struct sched_program *from = &c->program.schedules; from;
         from = from->fallback) {
        vec_foreach_value(rule, &from->rules) {
            struct sched_items cases = {0};
            if (!rule->pattern)
                continue;
            schedule.by = schedule_match(&p, &c->program.schedules, rule);
            if (schedule.by)
                sched_add_cases(&c->arena, &schedule, rule, &cases);
            if (!cases.n || !applies(c, kernel, &cases))
                continue;
            *out = cases;
            return true;
        }
    }
    return false;
}
