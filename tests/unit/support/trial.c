// Trials.

#include "tests/unit/support/trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS_MOST = 1 << 24 };

// ---- Comparing ------------------------------------------------------------

// Return an element as a number.
static double element(struct type type, const void *data, size_t i)
{
    const unsigned char *at =
        (const unsigned char *)data + i * type_bytes(type);
    return type_is_float(type) ? eval_load_float(type, at)
                               : (double)eval_load_int(type, at);
}

// Return how far apart two arrays are, relative to the larger of an element
// and the mean of all magnitudes.
static double distance(struct type type, const void *got, const void *wanted,
                       size_t n)
{
    double mean = 0, most = 0;
    for (size_t i = 0; i < n; i++)
        mean += fabs(element(type, wanted, i)) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double x = element(type, got, i), y = element(type, wanted, i);
        if (x == y || (isnan(x) && isnan(y)))
            continue;
        double apart = fabs(x - y) / fmax(mean, fabs(y));
        most = apart > most ? apart : most;
        if (isnan(apart) || !(apart <= most))
            return INFINITY;
    }
    return most;
}

// Order floats.
static int by_value(const void *a, const void *b)
{
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

// Return the elements of result `i` that count, and bring those that may be in
// any order into one.
static size_t settle(const struct ir_kernel *k, struct eval_argument *args,
                     size_t i, size_t elements)
{
    const struct ir_terms *t = &k->terms;
    size_t kept = elements;
    for (size_t u = 0; u < t->unordered.n; u++) {
        const struct ir_unordered *one = &t->unordered.at[u];
        int32_t n;
        if (one->parameter != i || !one->has_count)
            continue;
        memcpy(&n, args[one->count].data, sizeof n);
        kept = n < 0 ? 0 : (size_t)n < elements ? (size_t)n : elements;
        qsort(args[i].data, kept, sizeof(float), by_value);
    }
    return kept;
}

// Return how far the results are from those wanted.
static double results_apart(const struct tried *of, struct eval_argument *got,
                            struct eval_argument *wanted)
{
    const struct ir_kernel *k = of->variant->kernel;
    double most = 0;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b || b->role == ROLE_input)
            continue;
        size_t n = got[i].size / type_bytes(b->elem);
        size_t kept = settle(k, got, i, n);
        if (kept != settle(k, wanted, i, n))
            return INFINITY;
        double apart = distance(b->elem, got[i].data, wanted[i].data, kept);
        most = apart > most ? apart : most;
    }
    return most;
}

// Return a copy of arguments.
static struct eval_argument *copied(struct arena *a, const struct ir_kernel *k,
                                    const struct eval_argument *args)
{
    struct eval_argument *copy =
        arena_array(a, struct eval_argument, k->params.n + 1);
    for (size_t i = 0; i < k->params.n; i++) {
        copy[i] = args[i];
        if (k->params.at[i].buffer)
            copy[i].data = arena_copy(a, args[i].data, args[i].size);
    }
    return copy;
}

// ---- Running --------------------------------------------------------------

// Note what was found.  Where only some elements of a result count, the others
// may be left unwritten.  A read of what a block's arrays hold at first is a
// fault if results show it: LLVM may move a read in front of the branch that
// guards it.
static void note_findings(const struct tried *of, const struct simt_result *r,
                          struct outcome *out)
{
    for (size_t i = 0; i < r->n; i++) {
        enum simt_fault f = r->findings[i].fault;
        if (f == SIMT_FAULT_unwritten && of->variant->kernel->terms.unordered.n)
            continue;
        bool is_idle = f == SIMT_FAULT_uninitialised &&
                       r->findings[i].space != SPACE_global;
        if (simt_fault_severity(f) == SIMT_ERROR && !is_idle)
            out->is_flagged = true;
        else
            out->notes |= 1u << f;
    }
}

// Run a trial under one policy.
static void run_trial(struct arena *a, struct simt_code *code,
                      const struct tried *of, const struct trial *t,
                      enum simt_policy policy, struct outcome *out)
{
    static struct simt_result r;
    struct diag_list diags = {.arena = a};
    struct simt_run run = {
        .policy = policy, .seed = 3, .most_steps = STEPS_MOST};
    struct eval_argument *args = copied(a, of->variant->kernel, t->before);
    if (!simt_run(code, args, &run, &r, &diags)) {
        out->is_flagged = true;
        return;
    }
    note_findings(of, &r, out);
    double apart = r.is_stopped ? 0 : results_apart(of, args, t->wanted);
    out->apart = apart > out->apart ? apart : out->apart;
}

struct outcome trial_run(struct arena *a, const struct ir_kernel *kernel,
                         const struct tried *of)
{
    struct outcome out = {0};
    struct diag_list diags = {.arena = a};
    struct simt_code *code =
        simt_compile(a, kernel, &of->specimen->options, &diags);
    out.is_refused = !code;
    for (size_t i = 0; code && i < of->trials.n; i++)
        for (int p = 0; p < SIMT_POLICIES; p++)
            if (!out.is_flagged || out.apart <= of->tolerance)
                run_trial(a, code, of, &of->trials.at[i], (enum simt_policy)p,
                          &out);
    simt_free(code);
    return out;
}

// ---- Trials ---------------------------------------------------------------

// Return whether a launch would take an earlier variant of the kernel.
static bool is_taken(const struct tried *of, const struct eval_argument *args)
{
    const struct variant *v = of->specimen->c.variants.at;
    for (; v < of->variant; v++)
        if (v->source == of->variant->source &&
            target_set_has(v->targets, of->specimen->options.target) &&
            specimen_fits(v->kernel, args))
            return true;
    return false;
}

void trial_add(struct arena *a, struct tried *of, const char *sizes,
               specimen_fill fill)
{
    const struct ir_kernel *k = of->variant->kernel;
    struct trial t = {NULL, NULL};
    t.before = specimen_arguments(a, k, sizes, fill);
    if (!t.before || !specimen_fits(k, t.before) || is_taken(of, t.before))
        return;
    t.wanted = copied(a, k, t.before);
    struct eval_result r = ir_eval(a, of->variant->source, t.wanted, 0);
    if (r.status != EVAL_DONE)
        fail_msg("%s, %s: %s", of->variant->source->name, sizes, r.text);
    vec_push(a, &of->trials, t);
}
