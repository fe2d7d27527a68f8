// What led to a fault: the smallest sizes that show it, first among those that
// were checked, then smaller ones, and the accesses of its element there.
//
// Ordinary runs note no accesses.  A child runs the variant again, each time as
// the run that showed the fault, and the last time with a trace.

#include "tools/ingot/check.h"

#include "tools/ingot/cli.h"
#include "tools/ingot/equivalence.h"

#include <string.h>

// Runs to find small sizes, and accesses of all of them.
enum { TRIALS_MOST = 60 };
#define ACCESSES_MOST UINT64_C(50000000)

// The work of the child.
struct tracer {
    struct check_request request;
    struct check check; // a copy, with that request
    const struct check_variant *v;
    const struct check_finding *known;
    struct check_shared *shared;
    struct check_trace *out;
    struct simt_code *code;
    struct simt_result *result;
    uint64_t accesses;          // of all runs
    struct check_case *least;   // the smallest that shows the fault so far
    struct check_finding found; // how it does
    struct arena arena;
    struct diag_list diags;
};

// ---- One run --------------------------------------------------------------

// Return whether there is something to compare with the results of the last run.
static bool is_comparable(const struct tracer *t, const struct check_case *one)
{
    return one->want && !t->result->is_stopped;
}

// Compare all results.  Returns whether any is wrong; that of the fault, if one
// is at fault, is kept.
static bool differs(struct tracer *t, const struct check_case *one,
                    struct eval_argument *got)
{
    struct equivalence e = check_equivalence(&t->check, t->v, one);
    bool any = false;
    if (!is_comparable(t, one))
        return false;
    if (check_sample(&t->check, t->v->variant, one))
        check_complete(one, got);
    equivalence_sort(&e, got);
    equivalence_sort(&e, one->want);
    for (size_t i = 0; i < one->problem.arrays.n; i++) {
        const struct problem_array *array = &one->problem.arrays.at[i];
        if (array->buffer->role == ROLE_input)
            continue;
        struct comparison c = equivalence_compare(&e, array, got, one->want);
        any |= c.wrong;
        if (c.wrong && t->known->is_difference &&
            array->buffer == t->known->difference.buffer)
            t->found =
                (struct check_finding){.is_difference = true, .difference = c};
    }
    return any;
}

// Return whether a run has shown the fault.
static bool has_shown(struct tracer *t, const struct check_case *one,
                      struct eval_argument *got)
{
    const struct check_finding *known = t->known;
    bool needs_use = known->simt.fault == SIMT_FAULT_uninitialised &&
                     known->simt.space != SPACE_global;
    t->found = (struct check_finding){.is_difference = false};
    if (known->is_difference)
        return differs(t, one, got) && t->found.is_difference;
    for (size_t i = 0; i < t->result->n; i++) {
        struct check_finding f = {.simt = t->result->findings[i]};
        if (!check_same(&f, known))
            continue;
        t->found = f;
        return !needs_use || known->is_idle || !is_comparable(t, one) ||
               differs(t, one, got);
    }
    return false;
}

// Run a case once, with a trace or without, with a choice or without.  Returns
// whether that has shown the fault.
static bool run(struct tracer *t, const struct check_case *one, size_t choice,
                struct simt_trace *trace)
{
    struct check_order order = t->known->order;
    order.choice = choice;
    struct simt_run how = check_how(&t->check, t->v->variant, one, &order);
    how.resident = check_resident(t->code, &order);
    how.trace = trace;
    struct eval_argument *got =
        problem_arguments(&t->arena, &one->problem, &t->diags);
    t->out->trials++;
    if (!got || !simt_run(t->code, got, &how, t->result, &t->diags))
        return false;
    t->accesses += t->result->accesses;
    bool shown = has_shown(t, one, got);
    problem_free_arguments(&one->problem, got);
    return shown;
}

// Run a case as the run that showed the fault.  Choices are those that a run
// without one has shown.
static bool run_as_known(struct tracer *t, const struct check_case *one,
                         struct simt_trace *trace)
{
    size_t choice = t->known->order.choice;
    if (choice)
        run(t, one, 0, NULL);
    return run(t, one, choice, trace);
}

// ---- Small sizes ----------------------------------------------------------

// Return whether more runs may look for smaller sizes.
static bool may_try(const struct tracer *t)
{
    return t->out->trials < TRIALS_MOST && t->accesses < ACCESSES_MOST;
}

