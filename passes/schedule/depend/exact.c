// Pairs of iterations as integer sets: each access gets its own copy of the
// loops around it, except for those that are the same in both.

#include "passes/schedule/depend/access.h"

#include "passes/analysis/domain_build.h"

#include <isl/space.h>

// What one question may cost; subtracting sets is dear for each operation.
enum {
    ISL_OPERATIONS_MOST = 200000,
    COVER_OPERATIONS_MOST = 60000,
    SAMPLE_OPERATIONS_MOST = 20000, // of an example, which may be missing
};

// Two accesses of one element, as a set of pairs of iterations.
struct pair {
    struct domain d;
    const struct depend_nest *nest;
    const struct depend_question *question;
    const struct depend_access *x, *y;
    bool is_same;    // in one iteration of the question's loops
    size_t *sx, *sy; // symbols of the loops on the paths, by step
    isl_pw_aff **ix; // the index of x
};

// Return whether a loop is bound to blocks or threads.
static bool is_bound(const struct ir_stmt *loop)
{
    enum axis_kind kind = axis_kind(loop->u.loop.axis);
    return kind == AXIS_BLOCK || kind == AXIS_THREAD;
}

// Return whether both accesses are in the same iteration of a loop: step `at`
// of a path.
static bool is_fixed(const struct pair *p, const struct domain_step *step,
                     size_t at)
{
    const struct depend_question *q = p->question;
    if (at < p->nest->outer)
        return p->is_same || !q->across || is_bound(step->stmt);
    return p->is_same && at < p->nest->outer + q->n;
}

// Start a pair with the iterations of x.
static void start_pair(struct pair *p, isl_ctx *ctx, const struct map *sizes)
{
    const struct domain_path *path = &p->x->path;
    struct arena *a = p->nest->pass->scratch;
    domain_start(&p->d, ctx, a, p->nest->pass->kernel, sizes);
    p->sx = arena_array(a, size_t, path->n + 1);
    for (size_t i = 0; i < path->n; i++) {
        domain_enter(&p->d, &path->at[i]);
        if (!depend_is_loop(&path->at[i]))
            continue;
        p->sx[i] = domain_find(&p->d, path->at[i].stmt->u.loop.var);
        p->d.symbols.at[p->sx[i]].is_fixed = is_fixed(p, &path->at[i], i);
    }
    p->ix = arena_array(a, isl_pw_aff *, p->x->buffer->rank + 1);
    for (uint32_t i = 0; i < p->x->buffer->rank; i++)
        p->ix[i] = domain_value(&p->d, p->x->index[i]);
}

// Add the iterations of y that access the same element.
static void add_second(struct pair *p)
{
    const struct domain_path *path = &p->y->path;
    p->sy = arena_array(p->nest->pass->scratch, size_t, path->n + 1);
    for (size_t i = 0; i < path->n; i++) {
        bool loops = depend_is_loop(&path->at[i]);
        if (!loops || !is_fixed(p, &path->at[i], i))
            domain_enter(&p->d, &path->at[i]);
        if (loops)
            p->sy[i] = domain_find(&p->d, path->at[i].stmt->u.loop.var);
    }
    for (uint32_t i = 0; i < p->y->buffer->rank; i++)
        domain_equate(&p->d, isl_pw_aff_copy(p->ix[i]),
                      domain_value(&p->d, p->y->index[i]));
}

// Release a pair.
static void finish_pair(struct pair *p)
{
    for (uint32_t i = 0; i < p->x->buffer->rank; i++)
        isl_pw_aff_free(p->ix[i]);
    domain_finish(&p->d);
}

// Return the value of a symbol.
static isl_pw_aff *value(struct pair *p, size_t symbol)
{
    return domain_symbol_value(&p->d, symbol);
}

// Return the pairs of which the first is before the second in loops that
// nest in an order: symbols of both, outermost first.  If not `strictly`,
// both may be the same.
static isl_set *before_set(struct pair *p, const size_t *first,
                           const size_t *second, size_t n, bool strictly)
{
    isl_space *space = isl_space_copy(p->d.space);
    isl_set *set = strictly ? isl_set_empty(space) : isl_set_universe(space);
    for (size_t i = n; i-- > 0;) {
        isl_pw_aff *a = value(p, first[i]), *b = value(p, second[i]);
        isl_set *less =
            isl_pw_aff_lt_set(isl_pw_aff_copy(a), isl_pw_aff_copy(b));
        set = isl_set_intersect(set, isl_pw_aff_eq_set(a, b));
        set = isl_set_union(set, less);
    }
    return set;
}

