// The schedules of a kernel that has none: the cases of the first rule that
// matches it, those of the program before those of the library.  Cases for
// architectures that are not in the build are not applied.
//
// A rule whose first case cannot be applied is left soon; else the other cases are
// applied at the same time, each in memory of its own.

#include "tools/libingot/plan.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/jobs.h"
#include "tools/libingot/target_set.h"

// When a kernel has so many cases, no further rule is asked for more.
enum { CASES_MOST = 64 };

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
static struct ir_expr *sizes_of(struct arena *a, const struct ir_kernel *kernel,
                                const struct planned *one)
{
    struct map vars = {.arena = a};
    struct ir_expr *all = one->guard;
    for (size_t i = 0; i < kernel->params.n; i++) {
        struct ir_var *var = kernel->params.at[i].var;
        if (var)
            map_set(&vars, one->kernel->params.at[i].var, ir_read(a, var));
    }
    vec_foreach_value(required, &one->outcome->required) {
        struct ir_expr *own = ir_substitute(a, required, &vars, NULL);
        all = all ? ir_binary(a, OP_and, all, own) : own;
    }
    return all;
}

// Memory that one thread uses, and what it counts.
struct room {
    struct arena *arena, *scratch;
    size_t asked; // of isl
};

// Apply a schedule as plan_apply does, in a room; `is_refused` is set if that fails.
static struct planned *apply(const struct compilation *c,
                             const struct compile_options *o,
                             const struct ir_kernel *kernel,
                             const struct sched_item *item,
                             const struct sched_settings *settings,
                             struct sched_known *known, struct room *room)
{
    struct planned *one = arena_new(room->arena, struct planned);
    one->source = kernel;
    one->diags = (struct diag_list){.arena = room->arena, .is_brief = true};
    struct pass p = {.kernel = (struct ir_kernel *)kernel,
                     .arena = room->arena,
                     .scratch = room->scratch,
                     .names = (struct str_table *)&c->names,
                     .diags = &one->diags,
                     .asked = &room->asked,
                     .known = known};
    one->is_refused = !schedule_guard(&p, &c->program.schedules, item,
                                      settings->at, settings->n, &one->guard);
    if (one->is_refused || schedule_excludes(kernel, item, one->guard))
        return one;
    one->kernel = p.kernel = ir_copy_kernel(room->arena, kernel);
    p.kernel->fast_math |= o->fast_math;
    one->outcome = arena_new(room->arena, struct sched_outcome);
    bool ok = schedule_apply(&p, &c->program.schedules, item, settings->at,
                             settings->n, one->outcome) &&
              schedule_complete(&p, &c->program.schedules);
    one->is_refused = !ok;
    one->sizes = ok ? sizes_of(room->arena, kernel, one) : NULL;
    return one;
}

// Note what a schedule was found to make of a kernel.  Returns it; NULL if it could not be
// applied, with the first error in `why`.
static struct planned *settle(struct compilation *c,
                              const struct sched_item *item,
                              struct planned *one, const char **why)
{
    if (!one->is_refused)
        return one;
    tell_author(c, item, &one->diags);
    if (why)
        *why = diag_first_error(&c->arena, &one->diags);
    return NULL;
}

