// The compiler, stage by stage.

#include "tools/libingot/compile.h"

#include "ir/copy.h"
#include "passes/analysis/narrow.h"
#include "passes/schedule/record.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/choice.h"
#include "tools/libingot/library.h"
#include "tools/libingot/plan.h"

#include <stdlib.h>
#include <string.h>

void compile_start(struct compilation *c)
{
    memset(c, 0, sizeof *c);
    c->names.arena = &c->arena;
    c->diags.arena = &c->arena;
    c->planned.arena = &c->arena;
}

void compile_end(struct compilation *c)
{
    for (size_t i = 0; i < c->arenas.n; i++)
        arena_reset(c->arenas.at[i]);
    arena_reset(&c->scratch);
    arena_reset(&c->arena);
}

// Return a copy of a text with its name.
static struct source *copy_source(struct compilation *c, const char *name,
                                  const char *text, size_t size)
{
    struct source *s = arena_new(&c->arena, struct source);
    s->name = arena_copy(&c->arena, name, strlen(name));
    s->text = arena_copy(&c->arena, text, size);
    s->size = size;
    return s;
}

bool compile_add(struct compilation *c, const char *name, const char *text,
                 size_t size)
{
    struct source *s = copy_source(c, name, text, size);
    return frontend_parse(&c->arena, &c->names, s, false, &c->diags,
                          &c->program);
}

void compile_ask_instance(struct compilation *c, const char *text)
{
    struct instance_request request = {
        .source = copy_source(c, "--instance", text, strlen(text))};
    vec_push(&c->arena, &c->program.requests, request);
    c->program.is_part = true;
}

bool compile_add_tuned(struct compilation *c, const char *name,
                       const char *text, size_t size)
{
    struct source *s = copy_source(c, name, text, size);
    return tuned_read(&c->arena, &c->names, s, &c->diags, &c->tuned,
                      &c->records);
}

// Return the pass context for a kernel.
static struct pass pass_for(struct compilation *c, struct ir_kernel *kernel)
{
    return (struct pass){.kernel = kernel,
                         .arena = &c->arena,
                         .scratch = &c->scratch,
                         .names = &c->names,
                         .diags = &c->diags,
                         .asked = &c->asked};
}

// Add a variant, and return it.
static struct variant *add_variant(struct compilation *c,
                                   const struct ir_kernel *source,
                                   struct ir_kernel *scheduled,
                                   const struct choice *choice)
{
    struct variant v = {.source = source,
                        .kernel = scheduled,
                        .targets = choice->targets,
                        .schedule = choice->item,
                        .settings = choice->settings,
                        .number = choice->number};
    v.outcome = arena_new(&c->arena, struct sched_outcome);
    vec_push(&c->arena, &c->variants, v);
    return &c->variants.at[c->variants.n - 1];
}

// Add a copy of a kernel to the variants and return the pass context for it.
static struct pass add_copy(struct compilation *c,
                            const struct compile_options *o,
                            const struct ir_kernel *source,
                            const struct choice *choice)
{
    struct ir_kernel *k = ir_copy_kernel(&c->arena, source);
    k->fast_math |= o->fast_math;
    add_variant(c, source, k, choice);
    return pass_for(c, k);
}

// Add what planning has made of a kernel already; false if it has not.
static bool add_planned(struct compilation *c, const struct ir_kernel *source,
                        const struct choice *choice)
{
    struct planned *one = plan_find(c, source, choice->item);
    if (!one || choice->settings.n)
        return false;
    add_variant(c, source, one->kernel, choice)->outcome = one->outcome;
    diag_append(&c->diags, &one->diags);
    return true;
}

// Return the record of the newest variant, if one is asked for.
static struct sched_record *add_record(struct compilation *c,
                                       const struct compile_options *o)
{
    struct variant *v = &c->variants.at[c->variants.n - 1];
    if (o->has_records)
        v->record = arena_new(&c->arena, struct sched_record);
    return v->record;
}