// Keep the pairs that agree on the loops that the address determines.
static void equate_known(struct pair *p, const struct depend_known *known)
{
    size_t n = depend_common_steps(p->x, p->y);
    for (size_t i = 0; i < n; i++) {
        const struct domain_step *step = &p->x->path.at[i];
        if (depend_is_loop(step) && p->sx[i] != p->sy[i] &&
            depend_is_known(known, step->stmt->u.loop.var))
            domain_equate(&p->d, value(p, p->sx[i]), value(p, p->sy[i]));
    }
}

// Return the symbols of the question's loops, in an order of theirs, that the
// address does not determine; `n` of them.
static size_t *open_symbols(const struct pair *p, const size_t *symbols,
                            struct ir_stmt *const *order,
                            const struct depend_known *known, size_t *n)
{
    const struct depend_question *q = p->question;
    size_t *open = arena_array(p->nest->pass->scratch, size_t, q->n);
    *n = 0;
    for (size_t i = 0; i < q->n; i++) {
        size_t at = 0;
        while (q->loops[at] != order[i])
            at++;
        if (!depend_is_known(known, order[i]->u.loop.var))
            open[(*n)++] = symbols[p->nest->outer + at];
    }
    return open;
}

// Return the pairs that change places under the question's new order.
static isl_set *swapped_set(struct pair *p, const struct depend_known *known)
{
    size_t n;
    const struct depend_question *q = p->question;
    size_t *x = open_symbols(p, p->sx, q->loops, known, &n);
    size_t *y = open_symbols(p, p->sy, q->loops, known, &n);
    size_t *after_x = open_symbols(p, p->sx, q->order, known, &n);
    size_t *after_y = open_symbols(p, p->sy, q->order, known, &n);
    isl_set *forth = isl_set_intersect(
        before_set(p, x, y, n, true), before_set(p, after_y, after_x, n, true));
    isl_set *back = isl_set_intersect(before_set(p, y, x, n, true),
                                      before_set(p, after_x, after_y, n, true));
    return isl_set_union(forth, back);
}

// Return which step of a path is a loop on an axis; the number of steps if
// none is.
static size_t find_axis(const struct domain_path *path, enum axis axis)
{
    size_t i = 0;
    while (i < path->n && !(depend_is_loop(&path->at[i]) &&
                            path->at[i].stmt->u.loop.axis == axis))
        i++;
    return i;
}

// Return the pairs whose order the question leaves open.
static isl_set *open_set(struct pair *p, const struct depend_known *known)
{
    const struct depend_question *q = p->question;
    size_t x = p->nest->outer, y = p->nest->outer;
    if (q->any)
        return isl_set_universe(isl_space_copy(p->d.space));
    if (q->order)
        return swapped_set(p, known);
    if (!q->n) {
        x = find_axis(&p->x->path, q->axis);
        y = find_axis(&p->y->path, q->axis);
    }
    return isl_pw_aff_ne_set(value(p, p->sx[x]), value(p, p->sy[y]));
}

struct ir_stmt *depend_loop_on(const struct depend_access *x, enum axis axis)
{
    size_t at = find_axis(&x->path, axis);
    return at < x->path.n ? (struct ir_stmt *)x->path.at[at].stmt : NULL;
}

// Return whether an access is inside all of the question's loops.
static bool is_inside(const struct depend_nest *w,
                      const struct depend_question *q,
                      const struct depend_access *x)
{
    return x->path.n >= w->outer + q->n;
}

// Make the set of the pairs that the question is about.
static void make_pair(struct pair *p, isl_ctx *ctx, const struct map *sizes,
                      const struct depend_known *known)
{
    start_pair(p, ctx, sizes);
    add_second(p);
    equate_known(p, known);
    p->d.set = isl_set_intersect(p->d.set, open_set(p, known));
}

// Count a question to isl.
static void count(const struct depend_nest *w)
{
    if (w->pass->asked)
        ++*w->pass->asked;
}

bool depend_is_open(struct depend_nest *w, const struct depend_question *q,
                    const struct depend_access *x,
                    const struct depend_access *y, struct depend_known *known)
{
    *known = (struct depend_known){0};
    if (!is_inside(w, q, x) || !is_inside(w, q, y))
        return true;
    *known = depend_common(w, x, y);
    return !depend_is_settled(w, q, x, y, known);
}

bool depend_meets_open(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y,
                       const struct depend_known *known, bool *is_exact)
{
    struct pair p = {.nest = w, .question = q, .x = x, .y = y};
    *is_exact = false;
    if (!is_inside(w, q, x) || !is_inside(w, q, y))
        return true;
    isl_ctx *ctx = domain_context(ISL_OPERATIONS_MOST);
    count(w);
    make_pair(&p, ctx, NULL, known);
    isl_bool empty = isl_set_is_empty(p.d.set);
    *is_exact = p.d.is_affine && empty == isl_bool_false;
    finish_pair(&p);
    isl_ctx_free(ctx);
    return empty != isl_bool_true;
}

