// The ways to run a kernel at some sizes: its schedules for the architecture, or
// the cases of the rule that it gets, times the values of their knobs.
//
// A guard says what a schedule needs, and which sizes it is meant for. A trial is
// for its sizes alone, whatever the guard prefers: what the schedule needs and
// does not have, the compiler refuses.

#include "tools/ingot/dispatch.h"
#include "tools/ingot/tune.h"
#include "tools/libingot/choice.h"
#include "tools/libingot/plan.h"
#include "tools/libingot/recorded.h"
#include "tools/libingot/schedule_case.h"
#include "tools/libingot/target_set.h"

#include "passes/schedule/schedule.h"

#include <math.h>
#include <string.h>

enum { SETTINGS_TRIED = 64 };

// ---- The kernel -----------------------------------------------------------

// Read a file of the command line.  Returns false after reporting.
static bool read_file(struct tune_problem *p, const char *path)
{
    struct buf text = {0};
    bool ok = cli_read(path, &text, &p->c->diags);
    struct way_text file = {
        strcmp(path, "-") == 0 ? "<stdin>" : path,
        arena_copy(&p->c->arena, text.n ? text.data : "", text.n)};
    vec_push(&p->c->arena, &p->source.files, file);
    buf_free(&text);
    return ok;
}

// Gather what all ways have in common.  Returns false after reporting.
static bool read_source(struct tune_problem *p)
{
    const struct cli_compile *o = &p->options->compile;
    p->c->diags.policy = &o->policy;
    bool ok = read_file(p, p->options->file);
    vec_foreach_value(path, &o->schedules)
        ok = ok && read_file(p, path);
    vec_foreach_value(text, &o->instances)
        vec_push(&p->c->arena, &p->source.instances, text);
    vec_append(&p->c->arena, &p->source.settings, &o->settings);
    p->source.fast_math = o->options.fast_math;
    p->source.only_rules = o->options.only_rules;
    p->source.opt_level = o->options.opt_level;
    return ok;
}

// Return the options of a build of the kernel.
static struct compile_options build_options(const struct tune_problem *p)
{
    struct compile_options o = p->options->compile.options;
    struct way way = {.kind = WAY_BUILD, .variant = ""};
    way_options(&p->source, &way, &o);
    return o;
}

// Note the sizes that a schedule can be for.
static void note_sizes(struct tune_problem *p)
{
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        const struct ir_var *var = p->kernel->params.at[i].var;
        struct sched_setting one = {
            var ? var->name : NULL, p->problem.values[i].scalar.i, {0}};
        if (var && type_is_index(var->type))
            vec_push(&p->c->arena, &p->sizes, one);
    }
}

// Parse and schedule the kernel, and make the problem.  Returns false after
// reporting, or with *wrong set.
static bool make_problem(struct tune_problem *p, const char **wrong)
{
    struct way way = {.kind = WAY_BUILD, .variant = ""};
    struct compile_options o = build_options(p);
    p->source.kernel = p->options->problem.kernel;
    p->kernel = way_add(p->c, &p->source, &way, wrong);
    if (!p->kernel)
        return false;
    p->source.kernel = p->kernel->name;
    p->kernel_hash = recorded_hash(p->kernel);
    if (problem_make(&p->c->arena, p->kernel, p->request, &p->c->diags,
                     &p->problem, wrong) != PROBLEM_READY)
        return false;
    p->problem.sms = p->device->sms;
    p->work = work_count(definition_of(p->kernel), p->problem.values);
    note_sizes(p);
    return compile_schedule(p->c, &o);
}

// ---- What a build takes ---------------------------------------------------

// Find the variant that a build launches.  Returns false after reporting.
static bool find_build(struct tune_problem *p)
{
    vec_foreach(v, &p->c->variants) {
        if (!target_set_has(v->targets, p->source.target) ||
            dispatch_refusal(&p->c->scratch, &p->problem, v->kernel))
            continue;
        const char *name = v->kernel->variant ? v->kernel->variant : "";
        p->build_name = *name ? name : "the only variant";
        p->build_number = v->number;
        p->build_item = v->schedule;
        p->build.way = (struct way){.kind = WAY_BUILD, .variant = name};
        p->plain.way = (struct way){.kind = WAY_PLAIN, .variant = ""};
        return true;
    }
    return diag_error(&p->c->diags, p->kernel->span, D_no_variant,
                      p->kernel->name);
}

// ---- The schedules --------------------------------------------------------

// Return whether a schedule is for the architecture.
static bool is_for_target(struct tune_problem *p, const struct sched_item *item)
{
    struct diag_list quiet = {.arena = &p->c->scratch, .is_brief = true};
    target_set set;
    return target_set_find(&p->c->scratch, item, &quiet, &set) &&
           target_set_has(set, p->source.target);
}

