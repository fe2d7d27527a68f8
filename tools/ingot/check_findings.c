// Findings become diagnostics: what, where, by whom, how often, and how to see
// it again.

#include "tools/ingot/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MOST = 4 }; // faults of a kernel

static const enum diag_code codes[] = {
#define FAULT(name, spelling, severity, text) D_fault_##name,
#include "tools/simt/faults.def"
#undef FAULT
};

// What tells the findings of a variant.
struct teller {
    struct check *check;
    const struct check_variant *v;
    struct arena *arena;
    struct diag_list *diags;
};

// ---- Texts ----------------------------------------------------------------

// Return what a finding is about, to begin its message with.
static const char *subject(const struct teller *t, const struct simt_finding *f)
{
    if (f->fault == SIMT_FAULT_unwritten)
        return arena_printf(t->arena, "`%s`", f->array ? f->array : "?");
    if (f->array && f->fault != SIMT_FAULT_hang)
        return arena_printf(t->arena, "the %s of %s",
                            f->is_write ? "write" : "read",
                            check_element_text(t->arena, f));
    return check_thread_text(t->arena, &f->thread);
}

// Return the policies of a set, "forward, random".
static const char *policies_text(struct arena *a, unsigned set)
{
    const char *text = "";
    if (set == (1u << SIMT_POLICIES) - 1)
        return "every policy";
    for (int i = 0; i < SIMT_POLICIES; i++)
        if (set >> i & 1)
            text = arena_printf(a, "%s%s%s", text, *text ? ", " : "",
                                simt_policy_name((enum simt_policy)i));
    return text;
}

// Return the name of the first policy of a set that is not empty.
static const char *first_policy(unsigned set)
{
    unsigned first = 0;
    while (!(set >> first & 1))
        first++;
    return simt_policy_name((enum simt_policy)first);
}

// Return the shape of an array at these sizes, "16 x 33"; NULL if it is not
// known.
static const char *shape_text(const struct teller *t,
                              const struct check_case *one,
                              const struct ir_buffer *b)
{
    const char *text = NULL;
    for (uint32_t i = 0; b && i < b->rank; i++) {
        int64_t extent;
        if (!ir_eval_int(t->v->variant->kernel, one->problem.values,
                         b->shape[i], &extent))
            return NULL;
        text = arena_printf(t->arena, "%s%s%lld", text ? text : "",
                            text ? " x " : "", (long long)extent);
    }
    return text;
}

// Return the option for the elements of a case, if they are not the usual ones.
static const char *elements_option(struct arena *a,
                                   const struct check_case *one)
{
    enum elements kind = one->problem.elements;
    return kind == ELEMENTS_distinct
               ? ""
               : arena_printf(a, " --elements %s", elements_name(kind));
}

// Return the command that shows a finding again.
static const char *replay_text(const struct teller *t,
                               const struct check_finding *f)
{
    const struct problem_request *q = &t->check->request->problem.request;
    const struct variant *v = t->v->variant;
    const char *sizes = check_sizes_text(t->arena, t->v->cases.at[f->at]);
    const struct source *s = v->source->span.source;
    return arena_printf(
        t->arena,
        "ingot check %s --kernel %s --schedule %s%s%s%s --policies %s --seed "
        "%llu",
        s ? s->name : "FILE", v->source->name, check_name(v),
        *sizes ? " --size " : "", sizes,
        elements_option(t->arena, t->v->cases.at[f->at]),
        first_policy(f->policies), (unsigned long long)q->seed);
}

// ---- Diagnostics ----------------------------------------------------------

// Say what the array is like.
static void tell_shape(const struct teller *t, const struct check_finding *f)
{
    const struct simt_finding *s = &f->simt;
    const char *shape =
        s->buffer ? shape_text(t, t->v->cases.at[f->at], s->buffer) : NULL;
    if (s->fault == SIMT_FAULT_out_of_bounds && shape)
        diag_note(t->diags, s->buffer->span, "`%s` has %s elements", s->array,
                  shape);
}

// Return whether both accesses of a race are the same one in the source.
static bool is_one_place(const struct simt_finding *f)
{
    return f->is_write && f->other_is_write &&
           check_same_place(&f->place, &f->other);
}