// Add a copy of a kernel that is scheduled by rule, and before it, where rows
// of unknown length are reduced, one for long rows behind a guard.
static bool add_default(struct compilation *c, const struct compile_options *o,
                        const struct ir_kernel *source,
                        const struct choice *choice)
{
    struct pass p = add_copy(c, o, source, choice);
    p.record = add_record(c, o);
    bool ok = schedule_default(&p, &c->program.schedules, NULL, true);
    if (ok && p.kernel->guard.n > source->guard.n) {
        p = add_copy(c, o, source, choice);
        p.record = add_record(c, o);
        ok = schedule_default(&p, &c->program.schedules, NULL, false);
    }
    arena_clear(&c->scratch);
    return ok;
}

// Add a copy of a kernel that a schedule is applied to.
static bool add_scheduled(struct compilation *c,
                          const struct compile_options *o,
                          const struct ir_kernel *source,
                          const struct choice *choice)
{
    if (add_planned(c, source, choice))
        return true;
    struct pass p = add_copy(c, o, source, choice);
    struct sched_outcome *outcome = arena_new(&c->arena, struct sched_outcome);
    bool ok =
        schedule_apply(&p, &c->program.schedules, choice->item,
                       choice->settings.at, choice->settings.n, outcome) &&
        schedule_complete(&p, &c->program.schedules);
    c->variants.at[c->variants.n - 1].outcome = outcome;
    arena_clear(&c->scratch);
    return ok;
}

// Return of some architectures, on which earlier schedules leave sizes open,
// and those of this one, which of them do so still: its directives added to the
// guard, as copies through tensor maps do, or it does not take all sizes.
static target_set left_open(target_set open, const struct ir_kernel *source,
                            const struct choice *choice,
                            const struct ir_kernel *scheduled)
{
    size_t n = source->guard.n + (choice->guard != NULL);
    if (scheduled->guard.n > n)
        return open | choice->targets;
    return choice->guard ? open : open & ~choice->targets;
}

// Name the variants from `first` on, which a choice became: `s3` by the number of
// the schedule, `t1` by that of the record.
static void name_variants(struct compilation *c, size_t first,
                          const struct choice *one)
{
    size_t number = one->recorded ? one->recorded : one->number;
    for (size_t i = first; i < c->variants.n; i++)
        c->variants.at[i].kernel->variant =
            str_name(&c->names,
                     arena_printf(&c->arena, "%c%zu", one->recorded ? 't' : 's',
                                  number + i - first));
}

// Schedule one kernel by each schedule that names it, and by rule what they
// leave open.
static bool schedule_kernel(struct compilation *c,
                            const struct compile_options *o,
                            const struct ir_kernel *kernel)
{
    struct choices choices = {0};
    struct choice rest = {0};
    size_t first = c->variants.n;
    if (!choices_make(c, o, kernel, &choices))
        return false;
    for (size_t i = 0; i < choices.n; i++) {
        struct choice one = choices.at[i];
        size_t before = c->variants.n;
        one.targets |= one.item ? 0 : rest.targets;
        if (!(one.item ? add_scheduled : add_default)(c, o, kernel, &one))
            return false;
        rest.targets = one.item ? left_open(rest.targets, kernel, &one,
                                            c->variants.at[before].kernel)
                                : 0;
        rest.number = one.recorded ? 1 : one.number + c->variants.n - before;
        name_variants(c, before, &one);
        if (i + 1 == choices.n && rest.targets)
            vec_push(&c->arena, &choices, rest);
    }
    if (c->variants.n == first + 1)
        c->variants.at[first].kernel->variant = kernel->variant;
    for (size_t i = first; i < c->variants.n; i++)
        pass_print_after(&o->passes, "schedule", c->variants.at[i].kernel);
    return true;
}

// Warn of what records of tuning set that a schedule does not have.
static void check_records(struct compilation *c, const struct variant *v)
{
    for (size_t i = 0; i < c->tuned.n; i++) {
        const struct tuned_setting *one = &c->tuned.at[i];
        if (v->schedule && one->kernel == v->source->name &&
            one->number == v->number &&
            !sched_has_setting(v->schedule, &v->outcome->knobs,
                               one->setting.name))
            diag_warning(&c->diags, one->setting.span, D_stale_setting,
                         (long long)one->number, one->kernel,
                         one->setting.name);
    }
}

// Report settings without a parameter or a knob.
static void check_settings(struct compilation *c,
                           const struct compile_options *o)
{
    struct sched_knobs knobs = {0};
    struct sched_items all = {0};
    tuned_check(&c->tuned, &c->program, &c->diags);
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        check_records(c, v);
        vec_append(&c->scratch, &knobs, &v->outcome->knobs);
    }
    vec_append(&c->scratch, &all, &c->program.schedules.schedules);
    vec_append(&c->scratch, &all, &c->cases);
    sched_check_settings(&all, &knobs, o->settings, o->n_settings, &c->diags);
    arena_clear(&c->scratch);
}

