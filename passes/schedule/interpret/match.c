// Rules for kernels without a schedule: which stages a rule matches.
//
// A rule with `matches` is tried with every choice of stages for its parameters
// without a default.  What its pattern cannot ask of some stages, such as the
// second of one array, they do not match; a function that does not exist is an
// error.

#include "passes/schedule/interpret/interpret.h"
#include "passes/schedule/schedule.h"

#include "ir/stage.h"

enum { CHOICES_MOST = 4096 };

// A look for stages.
struct matching {
    struct pass *pass; // where errors go
    const struct sched_program *program;
    const struct sched_item *rule;
    struct ir_block stages;
    size_t n; // of parameters that are stages
};

// Return the call of the rule with choice number `at` of stages.
static struct sched_expr *call_with(const struct matching *m, size_t at)
{
    struct arena *a = m->pass->arena;
    struct sched_expr *call = arena_new(a, struct sched_expr);
    call->kind = SCHED_call;
    call->name = m->rule->name.text;
    call->span = m->pass->kernel->span;
    for (size_t i = 0; i < m->n; i++, at /= m->stages.n) {
        struct sched_expr *x = arena_new(a, struct sched_expr);
        x->kind = SCHED_name;
        x->name = str_name(m->pass->names,
                           sched_name_of(m->stages.at[at % m->stages.n]));
        x->span = call->span;
        vec_push(a, &call->args, x);
    }
    return call;
}

// Return whether the stages of a call are what the rule is for.
static bool matches(const struct matching *m, const struct sched_expr *call)
{
    struct sched_item schedule = {.name = m->rule->name,
                                  .rule = m->rule,
                                  .by = (struct sched_expr *)call};
    struct sched_frame outer = {.item = &schedule}, inner;
    struct interp in = {.pass = m->pass,
                        .program = m->program,
                        .frame = &outer,
                        .quiet = true,
                        .keeps = true};
    int64_t found;
    return interp_rule_frame(&in, &schedule, &inner) &&
           interp_int(&in, m->rule->pattern, "a pattern", &found) && found;
}

// Return whether a pattern has called what does not exist.
static bool is_broken(const struct diag_list *dropped)
{
    vec_foreach(d, &dropped->all)
        if (d->code == D_schedule_unknown_function)
            return true;
    return false;
}

struct sched_expr *schedule_match(struct pass *p,
                                  const struct sched_program *program,
                                  const struct sched_item *rule)
{
    struct diag_list dropped = {.arena = p->scratch, .is_brief = true};
    struct pass quiet = *p;
    struct matching m = {.pass = &quiet, .program = program, .rule = rule};
    size_t choices = 1;
    quiet.diags = &dropped;
    m.stages = ir_stages_of(p->scratch, &p->kernel->body);
    m.n = sched_least_arguments(rule);
    for (size_t i = 0; i < m.n && choices <= CHOICES_MOST; i++)
        choices *= m.stages.n;
    for (size_t i = 0; i < choices && choices <= CHOICES_MOST; i++) {
        struct sched_expr *call = call_with(&m, i);
        if (matches(&m, call))
            return call;
        if (!is_broken(&dropped))
            continue;
        m.pass = p;
        matches(&m, call);
        return NULL;
    }
    return NULL;
}