// Return whether a schedule is for this kernel at all.
static bool is_for_kernel(struct tune_problem *p, const struct sched_item *item)
{
    struct diag_list quiet = {.arena = &p->c->arena, .is_brief = true};
    struct ir_expr *guard = NULL;
    struct pass pass = {.kernel = (struct ir_kernel *)p->kernel,
                        .arena = &p->c->arena,
                        .scratch = &p->c->scratch,
                        .names = &p->c->names,
                        .diags = &quiet};
    return schedule_guard(&pass, &p->c->program.schedules, item,
                          p->source.settings.at, p->source.settings.n,
                          &guard) &&
           !schedule_excludes(p->kernel, item, guard);
}

// Return the last setting of a name, or NULL.
static const struct sched_setting *
find_setting(const struct sched_settings *all, const char *name)
{
    const struct sched_setting *last = NULL;
    vec_foreach(one, all)
        if (strcmp(one->name, name) == 0)
            last = one;
    return last;
}

// Apply a schedule with further settings.  Returns its knobs, NULL if it cannot be
// applied.
static const struct sched_knobs *
knobs_with(struct tune_problem *p, const struct sched_item *item,
           const struct sched_settings *further)
{
    struct compile_options o = build_options(p);
    struct sched_settings settings = {0};
    vec_append(&p->c->arena, &settings, &p->source.settings);
    vec_append(&p->c->arena, &settings, further);
    struct planned *made =
        plan_apply(p->c, &o, p->kernel, item, &settings, NULL, NULL);
    return made && made->outcome ? &made->outcome->knobs : NULL;
}

// Add values to those of a knob, in their order if they are sorted.
static void add_values(struct tune_problem *p, struct sched_knob *to,
                       const struct sched_knob *from)
{
    vec_foreach(next, &from->values) {
        int64_t value = *next;
        size_t i = to->values.n;
        bool is_there = false;
        vec_foreach(old, &to->values)
            is_there |= *old == value;
        if (is_there)
            continue;
        vec_push(&p->c->arena, &to->values, value);
        for (; i > 0 && to->values.at[i - 1] > value; i--)
            to->values.at[i] = to->values.at[i - 1];
        to->values.at[i] = value;
    }
}

// Return the knob of that name, or NULL.
static struct sched_knob *find_knob(const struct sched_knobs *all,
                                    const char *name)
{
    vec_foreach(k, all)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

// Add a copy of a knob; one that the command line sets has that value alone.
static void add_knob(struct tune_problem *p, const struct sched_knob *knob,
                     struct sched_knobs *out)
{
    struct arena *a = &p->c->arena;
    struct sched_knob one = {
        .name = knob->name, .span = knob->span, .chosen = knob->chosen};
    const struct sched_setting *set =
        find_setting(&p->source.settings, knob->name);
    if (set)
        vec_push(a, &one.values, set->value);
    else
        vec_append(a, &one.values, &knob->values);
    vec_push(a, out, one);
}

// Add what knobs are where another one is set otherwise: the factors of a tile are
// what the others leave, and a def may make some with others alone.
static void add_others(struct tune_problem *p, struct tune_item *item,
                       const struct sched_setting *set)
{
    struct sched_settings further = {.at = (struct sched_setting *)set, .n = 1};
    const struct sched_knobs *others = knobs_with(p, item->item, &further);
    for (size_t i = 0; others && i < others->n; i++) {
        struct sched_knob *known = find_knob(&item->knobs, others->at[i].name);
        if (!known)
            add_knob(p, &others->at[i], &item->knobs);
        else if (strcmp(known->name, set->name) != 0)
            add_values(p, known, &others->at[i]);
    }
}

// Add what knobs are where each of the others is set otherwise.
static void add_dependent(struct tune_problem *p, struct tune_item *item)
{
    int tried = 0;
    for (size_t i = 0; i < item->knobs.n; i++) {
        const struct sched_knob one = item->knobs.at[i];
        for (size_t v = 0; v < one.values.n && tried++ < SETTINGS_TRIED; v++) {
            struct sched_setting set = {one.name, one.values.at[v], {0}};
            add_others(p, item, &set);
        }
    }
}

// Return the place of the value that a knob has by itself.
static uint32_t chosen_of(const struct sched_knob *k)
{
    for (size_t i = 0; i < k->values.n; i++)
        if (k->values.at[i] == k->chosen)
            return (uint32_t)i;
    return 0;
}

// Add a schedule with its knobs; one that cannot be applied here is found out when
// it is compiled.
static void add_item(struct tune_problem *p, const struct sched_item *item,
                     size_t number)
{
    struct arena *a = &p->c->arena;
    struct tune_item one = {.item = item, .number = number};
    const struct sched_knobs *knobs =
        knobs_with(p, item, &(struct sched_settings){0});
    for (size_t i = 0; knobs && i < knobs->n; i++)
        add_knob(p, &knobs->at[i], &one.knobs);
    add_dependent(p, &one);
    uint32_t *values = arena_array(a, uint32_t, one.knobs.n + 1);
    uint32_t *first = arena_array(a, uint32_t, one.knobs.n + 1);
    for (size_t i = 0; i < one.knobs.n; i++) {
        values[i] = (uint32_t)one.knobs.at[i].values.n;
        first[i] = chosen_of(&one.knobs.at[i]);
    }
    struct search_item points = {values, one.knobs.n, first};
    vec_push(a, &p->items, one);
    vec_push(a, &p->space, points);
}

// Add the schedules: that of the build first, then the others in order.
static void add_items(struct tune_problem *p)
{
    struct sched_items all;
    struct compile_options o = build_options(p);
    choices_items(p->c, &o, p->kernel, &all);
    plan_more(p->c, &o, p->kernel, &all);
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < all.n; i++)
            if ((i + 1 == p->build_number) == (turn == 0) &&
                is_for_target(p, all.at[i]) && is_for_kernel(p, all.at[i]))
                add_item(p, all.at[i], i + 1);
}