// Return whether they are in the same line, so most likely in one statement.
static bool is_one_line(const struct simt_finding *f)
{
    return f->place.line && f->place.line == f->other.line && f->other.file &&
           strcmp(f->place.file, f->other.file) == 0;
}

// Return what another thread has to do with a finding.
static const char *other_text(const struct teller *t,
                              const struct simt_finding *f)
{
    const char *who = check_thread_text(t->arena, &f->other_thread);
    const char *does = f->other_is_write ? "writes" : "reads";
    if (f->fault == SIMT_FAULT_race_grid && !f->missing)
        return arena_printf(
            t->arena, "%s %s it here; no block waits for another", who, does);
    if (f->fault == SIMT_FAULT_race_block && !f->missing && is_one_place(f))
        return arena_printf(
            t->arena,
            "%s %s it in the same statement, where no barrier can be: make it "
            "atomic, or let one thread do it",
            who, does);
    if (f->fault == SIMT_FAULT_race_block && !f->missing && is_one_line(f))
        return arena_printf(
            t->arena,
            "%s %s it here: a barrier between the rounds of a loop is missing, "
            "or the statement is to be split around one",
            who, does);
    if (f->fault == SIMT_FAULT_race_block && !f->missing)
        return arena_printf(
            t->arena, "%s %s it here; a barrier between these two is missing",
            who, does);
    if (f->array && f->fault != SIMT_FAULT_hang)
        return arena_printf(t->arena, "%s %s it here", who, does);
    return arena_printf(t->arena, "%s %s", who,
                        f->other.line ? "waits here" : "does not come");
}

// Say which directive made an access, if one did.
static void tell_schedule(const struct teller *t, const struct simt_place *p)
{
    struct span span = check_span(t->check->c, p);
    if (span.source)
        diag_note(t->diags, span, "this directive made the access");
}

// Say who did it, and who was met.
static void tell_threads(const struct teller *t, const struct simt_finding *f)
{
    if (f->fault == SIMT_FAULT_unwritten)
        diag_note(t->diags, (struct span){0}, "the first is %s",
                  check_element_text(t->arena, f));
    else if (f->array && f->fault == SIMT_FAULT_hang)
        diag_label(t->diags, "looks at %s, which nobody changes",
                   check_element_text(t->arena, f));
    else if (f->array)
        diag_label(t->diags, "by %s", check_thread_text(t->arena, &f->thread));
    tell_schedule(t, &f->schedule);
    if (f->unbegun)
        diag_note(
            t->diags, (struct span){0},
            "%llu blocks of the grid have not begun: blocks that wait for "
            "others must all be resident at a time",
            (unsigned long long)f->unbegun);
    if (!f->has_other)
        return;
    diag_note(t->diags, check_span(t->check->c, &f->other), "%s",
              other_text(t, f));
    tell_schedule(t, &f->other_schedule);
    if (f->missing)
        diag_note(t->diags, (struct span){0},
                  f->missing == SIMT_MISSING_atomic ? "%s: write the scope `%s`"
                                                    : "%s: write `fence(%s)`",
                  simt_missing_text(f->missing),
                  f->fault == SIMT_FAULT_race_block ? "block" : "gpu");
}

// Say how often, at which sizes, and how to see it again.
static void tell_run(const struct teller *t, const struct check_finding *f,
                     uint64_t count)
{
    const char *sizes = check_sizes_text(t->arena, t->v->cases.at[f->at]);
    const char *times = count > 1 ? arena_printf(t->arena, "%llu times ",
                                                 (unsigned long long)count)
                                  : "";
    diag_note(t->diags, (struct span){0}, "%sin %s%s%s, under %s", times,
              check_variants_text(t->check, t->v, f), *sizes ? " with " : "",
              sizes, policies_text(t->arena, f->policies));
    diag_help(t->diags, "`%s` shows it again", replay_text(t, f));
}

