// Schedules by rules: each becomes the cases of its rule.

#include "ir/base/suggest.h"
#include "ir/schedule.h"

#include <string.h>

// Return the rule that a call names, of the program or else of its library;
// NULL, reported, if there is none.
static const struct sched_item *find_rule(const struct sched_program *program,
                                          const struct sched_expr *call,
                                          struct diag_list *diags)
{
    struct suggest s = {.wanted = call->name};
    for (const struct sched_program *p = program; p; p = p->fallback) {
        const struct sched_item *found = sched_find_item(&p->rules, call->name);
        if (found)
            return found;
        vec_foreach_value(rule, &p->rules)
            suggest_offer(&s, rule->name.text);
    }
    diag_error(diags, call->span, D_rule_unknown, call->name);
    suggest_help(diags, &s);
    return NULL;
}

// Report a call with more arguments than its rule has, or too few.
static bool check_count(const struct sched_item *rule,
                        const struct sched_expr *call, struct diag_list *diags)
{
    size_t least = sched_least_arguments(rule);
    if (call->args.n >= least && call->args.n <= rule->params.n)
        return true;
    diag_error(diags, call->span, D_rule_arguments, call->name,
               (long long)least, (long long)rule->params.n,
               (long long)call->args.n);
    return diag_note(diags, rule->name.span, "the rule is here");
}

void sched_add_cases(struct arena *a, const struct sched_item *schedule,
                     const struct sched_item *rule, struct sched_items *out)
{
    sched_read(rule);
    vec_foreach_value(c, &rule->cases) {
        struct sched_item *one = arena_new(a, struct sched_item);
        *one = *c;
        one->name.text = schedule->name.text;
        one->others.n = 0;
        vec_append(a, &one->others, &schedule->others);
        one->by = schedule->by;
        one->is_planned = schedule->is_planned;
        vec_push(a, out, one);
    }
}

void sched_expand_rules(struct arena *a, struct sched_program *program,
                        struct diag_list *diags)
{
    struct sched_items out = {0};
    vec_foreach_value(item, &program->schedules) {
        if (!item->by || item->rule) {
            vec_push(a, &out, item);
            continue;
        }
        const struct sched_item *rule = find_rule(program, item->by, diags);
        if (rule && check_count(rule, item->by, diags))
            sched_add_cases(a, item, rule, &out);
    }
    program->schedules = out;
}
