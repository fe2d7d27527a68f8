// Which schedules a kernel has in a build.
//
// Architectures are bits: row i of nvptx_targets is bit i.  Whether a schedule
// can be reached does not depend on the build: it is asked for every
// architecture that there is.  Architectures with the same schedules are asked
// about once.

#include "tools/libingot/choice.h"

#include "passes/analysis/domain.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/plan.h"
#include "tools/libingot/recorded.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <string.h>

// The most operations of a question about sizes, and the most questions that
// may need more: the answer is that sizes are left, which is always safe.
enum { ISL_OPERATIONS_MOST = 50000, UNDECIDED_MOST = 2 };

// All that is known while the schedules of one kernel are judged.
struct judge {
    struct compilation *c;
    const struct compile_options *o;
    const struct ir_kernel *kernel;
    struct choices all; // every schedule of the kernel, whatever the build
    size_t numbered;    // those in the text, for other instances too
    isl_ctx *ctx;       // made for the first question
    int undecided;      // questions that took too many operations
};

bool target_set_has(target_set set, const struct nvptx_target *target)
{
    size_t n;
    return set >> (target - nvptx_targets(&n)) & 1;
}

// Return the set of one architecture.
static target_set set_of(const struct nvptx_target *target)
{
    size_t n;
    return (target_set)1 << (target - nvptx_targets(&n));
}

// Return the set that a text names, as ir/arch_set.h reads it.
static target_set set_named(const char *text)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    target_set set = 0;
    for (size_t i = 0; i < n; i++)
        if (nvptx_target_in(&all[i], text))
            set |= set_of(&all[i]);
    return set;
}

// Return the set of all architectures.
static target_set every_target(void)
{
    size_t n;
    nvptx_targets(&n);
    return ((target_set)1 << n) - 1;
}

// Return the architectures of a build; all of them where it names none.
static target_set targets_of(const struct compile_options *o)
{
    target_set set = o->ptx ? set_of(o->ptx) : 0;
    for (size_t i = 0; i < o->n_targets; i++)
        set |= set_of(o->targets[i]);
    return set ? set : every_target();
}

// Find the architectures that one word behind `for` stands for.  Returns false
// after an error.
static bool find_target(struct compilation *c, const struct sched_target *word,
                        target_set *out)
{
    const struct sched_name *name = &word->name;
    const struct nvptx_target *named =
        nvptx_target_find_at(name->text, name->span, &c->diags);
    if (!named)
        return false;
    if (named->kind && word->is_open) {
        diag_error(&c->diags, name->span, D_target_open, named->name,
                   named->kind);
        diag_help(&c->diags,
                  "write `%s` for %s, or `sm_%u+` for sm_%u and newer ones "
                  "without what `%c` adds",
                  named->name, named->kind == 'a' ? "it alone" : "its family",
                  named->number, named->number, named->kind);
        return false;
    }
    *out |= set_named(arena_printf(&c->scratch, "%s%s", named->name,
                                   word->is_open ? "+" : ""));
    return true;
}

// Find the architectures of a schedule.  Returns false after an error.
static bool find_targets(struct compilation *c, const struct sched_item *item,
                         target_set *out)
{
    bool ok = true;
    *out = item->targets.n ? 0 : every_target();
    for (size_t i = 0; i < item->targets.n; i++)
        ok = find_target(c, &item->targets.at[i], out) && ok;
    return ok;
}

// Gather the settings for a schedule, those of the command line last.
static void find_settings(struct judge *j, struct choice *one)
{
    struct arena *a = &j->c->arena;
    tuned_settings(a, &j->c->tuned, j->kernel->name, one->number,
                   &one->settings);
    for (size_t i = 0; i < j->o->n_settings; i++)
        vec_push(a, &one->settings, j->o->settings[i]);
}

void choices_items(struct compilation *c, const struct compile_options *o,
                   const struct ir_kernel *kernel, struct sched_items *out)
{
    *out = (struct sched_items){0};
    vec_foreach_value(item, &c->program.schedules.schedules)
        if (sched_is_for(item, kernel) && !o->only_rules)
            vec_push(&c->arena, out, item);
    if (!out->n)
        plan_kernel(c, o, kernel, out);
}