// Try a case.  Returns whether it shows the fault: it is the smallest so far.
static bool try(struct tracer *t, struct check_case *one)
{
    struct check_finding last = t->found;
    if (one && run_as_known(t, one, NULL)) {
        t->least = one;
        return true;
    }
    t->found = last;
    return false;
}

// Return the case of least work of those that were checked and not tried, or
// NULL.
static struct check_case *next_checked(const struct tracer *t, bool *tried)
{
    const struct check_variant *v = t->v;
    size_t best = v->cases.n;
    for (size_t i = 0; i < v->cases.n; i++)
        if (!tried[i] &&
            (best == v->cases.n ||
             v->cases.at[i]->work.steps < v->cases.at[best]->work.steps))
            best = i;
    if (best == v->cases.n)
        return NULL;
    tried[best] = true;
    return v->cases.at[best];
}

// Find the smallest case of those that were checked that shows the fault.
static bool find_checked(struct tracer *t)
{
    bool *tried = arena_array(&t->arena, bool, t->v->cases.n);
    struct check_case *one;
    while (may_try(t) && (one = next_checked(t, tried)))
        if (try(t, one))
            return true;
    return try(t, t->v->cases.at[t->known->at]);
}

// Return whether the command line sets a parameter.
static bool is_set(const struct tracer *t, const char *name)
{
    const struct problem_options *o = &t->request.problem;
    for (size_t i = 0; i < o->runs.n; i++)
        for (size_t j = 0; j < o->runs.at[i].values.n; j++)
            if (strcmp(o->runs.at[i].values.at[j].name, name) == 0)
                return true;
    return false;
}

// Return the request of the smallest case with another value of a size.
static struct problem_request request_with(struct tracer *t, const char *name,
                                           int64_t value)
{
    struct problem_request out = t->least->request;
    const char *text = arena_printf(&t->arena, "%lld", (long long)value);
    memset(&out.values, 0, sizeof out.values);
    for (size_t i = 0; i < t->least->request.values.n; i++) {
        struct problem_setting s = t->least->request.values.at[i];
        if (strcmp(s.name, name) == 0)
            s.text = text;
        vec_push(&t->arena, &out.values, s);
    }
    return out;
}

// Return the smallest case with another value of a size; NULL if the variant
// does not take that.
static struct check_case *case_with(struct tracer *t, const char *name,
                                    int64_t value)
{
    struct problem_request request = request_with(t, name, value);
    struct check_sizes sizes = {0};
    struct chooser *c = check_sizes_open(&t->check, t->v->variant, &request);
    if (c)
        check_sizes_next(c, 1, t->request.work, &sizes);
    t->check.wrong = NULL;
    return sizes.n ? check_case(&t->check, t->v->variant->source, &sizes.at[0])
                   : NULL;
}

// Make a size smaller: by half, by a quarter, and so on to one.  Returns whether
// the fault is still shown.
static bool shrink_one(struct tracer *t, size_t parameter)
{
    const struct ir_var *var = t->v->variant->source->params.at[parameter].var;
    if (!var || !type_is_index(var->type) || is_set(t, var->name))
        return false;
    int64_t now = t->least->problem.values[parameter].scalar.i;
    for (int64_t less = (now + 1) / 2; less > 0 && may_try(t); less /= 2)
        if (try(t, case_with(t, var->name, now - less)))
            return true;
    return false;
}

// Make sizes smaller until none can be.
static void shrink(struct tracer *t)
{
    bool any = true;
    while (any && may_try(t)) {
        any = false;
        for (size_t i = 0; i < t->v->variant->source->params.n; i++)
            any |= shrink_one(t, i);
    }
}

// ---- The trace ------------------------------------------------------------

// Return the finding that says which element a trace is of.
static struct simt_finding element_of(const struct tracer *t)
{
    const struct comparison *c = &t->found.difference;
    if (!t->found.is_difference)
        return t->found.simt;
    return (struct simt_finding){.array = c->buffer->name,
                                 .buffer = c->buffer,
                                 .space = SPACE_global,
                                 .element = (int64_t)c->first[0].at};
}

// Return a place whose text is in shared memory.
static struct simt_place shared_place(struct tracer *t, struct simt_place p)
{
    p.file = check_share_text(t->shared, p.file);
    return p;
}