bool tune_space(struct tune_problem *p, const char **wrong)
{
    if (!read_source(p) || !make_problem(p, wrong) || !find_build(p))
        return false;
    add_items(p);
    return true;
}

// ---- Trials ---------------------------------------------------------------

// Return the settings of a point: its knobs.
static struct sched_settings settings_of(struct tune_problem *p,
                                         const struct search_point *point)
{
    const struct tune_item *item = &p->items.at[point->item];
    struct sched_settings out = {0};
    for (size_t i = 0; i < item->knobs.n; i++) {
        const struct sched_knob *k = &item->knobs.at[i];
        struct sched_setting one = {k->name, k->values.at[point->at[i]], {0}};
        vec_push(&p->c->arena, &out, one);
    }
    return out;
}

// Return whether all knobs are those that the schedule declares: it has them whatever
// their values.
static bool has_declared_alone(const struct tune_item *item)
{
    static const struct sched_knobs none = {0};
    vec_foreach(k, &item->knobs)
        if (!sched_has_setting(item->item, &none, k->name))
            return false;
    return true;
}

// Return those of some settings whose knobs the schedule makes with them: a def may
// make some with others alone.
static struct sched_settings made_of(struct tune_problem *p,
                                     const struct tune_item *item,
                                     const struct sched_settings *settings)
{
    struct sched_settings out = {0};
    const struct sched_knobs *made = knobs_with(p, item->item, settings);
    if (!made)
        return *settings;
    vec_foreach(one, settings)
        vec_foreach(k, made)
            if (strcmp(k->name, one->name) == 0)
                vec_push(&p->c->arena, &out, *one);
    return out;
}

// Return the settings of a point: its knobs, and what the command line says of
// parameters.
static struct sched_settings all_settings(struct tune_problem *p,
                                          const struct search_point *point)
{
    static const struct sched_knobs none = {0};
    const struct tune_item *item = &p->items.at[point->item];
    struct sched_settings out = {0}, knobs = settings_of(p, point);
    vec_foreach(one, &p->source.settings)
        if (!find_setting(&knobs, one->name) &&
            sched_has_setting(item->item, &none, one->name))
            vec_push(&p->c->arena, &out, *one);
    if (!has_declared_alone(item))
        knobs = made_of(p, item, &knobs);
    vec_append(&p->c->arena, &out, &knobs);
    return out;
}

struct tune_trial *tune_way(struct tune_problem *p,
                            const struct search_point *point)
{
    struct tune_trial *t = arena_new(&p->c->arena, struct tune_trial);
    struct buf text = {0};
    t->item = &p->items.at[point->item];
    t->predicted = INFINITY;
    t->settings = all_settings(p, point);
    struct schedule_case what = {.kernel = p->kernel,
                                 .item = t->item->item,
                                 .settings = &t->settings,
                                 .sizes = &p->sizes,
                                 .target = p->source.target};
    schedule_case_print(&p->c->arena, &what, &text);
    t->way.kind = WAY_TEXT;
    t->way.text = arena_copy(&p->c->arena, text.data, text.n);
    t->hash = schedule_case_hash(t->way.text);
    buf_free(&text);
    return t;
}