// Gather what the records of the kernel say.  Returns false after errors.
static bool gather_recorded(struct judge *j, const struct sched_items *items)
{
    struct recorded_list all = {0};
    bool ok = true;
    if (!j->o->no_records)
        recorded_find(j->c, j->o, j->kernel, items, &all);
    vec_foreach(from, &all) {
        struct choice one = {.item = from->item,
                             .guard = from->guard,
                             .settings = from->settings,
                             .recorded = j->all.n + 1};
        ok = find_targets(j->c, from->item, &one.targets) && ok;
        vec_push(&j->c->arena, &j->all, one);
    }
    return ok;
}

// Gather the schedules of the kernel.  Of a rule, cases behind the first that has
// errors would have the same.
static bool gather(struct judge *j)
{
    struct compilation *c = j->c;
    struct pass p = {.kernel = (struct ir_kernel *)j->kernel,
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &c->diags};
    struct sched_items items;
    const struct sched_item *failed = NULL;
    choices_items(c, j->o, j->kernel, &items);
    bool ok = gather_recorded(j, &items);
    vec_foreach_value(item, &items) {
        struct choice one = {.item = item, .number = ++j->numbered};
        if (failed && item->rule == failed)
            continue;
        find_settings(j, &one);
        ok = find_targets(c, item, &one.targets) && ok;
        if (!schedule_guard(&p, &c->program.schedules, item, one.settings.at,
                            one.settings.n, &one.guard)) {
            failed = item->rule;
            ok = false;
        }
        if (!schedule_excludes(j->kernel, item, one.guard))
            vec_push(&c->arena, &j->all, one);
    }
    return ok;
}

// ---- Coverage -------------------------------------------------------------

// Ask whether conditions cover all sizes for which `own` holds.
static bool covers(struct judge *j, struct ir_expr *own,
                   struct ir_expr *const *others, size_t n)
{
    if (!j->ctx) {
        j->ctx = isl_ctx_alloc();
        isl_options_set_on_error(j->ctx, ISL_ON_ERROR_CONTINUE);
        isl_ctx_set_max_operations(j->ctx, ISL_OPERATIONS_MOST);
    }
    if (j->undecided > UNDECIDED_MOST)
        return false;
    isl_ctx_reset_operations(j->ctx);
    isl_ctx_reset_error(j->ctx);
    bool covers =
        domain_covers(j->ctx, &j->c->scratch, j->kernel, own, others, n);
    j->undecided += isl_ctx_last_error(j->ctx) == isl_error_quota;
    return covers;
}

// Return whether the first `n` schedules leave nothing of `own` for an
// architecture; one without a guard takes all.
static bool taken_on(struct judge *j, size_t n, target_set target,
                     struct ir_expr *own)
{
    struct VEC(struct ir_expr *) guards = {0};
    for (size_t i = 0; i < n; i++) {
        const struct choice *one = &j->all.at[i];
        if (!(one->targets & target))
            continue;
        if (!one->guard)
            return true;
        vec_push(&j->c->scratch, &guards, one->guard);
    }
    return guards.n && covers(j, own, guards.at, guards.n);
}

// Return whether two architectures have the same of the first `n` schedules.
static bool is_alike(const struct judge *j, size_t n, size_t x, size_t y)
{
    for (size_t i = 0; i < n; i++) {
        target_set set = j->all.at[i].targets;
        if ((set >> x & 1) != (set >> y & 1))
            return false;
    }
    return true;
}

// Return those of the architectures where the first `n` schedules leave
// nothing of `own`.
static target_set taken(struct judge *j, size_t n, target_set targets,
                        struct ir_expr *own)
{
    target_set out = 0;
    for (size_t x = 0; targets >> x; x++) {
        target_set bit = (target_set)1 << x;
        size_t y = 0;
        if (!(targets & bit))
            continue;
        while (!(targets >> y & 1) || !is_alike(j, n, x, y))
            y++;
        if (y < x ? out >> y & 1 : taken_on(j, n, bit, own))
            out |= bit;
    }
    return out;
}

