// Predicts the time of every variant of a kernel.

#include "tools/ingot/candidates.h"
#include "tools/ingot/dispatch.h"

#include <stdlib.h>

// Return the values of the parameters.
static const int64_t *values_of(struct arena *a, const struct problem *p)
{
    size_t n = p->kernel->params.n;
    int64_t *values = arena_array(a, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        if (p->kernel->params.at[i].var)
            values[i] = p->values[i].scalar.i;
    return values;
}

// Ask about a variant, with what is known of its code.
static bool ask(struct compilation *c, const int64_t *values,
                const struct model_device *device, struct candidate *row)
{
    struct model_question question = {
        .kernel = row->variant->kernel, .values = values, .device = device};
    for (size_t i = 0; c->images.n && i < c->images.at[0].usage.n; i++) {
        const struct kernel_usage *u = &c->images.at[0].usage.at[i];
        struct model_code one = {u->name, (int)u->registers};
        vec_push(&c->arena, &question.code, one);
    }
    return model_time(&c->arena, &question, &row->time);
}

// Return whether a variant is the one with narrow indices of the next.
static bool is_narrow_of(const struct variant *v, const struct variant *next)
{
    return v->kernel->is_narrow && next->source == v->source &&
           next->number == v->number && !next->kernel->is_narrow;
}

// Return whether one of the two forms of a schedule is enough: that with narrow
// indices where it can run, else the other one.
static bool is_hidden(struct compilation *c, const struct problem *p, size_t i)
{
    const struct variant *v = &c->variants.at[i];
    struct arena *a = &c->scratch;
    if (i + 1 < c->variants.n && is_narrow_of(v, v + 1))
        return dispatch_refusal(a, p, v->kernel) != NULL;
    return i > 0 && is_narrow_of(v - 1, v) &&
           !dispatch_refusal(a, p, v[-1].kernel);
}

// Return which of two rows comes first: what can run, then what is faster.
static int compare(const void *left, const void *right)
{
    const struct candidate *x = left, *y = right;
    bool runs[] = {!x->refusal && x->is_timed, !y->refusal && y->is_timed};
    if (runs[0] != runs[1])
        return runs[0] ? -1 : 1;
    if (runs[0] && x->time.us != y->time.us)
        return x->time.us < y->time.us ? -1 : 1;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

struct candidates candidates_make(struct compilation *c,
                                  const struct problem *p,
                                  const struct model_device *device)
{
    struct arena *a = &c->arena;
    struct candidates rows = {0};
    const int64_t *values = values_of(a, p);
    bool is_found = false;
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        if (v->source != p->kernel || is_hidden(c, p, i))
            continue;
        struct candidate row = {.variant = v,
                                .refusal = dispatch_refusal(a, p, v->kernel)};
        row.is_taken = !row.refusal && !is_found;
        is_found |= row.is_taken;
        if (!row.refusal)
            row.is_timed = ask(c, values, device, &row);
        vec_push(a, &rows, row);
    }
    if (rows.n)
        qsort(rows.at, rows.n, sizeof *rows.at, compare);
    return rows;
}
