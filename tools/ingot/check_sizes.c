// Chooses the sizes at which a variant runs: of many that are drawn, first a
// large one, then one after another those that show most of what the ones before
// did not, among equals the one with more work. A size without blocks shows
// nothing; one of them is taken beside the others.

#include "tools/ingot/check_sizes.h"

#include <stdlib.h>
#include <string.h>

enum { CASES_FOR_EMPTY = 4 };

#define LARGE_SHARE 0.4 // of the work, that one case may take
#define NEXT_SHARE  0.5 // of what is left, that each other may

// ---- Taking ---------------------------------------------------------------

// Take a draw.  Returns what of the work is left.
static double take(struct chooser *c, struct draw *d, double left)
{
    features_news(c, d, true);
    d->is_taken = true;
    return left - d->work;
}

// Return a draw with blocks for which something could not be proved, or NULL.
static struct draw *hinted_draw(struct chooser *c)
{
    for (size_t i = 0; i < c->draws.n; i++) {
        struct draw *d = &c->draws.at[i];
        if (d->is_hint && !d->is_taken && !d->is_empty)
            return d;
    }
    return NULL;
}

// Return the draw that shows most, of those that need no more than `most` and
// no less than `least` work; NULL: none.
static struct draw *best_draw(struct chooser *c, double least, double most)
{
    struct draw *best = NULL;
    size_t shown = 0;
    for (size_t i = 0; i < c->draws.n; i++) {
        struct draw *d = &c->draws.at[i];
        if (d->is_taken || d->is_empty || d->work > most || d->work < least)
            continue;
        size_t news = features_news(c, d, false);
        if (!best || news > shown || (news == shown && d->work > best->work)) {
            best = d;
            shown = news;
        }
    }
    return best;
}

// Return a draw without blocks, or NULL.
static struct draw *empty_draw(struct chooser *c)
{
    for (size_t i = 0; i < c->draws.n; i++)
        if (c->draws.at[i].is_empty && !c->draws.at[i].is_taken)
            return &c->draws.at[i];
    return NULL;
}

// Return the draw with blocks that needs least work, or NULL.
static struct draw *least_draw(struct chooser *c)
{
    struct draw *best = NULL;
    for (size_t i = 0; i < c->draws.n; i++) {
        struct draw *d = &c->draws.at[i];
        if (!d->is_taken && !d->is_empty && (!best || d->work < best->work))
            best = d;
    }
    return best;
}

// Take at most `n` draws for about so much work.  Returns how many were taken;
// if any has blocks, one of those is among them.
static size_t take_draws(struct chooser *c, size_t n, double work)
{
    struct draw *empty = n >= CASES_FOR_EMPTY ? empty_draw(c) : NULL;
    struct draw *d = best_draw(c, LARGE_SHARE / 2 * work, LARGE_SHARE * work);
    size_t taken = 0;
    if (!d)
        d = best_draw(c, 0, LARGE_SHARE * work);
    if (!d)
        d = least_draw(c);
    if (empty)
        empty->is_taken = true;
    for (double left = work; d && taken + !!empty < n; taken++) {
        struct draw *hint = taken % 2 ? NULL : hinted_draw(c);
        left = take(c, d, left);
        d = hint && hint != d && hint->work < NEXT_SHARE * left
                ? hint
                : best_draw(c, 0, NEXT_SHARE * left);
    }
    return taken + !!empty;
}

// Order draws: those that were taken now, then by work.
static int by_work(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;
    bool is_first = x->is_taken && !x->is_given;
    bool is_second = y->is_taken && !y->is_given;
    if (is_first != is_second)
        return is_second - is_first;
    return (x->work > y->work) - (x->work < y->work);
}

// ---- Requests -------------------------------------------------------------

// Return whether the user set a parameter.
static bool is_set(const struct problem_request *r, const char *name)
{
    for (size_t i = 0; i < r->values.n; i++)
        if (strcmp(r->values.at[i].name, name) == 0)
            return true;
    return false;
}

// Return the request with these sizes set, too.
static struct problem_request request_for(const struct chooser *c,
                                          const struct draw *d)
{
    struct arena *a = &c->check->c->arena;
    struct problem_request out = *c->request;
    memset(&out.values, 0, sizeof out.values);
    vec_append(a, &out.values, &c->request->values);
    for (size_t i = 0; i < c->n; i++) {
        struct problem_setting s = {
            c->v->source->params.at[c->params[i]].var->name,
            arena_printf(a, "%lld", (long long)d->sizes[i])};
        vec_push(a, &out.values, s);
    }
    return out;
}

// List the sizes that are open.
static void list_open(struct chooser *c)
{
    const struct ir_kernel *k = c->v->source;
    for (size_t i = 0; i < k->params.n && c->n < SIZES_MOST; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type) && !is_set(c->request, var->name))
            c->params[c->n++] = i;
    }
}

// Set the values of what is not drawn.  False with `wrong` set.
static bool make_base(struct chooser *c)
{
    struct arena *a = &c->check->c->arena;
    struct diag_list ignored = {.arena = a};
    struct draw one = {.sizes = {0}};
    struct problem_request request = request_for(c, &one);
    return problem_make(a, c->v->source, &request, &ignored, &c->base,
                        &c->check->wrong) != PROBLEM_USAGE;
}

struct chooser *check_sizes_open(struct check *check, const struct variant *v,
                                 const struct problem_request *request)
{
    struct chooser *c = arena_new(&check->c->arena, struct chooser);
    c->check = check;
    c->v = v;
    c->request = request;
    c->random = request->seed * 2 + 1;
    list_open(c);
    if (!make_base(c))
        return NULL;
    numbers_collect(c);
    return c;
}

const char *check_sizes_far(const struct chooser *c)
{
    struct arena *a = &c->check->c->arena;
    const char *text = NULL;
    for (size_t i = 0; i < c->n && c->has_least; i++)
        text = arena_printf(a, "%s%s%s=%lld", text ? text : "", text ? "," : "",
                            c->v->source->params.at[c->params[i]].var->name,
                            (long long)c->least.sizes[i]);
    return text;
}

void check_sizes_next(struct chooser *c, size_t n, double work,
                      struct check_sizes *out)
{
    struct arena *a = &c->check->c->arena;
    struct draw fixed = {.sizes = {0}};
    if (!c->n) {
        if (draws_hold(c) && !c->has_least)
            vec_push(a, out, request_for(c, &fixed));
        c->has_least = true;
        return;
    }
    if (!c->draws.n)
        draws_make_hints(c, LARGE_SHARE * work);
    draws_make(c, LARGE_SHARE * work);
    features_find(c);
    size_t taken = take_draws(c, n, work);
    if (c->draws.n)
        qsort(c->draws.at, c->draws.n, sizeof *c->draws.at, by_work);
    for (size_t i = 0; i < taken; i++) {
        vec_push(a, out, request_for(c, &c->draws.at[i]));
        c->draws.at[i].is_given = true;
    }
}