// Hand the trace to the parent.
static void hand_out(struct tracer *t, const struct simt_trace *trace,
                     const struct simt_finding *at)
{
    struct check_trace *out = t->out;
    const struct ir_kernel *k = t->v->variant->source;
    size_t n = 0;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type) && n < CHECK_SIZES)
            out->sizes[n++] = t->least->problem.values[i].scalar.i;
    }
    for (size_t i = 0; i < trace->n; i++) {
        struct simt_event *e = &out->events[i];
        *e = trace->events[i];
        e->at.place = shared_place(t, e->at.place);
        e->at.schedule = shared_place(t, e->at.schedule);
        e->at.array = check_share_text(t->shared, e->at.array);
    }
    out->n = trace->n;
    out->left_out = trace->left_out;
    out->order = t->known->order;
    out->at = *at;
    out->at.array = check_share_text(t->shared, at->array);
    out->is_wrong = t->found.is_difference;
    out->want = out->is_wrong ? t->found.difference.first[0].want : 0;
    out->is_known = true;
}

// Trace a wrong result again, with what the thread read that wrote it last.
// Returns false if that run does not show the fault.
static bool trace_reads(struct tracer *t, struct simt_trace *trace)
{
    struct simt_thread writer;
    bool any = false;
    for (size_t i = 0; i < trace->n && !trace->of; i++) {
        const struct simt_event *e = &trace->events[i];
        if (e->kind != SIMT_EVENT_write && e->kind != SIMT_EVENT_atomic)
            continue;
        writer = e->at.thread;
        any = true;
    }
    trace->reader = any ? &writer : NULL;
    bool ok = !any || run_as_known(t, t->least, trace);
    trace->reader = NULL;
    return ok;
}

// Be the child.
static void work(void *context)
{
    struct tracer *t = context;
    struct simt_trace trace = {.n = 0};
    t->diags.arena = &t->arena;
    t->result = arena_new(&t->arena, struct simt_result);
    t->code = check_compile(&t->check, t->v, &t->arena, &t->diags);
    if (!t->code || !find_checked(t))
        return;
    shrink(t);
    struct check_finding small = t->found;
    struct simt_finding at = element_of(t);
    trace.of = small.is_difference ? NULL : &at;
    trace.array = at.array;
    trace.element = at.element;
    if (run_as_known(t, t->least, &trace) && trace_reads(t, &trace))
        hand_out(t, &trace, &at);
}

// Return whether a fault is of an element that can be found again.
static bool has_element(const struct check *check,
                        const struct check_variant *v,
                        const struct check_finding *f)
{
    if (!f->is_difference)
        return f->simt.array;
    const struct check_case *one = v->cases.at[f->at];
    struct equivalence e = check_equivalence(check, v, one);
    bool is_unordered = false, is_counted;
    for (size_t i = 0; i < one->problem.arrays.n; i++)
        if (one->problem.arrays.at[i].buffer == f->difference.buffer)
            is_unordered = equivalence_is_unordered(
                &e, &one->problem.arrays.at[i], &is_counted);
    return !is_unordered;
}

// Say what the child does.
static void tick(void *context)
{
    const struct tracer *t = context;
    cli_progress(arena_printf(
        (struct arena *)&t->arena, "tracing a fault of %s: run %llu",
        t->v->variant->source->name, (unsigned long long)t->out->trials));
}

const struct check_trace *check_trace(struct check *check,
                                      const struct check_variant *v,
                                      const struct check_finding *f)
{
    struct check_shared *s = v->shared;
    struct check_trace *out = &s->traces[s->n_traces];
    struct tracer t = {.request = *check->request,
                       .check = *check,
                       .v = v,
                       .known = f,
                       .shared = s,
                       .out = out};
    struct isolated_result end;
    if (s->n_traces == CHECK_TRACES || check->request->is_unchecked ||
        !has_element(check, v, f))
        return NULL;
    if (!f->is_difference && f->simt.fault != SIMT_FAULT_uninitialised)
        t.request.problem.definition.by = DEFINITION_NONE;
    t.check.request = &t.request;
    *out = (struct check_trace){.trials = 0};
    struct isolated what = {.work = work,
                            .context = &t,
                            .progress = &out->trials,
                            .seconds = check->request->seconds,
                            .tick = tick};
    isolated_run(&what, &end);
    arena_reset(&t.arena);
    cli_progress(NULL);
    s->n_traces += out->is_known;
    return out->is_known ? out : NULL;
}