// Point at the schedules before number `at` that take its calls: one that does
// so alone, or all of which it shares an architecture with.
static void blame(struct judge *j, size_t at)
{
    const struct choice *one = &j->all.at[at];
    struct diag_list *d = &j->c->diags;
    for (size_t i = 0; i < at; i++) {
        const struct choice *other = &j->all.at[i];
        bool alone = !(one->targets & ~other->targets) &&
                     (!other->guard || covers(j, one->guard, &other->guard, 1));
        if (!alone)
            continue;
        diag_note(d, other->item->name.span,
                  other->guard ? "this one takes all of its sizes"
                               : "this one has no guard");
        return;
    }
    for (size_t i = 0; i < at; i++)
        if (j->all.at[i].targets & one->targets)
            diag_note(d, j->all.at[i].item->name.span,
                      "of its sizes, this one takes a part");
}

// Report a schedule that is never chosen.
static void refuse_unreached(struct judge *j, size_t at, bool contradicts)
{
    const struct choice *one = &j->all.at[at];
    struct diag_list *d = &j->c->diags;
    if (!contradicts) {
        diag_error(d, one->item->name.span, D_schedule_unreachable,
                   j->kernel->name);
        blame(j, at);
        return;
    }
    diag_error(d, one->item->guard->span, D_schedule_contradiction,
               j->kernel->name);
    for (size_t i = 0; i < j->kernel->where.n; i++)
        diag_note(d, j->kernel->where.at[i]->span,
                  "the sizes that the kernel accepts");
}

// Keep the schedules that are ever chosen.  One that is not is an error, but of
// an instance or a rule, as it may be for others, and where records take sizes.
static bool keep_reached(struct judge *j)
{
    bool ok = true;
    struct choices all = j->all;
    bool has_records = all.n && all.at[0].recorded;
    j->all.n = 0;
    for (size_t i = 0; i < all.n; i++) {
        struct choice one = all.at[i];
        j->all.at[j->all.n] = one;
        bool contradicts = one.guard && covers(j, one.guard, NULL, 0);
        bool is_reached = !contradicts && taken(j, j->all.n, one.targets,
                                                one.guard) != one.targets;
        if (!is_reached && !j->kernel->family && !one.item->rule &&
            !has_records) {
            refuse_unreached(j, j->all.n, contradicts);
            ok = false;
        }
        if (!is_reached)
            continue;
        vec_push(&j->c->arena, &j->c->used, one.item);
        j->all.n++;
    }
    return ok;
}

// ---- The build ------------------------------------------------------------

// Return the names of architectures: "sm_90, sm_90a".
static const char *names_of(struct arena *a, target_set set)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        if (set >> i & 1)
            text =
                arena_printf(a, "%s%s%s", text, *text ? ", " : "", all[i].name);
    return text;
}

// Remark that a schedule is for no architecture of the build: once, where it is
// for several kernels.
static void remark_left_out(struct judge *j, const struct sched_item *item,
                            target_set build)
{
    struct span span = item->targets.at[0].name.span;
    vec_foreach(d, &j->c->diags.all)
        if (d->code == D_schedule_left_out && d->span.source == span.source &&
            d->span.from == span.from)
            return;
    diag_remark(&j->c->diags, span, D_schedule_left_out, item->name.text,
                names_of(&j->c->scratch, build));
}

// Keep what is chosen on an architecture of the build, and remark on what is
// for none of them.
static void keep(struct judge *j, target_set build, struct choices *out)
{
    for (size_t i = 0; i < j->all.n; i++) {
        struct choice one = j->all.at[i];
        one.targets &= build;
        if (!one.targets && !one.item->rule)
            remark_left_out(j, one.item, build);
        one.targets &= ~taken(j, i, one.targets, one.guard);
        if (one.targets)
            vec_push(&j->c->arena, out, one);
    }
}

bool choices_make(struct compilation *c, const struct compile_options *o,
                  const struct ir_kernel *kernel, struct choices *out)
{
    struct judge j = {.c = c, .o = o, .kernel = kernel};
    target_set build = targets_of(o);
    bool ok = o->no_schedule || (gather(&j) && keep_reached(&j));
    if (ok)
        keep(&j, build, out);
    struct choice rule = {.number = j.numbered + 1};
    rule.targets = build & ~(ok ? taken(&j, j.all.n, build, NULL) : build);
    if (rule.targets)
        vec_push(&c->arena, out, rule);
    if (j.ctx)
        isl_ctx_free(j.ctx);
    arena_reset(&c->scratch);
    return ok;
}