struct planned *plan_apply(struct compilation *c,
                           const struct compile_options *o,
                           const struct ir_kernel *kernel,
                           const struct sched_item *item,
                           const struct sched_settings *settings,
                           struct sched_known *known, const char **why)
{
    struct sched_known own = {.kernel = kernel, .sizes.arena = &c->arena};
    struct room room = {.arena = &c->arena, .scratch = &c->scratch};
    struct planned *one =
        apply(c, o, kernel, item, settings, known ? known : &own, &room);
    c->asked += room.asked;
    return settle(c, item, one, why);
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

// A case of a rule, and what applying it has made.
struct attempt {
    const struct sched_item *item;
    size_t number; // of the case in the rule, from 1
    struct planned *made;
    struct arena *arena;
    size_t asked;
};

// Attempts at the same time.
struct attempts {
    const struct compilation *c;
    const struct compile_options *o;
    const struct ir_kernel *kernel;
    const struct sched_known *known; // what the first case has found
    struct VEC(struct attempt) all;
};

// Apply one case, in memory of its own.
static void apply_part(void *context, size_t i)
{
    struct attempts *t = context;
    struct attempt *one = &t->all.at[i];
    struct arena scratch = {0};
    struct room room = {.arena = one->arena, .scratch = &scratch};
    struct sched_known known = *t->known;
    map_own(&known.sizes, one->arena);
    one->made = apply(t->c, t->o, t->kernel, one->item,
                      &(struct sched_settings){0}, &known, &room);
    one->asked = room.asked;
    arena_reset(&scratch);
}

// Apply cases on several threads, which share the names.
static void apply_all(struct compilation *c, const struct compile_options *o,
                      struct attempts *t)
{
    pthread_mutex_t shared;
    pthread_mutexattr_t recursive;
    struct jobs jobs;
    vec_foreach(one, &t->all) {
        one->arena = arena_new(&c->arena, struct arena);
        vec_push(&c->arena, &c->arenas, one->arena);
    }
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&shared, &recursive);
    pthread_mutexattr_destroy(&recursive);
    jobs_start(&jobs, NULL, 0);
    c->names.shared = &shared;
    jobs_run(o->jobs ? o->jobs : &jobs, t->all.n, apply_part, t);
    c->names.shared = NULL;
    jobs_end(&jobs);
    pthread_mutex_destroy(&shared);
    vec_foreach(one, &t->all)
        c->asked += one->asked;
}

// Keep what a case made of a kernel; false, noted, if it cannot be applied.
static bool keep(struct compilation *c, const struct ir_kernel *kernel,
                 const struct attempt *one)
{
    struct refused_case tried = {kernel, one->item, one->number, NULL};
    if (settle(c, one->item, one->made, &tried.why)) {
        map_set(&c->planned, one->item, one->made);
        return true;
    }
    vec_push(&c->arena, &c->refused, tried);
    return false;
}

// Apply the first case, in the memory of the compilation, and keep it; what others share
// goes to `known`.  Returns false if it cannot be applied.
static bool apply_first(struct compilation *c, const struct compile_options *o,
                        const struct ir_kernel *kernel,
                        struct sched_known *known, struct attempt *one)
{
    struct arena_mark here = arena_mark(&c->scratch);
    struct room room = {.arena = &c->arena, .scratch = &c->scratch};
    one->made = apply(c, o, kernel, one->item, &(struct sched_settings){0},
                      known, &room);
    c->asked += room.asked;
    arena_release(&c->scratch, here);
    return keep(c, kernel, one);
}

// Apply the cases of a rule to copies of a kernel, and keep these; false if one
// cannot be applied, which is noted.
static bool applies(struct compilation *c, const struct compile_options *o,
                    const struct ir_kernel *kernel,
                    const struct sched_items *cases)
{
    struct sched_known known = {.kernel = kernel, .sizes.arena = &c->arena};
    struct attempts rest = {c, o, kernel, &known, {0}};
    bool is_first = true, ok = true;
    for (size_t i = 0; i < cases->n && ok; i++) {
        struct attempt one = {.item = cases->at[i], .number = i + 1};
        if (!is_built(c, o, one.item))
            continue;
        if (is_first)
            ok = apply_first(c, o, kernel, &known, &one);
        else
            vec_push(&c->arena, &rest.all, one);
        is_first = false;
    }
    if (!ok || !rest.all.n)
        return ok;
    apply_all(c, o, &rest);
    for (size_t i = 0; i < rest.all.n && ok; i++)
        ok = keep(c, kernel, &rest.all.at[i]);
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