bool depend_meets(struct depend_nest *w, const struct depend_question *q,
                  const struct depend_access *x, const struct depend_access *y,
                  bool *is_exact)
{
    struct depend_known known;
    *is_exact = false;
    return depend_is_open(w, q, x, y, &known) &&
           depend_meets_open(w, q, x, y, &known, is_exact);
}

int64_t *depend_sample(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y, const struct map *sizes)
{
    struct depend_known known = depend_common(w, x, y);
    struct pair p = {.nest = w, .question = q, .x = x, .y = y};
    int64_t *sample = NULL, *point = NULL;
    size_t n = 0;
    if (!is_inside(w, q, x) || !is_inside(w, q, y))
        return NULL;
    isl_ctx *ctx = domain_context(SAMPLE_OPERATIONS_MOST);
    make_pair(&p, ctx, sizes, &known);
    if (p.d.is_affine && isl_set_is_empty(p.d.set) == isl_bool_false)
        point = domain_first_point(&p.d, isl_set_copy(p.d.set));
    if (point)
        sample =
            arena_array(w->pass->scratch, int64_t, x->path.n + y->path.n + 1);
    for (size_t i = 0; sample && i < x->path.n; i++, n++)
        sample[n] = depend_is_loop(&x->path.at[i]) ? point[p.sx[i]] : 0;
    for (size_t i = 0; sample && i < y->path.n; i++, n++)
        sample[n] = depend_is_loop(&y->path.at[i]) ? point[p.sy[i]] : 0;
    finish_pair(&p);
    isl_ctx_free(ctx);
    return sample;
}

// Return the pairs of which y runs before x.
static isl_set *earlier_set(struct pair *p)
{
    size_t steps = depend_common_steps(p->x, p->y), n = 0;
    struct arena *a = p->nest->pass->scratch;
    size_t *x = arena_array(a, size_t, steps + 1);
    size_t *y = arena_array(a, size_t, steps + 1);
    isl_set *same = isl_set_universe(isl_space_copy(p->d.space));
    for (size_t i = 0; i < steps; i++) {
        const struct domain_step *step = &p->x->path.at[i];
        if (!depend_is_loop(step) || p->sx[i] == p->sy[i])
            continue;
        if (is_bound(step->stmt)) {
            same =
                isl_set_intersect(same, isl_pw_aff_eq_set(value(p, p->sx[i]),
                                                          value(p, p->sy[i])));
            continue;
        }
        x[n] = p->sx[i];
        y[n++] = p->sy[i];
    }
    return isl_set_intersect(same, before_set(p, y, x, n, p->y > p->x));
}

// Remove from `left`, iterations of the read, those whose element a write has
// written.
static isl_set *remove_written(struct pair *p, isl_set *left,
                               const isl_set *reads)
{
    size_t first = p->d.symbols.n;
    isl_set_free(p->d.set);
    p->d.set = isl_set_copy((isl_set *)reads);
    p->d.is_exact = true;
    add_second(p);
    p->d.set = isl_set_intersect(p->d.set, earlier_set(p));
    if (!p->d.is_exact)
        return left;
    return isl_set_subtract(
        left, domain_project(&p->d, isl_set_copy(p->d.set), first));
}

// Let indices of the read that are not affine be any of the array.
static void bound_unknown(struct pair *p)
{
    const struct ir_buffer *b = p->x->buffer;
    for (uint32_t i = 0; i < b->rank; i++)
        if (!p->ix[i])
            p->ix[i] = domain_unknown(&p->d, b->shape[i]);
}

bool depend_is_covered(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *read)
{
    struct pair p = {.nest = w, .question = q, .x = read, .is_same = true};
    if (!is_inside(w, q, read))
        return false;
    if (depend_has_twin(w, q, read))
        return true;
    isl_ctx *ctx = domain_context(COVER_OPERATIONS_MOST);
    count(w);
    start_pair(&p, ctx, NULL);
    bound_unknown(&p);
    isl_set *reads = isl_set_copy(p.d.set), *left = isl_set_copy(p.d.set);
    for (size_t i = 0; i < w->accesses.n; i++) {
        p.y = &w->accesses.at[i];
        if (p.y != read && p.y->writes && p.y->buffer == read->buffer &&
            is_inside(w, q, p.y))
            left = remove_written(&p, left, reads);
    }
    bool covered = isl_set_is_empty(left) == isl_bool_true;
    isl_set_free(left);
    isl_set_free(reads);
    finish_pair(&p);
    isl_ctx_free(ctx);
    return covered;
}