// Report a finding of the executor.
static void tell_fault(const struct teller *t, const struct check_finding *f)
{
    const struct simt_finding *s = &f->simt;
    struct span span = check_span(t->check->c, &s->place);
    enum diag_code code = codes[s->fault];
    if (!span.source)
        span = s->fault == SIMT_FAULT_unwritten && s->buffer
                   ? s->buffer->span
                   : t->v->variant->source->span;
    if (f->is_left)
        diag_warning(t->diags, span, code, subject(t, s));
    else if (check_is_note(f))
        diag_remark(t->diags, span, code, subject(t, s));
    else
        diag_error(t->diags, span, code, subject(t, s));
    if (f->is_idle)
        diag_note(t->diags, (struct span){0}, "no result depends on it");
    tell_shape(t, f);
    tell_threads(t, s);
    tell_run(t, f, s->count);
}

// Return a number whose NaN has no sign.
static double plain(double x)
{
    return isnan(x) ? NAN : x;
}

// Report results that differ.
static void tell_difference(const struct teller *t,
                            const struct check_finding *f)
{
    const struct comparison *c = &f->difference;
    const struct compared *first = &c->first[0];
    diag_error(t->diags, c->buffer->span, D_check_differs, c->buffer->name,
               (long long)c->wrong, (long long)c->elements);
    diag_note(t->diags, (struct span){0},
              "element %zu is %.9g instead of %.9g; %.2g is allowed", first->at,
              plain(first->got), plain(first->want), c->tolerance);
    tell_run(t, f, 1);
}

// Report what led to a fault, if that is asked for.
static void tell_trace(const struct teller *t, struct check_finding *f)
{
    if (!t->check->request->has_trace || (check_is_note(f) && !f->is_left))
        return;
    f->trace = check_trace(t->check, t->v, f);
    if (f->trace)
        check_tell_trace(t->check, t->v, f->trace);
}

// Return the place of a finding in the order of reports.
static int rank(const struct check_finding *f)
{
    bool is_note =
        !f->is_difference && simt_fault_severity(f->simt.fault) == SIMT_NOTE;
    return is_note            ? 2 * SIMT_FAULTS + (int)f->simt.fault
           : f->is_difference ? SIMT_FAULTS
                              : (int)f->simt.fault;
}

// Order findings: causes first, then those of smaller sizes.
static int by_rank(const void *a, const void *b)
{
    const struct check_finding *x = a, *y = b;
    int first = rank(x) - rank(y);
    return first ? first : (x->at > y->at) - (x->at < y->at);
}

// Report how the child ended, unless it is done.
static bool tell_end(const struct teller *t)
{
    const struct isolated_result *end = &t->v->end;
    const struct ir_kernel *k = t->v->variant->source;
    const struct check_shared *s = t->v->shared;
    struct check_finding f = {.at = s->at, .policies = 1u << s->policy};
    switch (end->end) {
    case ISOLATED_DONE: return false;
    case ISOLATED_NO_PROCESS:
        diag_error(t->diags, (struct span){0}, D_simt_no_memory);
        return true;
    case ISOLATED_CRASHED:
        diag_error(t->diags, k->span, D_check_crashed, k->name, end->reason);
        if (*end->text)
            diag_note(t->diags, (struct span){0}, "it wrote:\n%s", end->text);
        break;
    case ISOLATED_TOO_LONG:
        diag_error(t->diags, k->span, D_check_too_long, k->name,
                   (long long)t->check->request->seconds);
        break;
    }
    tell_run(t, &f, 1);
    return true;
}

// Say where the first values of a result may come from: an atomic itself has
// none.
static void tell_first_values(const struct teller *t,
                              const struct eval_unwritten *u)
{
    const char *name = u->buffer->name;
    if (u->is_atomic)
        diag_help(t->diags,
                  "an atomic works on what is there: store the first values of "
                  "`%s` in a loop over blocks in front, or declare it `inout`",
                  name);
    else
        diag_help(t->diags, "give `%s` its first values, or declare it `inout`",
                  name);
}

// Report that results of the definition have come of what nobody has written:
// one that is written later always, else if nothing else was reported.
static bool tell_unwritten(const struct teller *t, bool is_told)
{
    const struct ir_kernel *k = definition_of(t->v->variant->source);
    for (size_t i = 0; i < t->v->cases.n; i++) {
        const struct eval_unwritten *u = t->v->cases.at[i]->unwritten;
        struct check_finding f = {.at = i,
                                  .policies = t->check->request->policies};
        if (!u || (is_told && !u->write.source))
            continue;
        diag_error(t->diags, u->read, D_check_unwritten, u->element, k->name);
        if (u->write.source) {
            diag_note(t->diags, u->write,
                      "it is written here, later: without a barrier, an "
                      "iteration of a loop over threads runs to its end "
                      "before the next one begins");
            diag_help(t->diags, "write `barrier` between the two");
        } else if (u->buffer->role == ROLE_output) {
            tell_first_values(t, u);
        }
        tell_run(t, &f, 1);
        return true;
    }
    return false;
}

