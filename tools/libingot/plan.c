// The schedules of a kernel that has none: the cases of the first rule that
// matches it, those of the program before those of the library.  Cases for
// architectures that are not in the build are not applied.

#include "tools/libingot/plan.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/target_set.h"

// When a kernel has so many cases, no further rule is asked for more.
enum { CASES_MOST = 64 };

// Set `why` to what kept a schedule from being applied, unless nobody asks.  Returns
// NULL.
static struct planned *refused(struct compilation *c,
                               const struct diag_list *diags, const char **why)
{
    if (why)
        *why = diag_first_error(&c->arena, diags);
    return NULL;
}

// Return whether the faults of a rule are reported: they are where its author builds. Of
// the library's rules that is a checked build, so that its tests find them.
static bool tells_author(const struct compilation *c,
                         const struct sched_item *rule)
{
#if INGOT_CHECKED
    (void)c;
    return rule != NULL;
#else
    vec_foreach_value(own, &c->program.schedules.rules)
        if (own == rule)
            return true;
    return false;
#endif
}

// Report, once, that a guard of a rule that was found is none: an integer beside `&&`, a size that the
// rule does not have. That is a fault of the rule, whatever the kernel.
static void tell_author(struct compilation *c, const struct sched_item *item,
                        const struct diag_list *diags)
{
    const struct diag *first = diags->all.n ? &diags->all.at[0] : NULL;
    if (first && first->code == D_schedule_guard && item->is_planned &&
        tells_author(c, item->rule) &&
        !diag_was_said(&c->diags, first->span, first->code))
        diag_append(&c->diags, diags);
}

// Return the sizes that a schedule takes, by its guard and what its directives
// required of a copy of the kernel, over the kernel's own parameters; NULL: all.
static struct ir_expr *sizes_of(struct compilation *c,
                                const struct ir_kernel *kernel,
                                const struct planned *one)
{
    struct map vars = {.arena = &c->arena};
    struct ir_expr *all = one->guard;
    for (size_t i = 0; i < kernel->params.n; i++) {
        struct ir_var *var = kernel->params.at[i].var;
        if (var)
            map_set(&vars, one->kernel->params.at[i].var,
                    ir_read(&c->arena, var));
    }
    vec_foreach_value(required, &one->outcome->required) {
        struct ir_expr *own = ir_substitute(&c->arena, required, &vars, NULL);
        all = all ? ir_binary(&c->arena, OP_and, all, own) : own;
    }
    return all;
}

struct planned *plan_apply(struct compilation *c,
                           const struct compile_options *o,
                           const struct ir_kernel *kernel,
                           const struct sched_item *item,
                           const struct sched_settings *settings,
                           struct sched_known *known, const char **why)
{
    struct sched_known own = {.kernel = kernel, .sizes.arena = &c->arena};
    struct planned *one = arena_new(&c->arena, struct planned);
    one->source = kernel;
    one->diags = (struct diag_list){.arena = &c->arena, .is_brief = true};
    struct pass p = {.kernel = (struct ir_kernel *)kernel,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &one->diags,
                     .asked = &c->asked,
                     .known = known ? known : &own};
    if (!schedule_guard(&p, &c->program.schedules, item, settings->at,
                        settings->n, &one->guard)) {
        tell_author(c, item, &one->diags);
        return refused(c, &one->diags, why);
    }
    if (schedule_excludes(kernel, item, one->guard))
        return one;
    one->kernel = p.kernel = ir_copy_kernel(&c->arena, kernel);
    p.kernel->fast_math |= o->fast_math;
    one->outcome = arena_new(&c->arena, struct sched_outcome);
    bool ok = schedule_apply(&p, &c->program.schedules, item, settings->at,
                             settings->n, one->outcome) &&
              schedule_complete(&p, &c->program.schedules);
    if (!ok)
        return refused(c, &one->diags, why);
    one->sizes = sizes_of(c, kernel, one);
    return one;
}