// Parse the headers of the library of defs, once.
static void add_library(struct compilation *c)
{
    if (c->program.schedules.fallback)
        return;
    for (const struct library_file *f = library_files; f->name; f++) {
        struct source *s = arena_new(&c->arena, struct source);
        *s = (struct source){f->name, f->text, f->size};
        frontend_parse_library(&c->arena, &c->names, s, &c->diags, &c->library);
    }
    c->program.schedules.fallback = &c->library.schedules;
}

void compile_choose_ptx(const struct compilation *c, struct compile_options *o)
{
    for (size_t i = 0; i < c->program.kernels.n && o->ptx_is_open && o->ptx;
         i++)
        o->ptx = nvptx_target_least(c->program.kernels.at[i], o->ptx);
}

// Schedule all kernels; of the instances of one kernel, those behind the first
// that has errors would have the same.
static void schedule_kernels(struct compilation *c,
                             const struct compile_options *o)
{
    const char *failed = NULL;
    vec_foreach_value(kernel, &c->program.kernels) {
        int errors = c->diags.errors;
        if (failed && kernel->family == failed)
            continue;
        schedule_kernel(c, o, kernel);
        if (c->diags.errors == errors || !kernel->family)
            continue;
        failed = kernel->family;
        diag_note(&c->diags, kernel->span, "in its instance `%s`",
                  kernel->name);
    }
}

// Warn of a schedule for instances of a kernel that none of them has sizes for,
// unless the command has chosen some.
static void check_used(struct compilation *c, const struct sched_item *item)
{
    bool is_used = c->program.is_part || item->rule, has_instances = false;
    vec_foreach_value(used, &c->used)
        is_used |= used == item;
    vec_foreach_value(kernel, &c->program.kernels)
        has_instances |= kernel->family && sched_is_for(item, kernel);
    if (!is_used && has_instances)
        diag_warning(&c->diags,
                     item->guard ? item->guard->span : item->name.span,
                     D_schedule_no_instance, item->name.text);
}

bool compile_schedule(struct compilation *c, const struct compile_options *o)
{
    int errors = c->diags.errors;
    double began = phases_now();
    add_library(c);
    if (!o->no_schedule)
        sched_expand_rules(&c->arena, &c->program.schedules, &c->diags);
    sched_check_kernels(&c->program.schedules,
                        (const struct ir_kernel *const *)c->program.kernels.at,
                        c->program.kernels.n, &c->diags);
    if (c->diags.errors > errors)
        return false;
    schedule_kernels(c, o);
    if (c->diags.errors == errors)
        check_settings(c, o);
    for (size_t i = 0;
         i < c->program.schedules.schedules.n && c->diags.errors == errors &&
         !o->no_schedule && !o->only_rules;
         i++)
        check_used(c, c->program.schedules.schedules.at[i]);
    phases_add(o->passes.times, "schedule", phases_now() - began);
    return !c->diags.errors;
}

// Tell a pass which of the build's architectures have the variant.
static void set_targets(struct compilation *c, const struct compile_options *o,
                        const struct variant *v, struct pass *p)
{
    struct pass_target *targets =
        arena_array(&c->arena, struct pass_target, o->n_targets);
    for (size_t i = 0; i < o->n_targets; i++) {
        const struct nvptx_target *t = o->targets[i];
        if (target_set_has(v->targets, t))
            targets[p->n_targets++] =
                (struct pass_target){t->name, t->most_shared};
    }
    p->targets = targets;
}

// Run the passes on a scheduled kernel and add it to the variants; `is_bounded`
// as in struct pass.
static bool lower_kernel(struct compilation *c, const struct compile_options *o,
                         struct variant v, bool is_bounded)
{
    struct pass p = pass_for(c, v.kernel);
    p.is_bounded = is_bounded;
    set_targets(c, o, &v, &p);
    vec_push(&c->arena, &c->variants, v);
    if (o->has_proofs)
        p.proof = &c->variants.at[c->variants.n - 1].proof;
    return passes_run(&p, &o->passes);
}