// Report a fault of the definition itself.
static bool tell_definition(const struct teller *t)
{
    const struct ir_kernel *k = t->v->variant->source;
    for (size_t i = 0; i < t->v->cases.n; i++) {
        const struct check_case *one = t->v->cases.at[i];
        struct check_finding f = {.at = i,
                                  .policies = t->check->request->policies};
        if (!one->fault)
            continue;
        struct span span = one->fault_span.source ? one->fault_span : k->span;
        diag_error(t->diags, span, D_check_definition, k->name, one->fault);
        tell_run(t, &f, 1);
        return true;
    }
    return false;
}

// Report that nothing of a variant ran, or that some stores did not.  Returns
// whether that is an error.
static bool tell_coverage(const struct teller *t)
{
    const struct ir_kernel *k = t->v->variant->source;
    if (t->v->end.end != ISOLATED_DONE || t->v->shared->n_diags)
        return false;
    if (t->v->shared->blocks)
        return check_tell_unreached(t->check, t->v);
    diag_error(t->diags, k->span, D_check_nothing, check_name(t->v->variant),
               k->name);
    return true;
}

// Report what was found in a variant; `told` counts the faults of its kernel.
// Returns whether there are any.
static bool tell(const struct teller *t, size_t *told)
{
    struct check_shared *s = t->v->shared;
    size_t faults = 0;
    if (s->n_findings)
        qsort(s->findings, s->n_findings, sizeof *s->findings, by_rank);
    for (size_t i = 0; i < s->n_findings; i++) {
        const struct check_finding *f = &s->findings[i];
        bool is_note = check_is_note(f);
        faults += !is_note;
        if (check_is_told(t->check, t->v, f))
            continue;
        if (is_note ? !t->check->request->has_notes && !f->is_left
                    : *told >= TOLD_MOST)
            continue;
        *told += !is_note;
        (f->is_difference ? tell_difference : tell_fault)(t, f);
        tell_trace(t, &s->findings[i]);
    }
    bool ended = tell_end(t);
    faults += tell_unwritten(t, ended || faults);
    return ended || faults || tell_definition(t) || tell_coverage(t);
}

// Report that no sizes were found for a variant.  Returns whether that is an
// error: nothing of its kernel ran, or the check is strict.  A record's variant has
// one set of sizes, which may be too large; its results were compared in tuning.
static bool tell_no_sizes(const struct teller *t)
{
    const struct variant *v = t->v->variant;
    bool others = false;
    for (size_t i = 0; i < t->check->variants.n; i++)
        others |= t->check->variants.at[i].variant->source == v->source &&
                  t->check->variants.at[i].cases.n;
    bool is_recorded = v->number == 0;
    bool is_error = !others || (t->check->request->is_strict && !is_recorded);
    (is_error ? diag_error : diag_warning)(t->diags, v->source->span,
                                           D_check_no_sizes, check_name(v),
                                           v->source->name);
    const struct chooser *c = t->v->choosers.n ? t->v->choosers.at[0] : NULL;
    const char *far = c ? check_sizes_far(c) : NULL;
    if (far)
        diag_note(t->diags, v->source->span,
                  "it takes --size %s, too much to be tried unasked", far);
    return is_error;
}

bool check_tell(struct check *check)
{
    bool has_faults = false;
    size_t told = 0;
    for (size_t i = 0; i < check->variants.n; i++) {
        struct check_variant *v = &check->variants.at[i];
        struct teller t = {check, v, &check->c->arena, &check->c->diags};
        if (i && v[-1].variant->source != v->variant->source)
            told = 0;
        if (v->cases.n && v->shared)
            has_faults |= tell(&t, &told);
        else if (!v->cases.n && !v->is_refused)
            has_faults |= tell_no_sizes(&t);
    }
    return has_faults;
}