// Return whether a case is for an architecture of the build; what it names wrong is
// reported where schedules are chosen.
static bool is_built(struct compilation *c, const struct compile_options *o,
                     const struct sched_item *item)
{
    struct diag_list dropped = {.arena = &c->scratch, .is_brief = true};
    target_set own;
    return !target_set_find(&c->scratch, item, &dropped, &own) ||
           own & target_set_of_build(o);
}

struct planned *plan_find(const struct compilation *c,
                          const struct ir_kernel *kernel,
                          const struct sched_item *item)
{
    struct planned *one = map_get(&c->planned, item);
    return one && one->source == kernel ? one : NULL;
}

void plan_case(struct compilation *c, const struct compile_options *o,
               const struct ir_kernel *kernel, const struct sched_item *item)
{
    if (!is_built(c, o, item))
        return;
    struct planned *one =
        plan_apply(c, o, kernel, item, &(struct sched_settings){0}, NULL, NULL);
    if (one)
        map_set(&c->planned, item, one);
}

// Apply the cases of a rule to copies of a kernel, and keep these; false if one
// cannot be applied, which is noted.
static bool applies(struct compilation *c, const struct compile_options *o,
                    const struct ir_kernel *kernel,
                    const struct sched_items *cases)
{
    struct arena_mark here = arena_mark(&c->scratch);
    struct sched_known known = {.kernel = kernel, .sizes.arena = &c->arena};
    for (size_t i = 0; i < cases->n; i++) {
        struct refused_case tried = {kernel, cases->at[i], i + 1, NULL};
        struct planned *one;
        if (!is_built(c, o, tried.item))
            continue;
        one = plan_apply(c, o, kernel, tried.item, &(struct sched_settings){0},
                         &known, &tried.why);
        arena_release(&c->scratch, here);
        if (!one) {
            vec_push(&c->arena, &c->refused, tried);
            return false;
        }
        map_set(&c->planned, tried.item, one);
    }
    return true;
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

// Set `cases` to those of a rule for a kernel, if its pattern is true of some stages
// and all can be applied.  Returns whether.
static bool match(struct compilation *c, const struct compile_options *o,
                  const struct ir_kernel *kernel, const struct sched_item *rule,
                  struct sched_items *cases)
{
    struct pass p = {.kernel = (struct ir_kernel *)kernel,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &c->diags};
    struct sched_item schedule = {.name = {kernel->name, kernel->span},
                                  .is_planned = true};
    *cases = (struct sched_items){0};
    if (!rule->pattern)
        return false;
    schedule.by = schedule_match(&p, &c->program.schedules, rule);
    if (schedule.by)
        sched_add_cases(&c->arena, &schedule, rule, cases);
    if (!cases->n || !applies(c, o, kernel, cases))
        return false;
    vec_append(&c->arena, &c->cases, cases);
    return true;
}

bool plan_kernel(struct compilation *c, const struct compile_options *o,
                 const struct ir_kernel *kernel, struct sched_items *out)
{
    if (is_definition(c, kernel))
        return false;
    for (const struct sched_program *from = &c->program.schedules; from;
         from = from->fallback)
        vec_foreach_value(rule, &from->rules)
            if (match(c, o, kernel, rule, out))
                return true;
    return false;
}

void plan_more(struct compilation *c, const struct compile_options *o,
               const struct ir_kernel *kernel, struct sched_items *items)
{
    const struct sched_item *first = items->n ? items->at[0]->rule : NULL;
    bool is_behind = false;
    if (!items->n)
        plan_defaults(c, o, kernel, items);
    if (!first || !items->at[0]->is_planned)
        return;
    for (const struct sched_program *from = &c->program.schedules; from;
         from = from->fallback)
        vec_foreach_value(rule, &from->rules) {
            struct sched_items cases;
            if (is_behind && items->n < CASES_MOST &&
                match(c, o, kernel, rule, &cases))
                vec_append(&c->arena, items, &cases);
            is_behind |= rule == first;
        }
}
