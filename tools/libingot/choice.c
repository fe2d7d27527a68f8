// Which schedules a kernel has in a build.
//
// Whether a schedule can be reached does not depend on the build: it is asked for
// every architecture that there is.  Architectures with the same schedules are
// asked about once.

#include "tools/libingot/choice.h"

#include "passes/analysis/domain.h"
#include "passes/analysis/facts.h"
#include "passes/schedule/schedule.h"
#include "tools/libingot/plan.h"
#include "tools/libingot/recorded.h"
#include "tools/libingot/target_set.h"
#include "tools/libingot/trials.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <string.h>

// The most operations of a question about sizes, and the most questions that
// may need more: the answer is that sizes are left, which is always safe.
enum { ISL_OPERATIONS_MOST = 20000, UNDECIDED_MOST = 2 };

// All that is known while the schedules of one kernel are judged.
struct judge {
    struct compilation *c;
    const struct compile_options *o;
    const struct ir_kernel *kernel;
    struct choices all; // every schedule of the kernel, whatever the build
    size_t numbered;    // those in the text, for other instances too
    struct trials trials;
    isl_ctx *ctx;  // made for the first question
    int undecided; // questions that took too many operations
};

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
        struct choice one = {
            .item = from->item, .guard = from->guard, .recorded = j->all.n + 1};
        ok = target_set_find(&j->c->scratch, from->item, &j->c->diags,
                             &one.targets) &&
             ok;
        vec_push(&j->c->arena, &j->all, one);
    }
    return ok;
}

// Find the guard of a schedule, and the sizes that it takes, which are known once it
// has been applied; planning may have done so.  Returns false after errors.
static bool find_guard(struct pass *p, const struct judge *j,
                       struct choice *one)
{
    if (!one->settings.n && !plan_find(j->c, j->kernel, one->item))
        plan_case(j->c, j->o, j->kernel, one->item);
    const struct planned *planned = plan_find(j->c, j->kernel, one->item);
    if (planned && !one->settings.n) {
        one->guard = planned->guard;
        one->sizes = planned->sizes;
        return true;
    }
    return schedule_guard(p, &j->c->program.schedules, one->item,
                          one->settings.at, one->settings.n, &one->guard);
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
        ok = target_set_find(&c->scratch, item, &c->diags, &one.targets) && ok;
        if (!find_guard(&p, j, &one)) {
            failed = item->rule;
            ok = false;
        }
        if (!schedule_excludes(j->kernel, item, one.guard))
            vec_push(&c->arena, &j->all, one);
    }
    return ok;
}

// ---- Coverage -------------------------------------------------------------

// Get sizes to try the guards with.
static void start_trials(struct judge *j)
{
    struct VEC(struct ir_expr *) guards = {0};
    for (size_t i = 0; i < j->all.n; i++)
        if (j->all.at[i].guard)
            vec_push(&j->c->scratch, &guards, j->all.at[i].guard);
    trials_start(&j->trials, &j->c->scratch, j->kernel, guards.at, guards.n);
}

// Return whether one of some conditions is proved to hold for all sizes for which
// `own` does.
static bool is_implied(struct judge *j, struct ir_expr *own,
                       struct ir_expr *const *others, size_t n)
{
    struct arena *a = &j->c->scratch;
    struct arena_mark here = arena_mark(a);
    struct ir_kernel sizes = {.params = j->kernel->params,
                              .where = j->kernel->where};
    struct facts f;
    bool found = false;
    if (own)
        vec_push(a, &sizes.guard, own);
    facts_start(&f, a, &sizes);
    for (size_t i = 0; i < n && !found; i++)
        found = !trials_differ(&j->trials, own, others[i]) &&
                facts_holds(&f, others[i]);
    arena_release(a, here);
    return found;
}

// Ask whether conditions cover all sizes for which `own` holds: of isl, if neither
// sizes that are tried show that they do not, nor one of them alone does.
static bool covers(struct judge *j, struct ir_expr *own,
                   struct ir_expr *const *others, size_t n)
{
    if (trials_leave(&j->trials, own, others, n))
        return false;
    if (is_implied(j, own, others, n))
        return true;
    if (!j->ctx) {
        j->ctx = isl_ctx_alloc();
        isl_options_set_on_error(j->ctx, ISL_ON_ERROR_CONTINUE);
        isl_ctx_set_max_operations(j->ctx, ISL_OPERATIONS_MOST);
    }
    if (j->undecided > UNDECIDED_MOST)
        return false;
    j->c->asked++;
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
        struct ir_expr *sizes = one->sizes ? one->sizes : one->guard;
        if (!sizes)
            return true;
        vec_push(&j->c->scratch, &guards, sizes);
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
    start_trials(j);
    bool has_records = all.n && all.at[0].recorded;
    j->all.n = 0;
    for (size_t i = 0; i < all.n; i++) {
        struct choice one = all.at[i];
        bool contradicts = one.guard && covers(j, one.guard, NULL, 0);
        if (!contradicts)
            one.taken = taken(j, j->all.n, one.targets, one.guard);
        bool is_reached = !contradicts && one.taken != one.targets;
        j->all.at[j->all.n] = one;
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
        one.targets &= ~one.taken;
        if (one.targets)
            vec_push(&j->c->arena, out, one);
    }
}

bool choices_make(struct compilation *c, const struct compile_options *o,
                  const struct ir_kernel *kernel, struct choices *out)
{
    struct judge j = {.c = c, .o = o, .kernel = kernel};
    target_set build = target_set_of_build(o);
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