// Lower a variant; one whose sizes are not known becomes two where that
// pays: with 32-bit indices behind a guard, and with 64-bit ones.
static bool lower_variant(struct compilation *c,
                          const struct compile_options *o, struct variant v)
{
    if (o->has_scheduled)
        v.scheduled = ir_copy_kernel(&c->arena, v.kernel);
    struct variant narrow = v;
    narrow.kernel = ir_copy_kernel(&c->arena, v.kernel);
    struct pass p = pass_for(c, narrow.kernel);
    bool has_narrow = analysis_narrow(&p);
    return (!has_narrow || lower_kernel(c, o, narrow, false)) &&
           lower_kernel(c, o, v, has_narrow);
}

// Return whether a schedule is asked for, by the variant that it makes or one of
// those that this becomes, `s1_i32` of `s1`.
static bool is_asked(const struct compile_options *o, const struct variant *v)
{
    char *end;
    if (!o->schedule)
        return true;
    unsigned long number = strtoul(o->schedule, &end, 10);
    const char *name = v->kernel->variant ? v->kernel->variant : "";
    size_t n = strlen(name);
    return (end != o->schedule && !*end && number == v->number) || !n ||
           (strncmp(o->schedule, name, n) == 0 &&
            (o->schedule[n] == '\0' || o->schedule[n] == '_'));
}

bool compile_lower(struct compilation *c, const struct compile_options *o)
{
    if (!compile_schedule(c, o))
        return false;
    size_t n = c->variants.n;
    struct variant *scheduled = arena_array(&c->arena, struct variant, n);
    if (n)
        memcpy(scheduled, c->variants.at, n * sizeof *scheduled);
    c->variants.n = 0;
    double began = phases_now();
    for (size_t i = 0; i < n; i++)
        if (is_asked(o, &scheduled[i]))
            lower_variant(c, o, scheduled[i]);
    phases_add(o->passes.times, "lower", phases_now() - began);
    return !c->diags.errors;
}

const struct ir_kernel *const *
compile_kernels(struct compilation *c, const struct nvptx_target *target,
                size_t *n)
{
    const struct ir_kernel **k =
        arena_array(&c->arena, const struct ir_kernel *, c->variants.n);
    *n = 0;
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        if (!target || target_set_has(v->targets, target))
            k[(*n)++] = v->kernel;
    }
    return k;
}

struct nvptx_options compile_emit_options(const struct compile_options *o,
                                          const struct nvptx_target *target,
                                          enum nvptx_form form)
{
    return (struct nvptx_options){.target = target,
                                  .form = form,
                                  .line_info = o->line_info,
                                  .path_maps = o->path_maps,
                                  .n_path_maps = o->n_path_maps,
                                  .fast_math = o->fast_math,
                                  .opt_level = o->opt_level,
                                  .libdevice = o->libdevice,
                                  .libdevice_size = o->libdevice_size};
}

bool compile_emit(struct compilation *c, const struct compile_options *o,
                  const struct nvptx_target *target, enum nvptx_form form,
                  struct buf *out)
{
    struct nvptx_options options = compile_emit_options(o, target, form);
    struct phases times = {.arena = &c->arena};
    size_t n;
    const struct ir_kernel *const *kernels = compile_kernels(c, target, &n);
    double began = phases_now();
    options.times = &times;
    nvptx_warn_lacks(kernels, n, target, &c->diags);
    bool ok =
        nvptx_emit_isolated(&c->arena, kernels, n, &options, out, &c->diags);
    phases_add(o->passes.times, "emit", phases_now() - began);
    phases_merge(o->passes.times, "emit", target->name, &times);
    return ok;
}

const char *const *compile_entries(struct compilation *c,
                                   const struct nvptx_target *target, size_t *n)
{
    struct VEC(const char *) names = {0};
    size_t n_kernels;
    const struct ir_kernel *const *kernels =
        compile_kernels(c, target, &n_kernels);
    for (size_t i = 0; i < n_kernels; i++) {
        const struct ir_block *body = &kernels[i]->body;
        for (size_t k = 0; k < body->n; k++) {
            if (body->at[k]->kind == STMT_launch)
                vec_push(&c->arena, &names, body->at[k]->u.launch.name);
        }
    }
    *n = names.n;
    return names.at;
}
