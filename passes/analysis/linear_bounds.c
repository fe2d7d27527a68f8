// Bounds of unknowns, narrowed by one row after another, between which digits and
// equations make the rows simpler.
//
// What is still open is halved a few times.  What no halves decide is left as a system
// with the digits and without the equations: a shorter question for isl.

#include "passes/analysis/linear_bounds.h"

#include "passes/analysis/linear_solver.h"

#include <string.h>

enum { PASSES_MOST = 4, HALVES_MOST = 32 };

// Narrow the range of an unknown to where factor * unknown + rest >= 0.
// Returns whether that changed it.
static bool narrow(struct interval *r, int64_t factor, int64_t rest)
{
    struct interval old = *r;
    int64_t size = factor < 0 ? -factor : factor;
    int64_t down = rest / size - (rest % size < 0);
    if (factor > 0 && -down > r->lo && !solver_is_open(down))
        r->lo = -down;
    if (factor < 0 && down < r->hi && !solver_is_open(down))
        r->hi = down;
    return r->lo != old.lo || r->hi != old.hi;
}

// List the unknowns of each row.
static void list_parts(struct solver *s)
{
    s->parts.n = 0;
    vec_foreach(row, &s->rows) {
        struct parts p = {.n = 0};
        for (uint32_t i = 1; i <= s->n; i++)
            if (row->sum.k[i])
                p.at[p.n++] = (unsigned char)i;
        vec_push(s->arena, &s->parts, p);
    }
}

// Narrow the ranges by sign * x >= 0; false if nothing is left of one.
static bool narrow_all(struct solver *s, const struct sum *x,
                       const struct parts *parts, int64_t sign, bool *changed)
{
    int64_t most = sign * x->k[0];
    uint32_t open = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        int64_t factor = sign * x->k[parts->at[i]];
        int64_t end = solver_end(s, parts->at[i], factor, true);
        open += solver_is_open(end);
        most += solver_is_open(end) ? 0 : factor * end;
    }
    for (uint32_t i = 0; i < parts->n; i++) {
        int64_t factor = sign * x->k[parts->at[i]];
        int64_t end = solver_end(s, parts->at[i], factor, true);
        if (open > solver_is_open(end))
            continue;
        int64_t rest = most - (solver_is_open(end) ? 0 : factor * end);
        struct interval *r = &s->ranges[parts->at[i]];
        *changed |= narrow(r, factor, rest);
        if (r->lo > r->hi)
            return false;
    }
    return open || most >= 0;
}

// Narrow the ranges by all rows, whose parts are listed, a few times; false if
// nothing is left of one.
static bool propagate(struct solver *s)
{
    bool changed = true;
    for (int pass = 0; pass < PASSES_MOST && changed; pass++) {
        changed = false;
        for (size_t i = 0; i < s->rows.n; i++) {
            const struct linear_row *row = &s->rows.at[i];
            const struct parts *p = &s->parts.at[i];
            if (!narrow_all(s, &row->sum, p, 1, &changed) ||
                (row->is_zero && !narrow_all(s, &row->sum, p, -1, &changed)))
                return false;
        }
    }
    return true;
}

// Return whether all rows hold whatever the unknowns are in their ranges.
static bool holds(const struct solver *s)
{
    for (size_t i = 0; i < s->rows.n; i++) {
        struct interval r = solver_range(s, &s->rows.at[i].sum);
        if (r.lo < 0 || (s->rows.at[i].is_zero && r.hi > 0))
            return false;
    }
    return true;
}

// Return the unknown with the smallest range that is no number, 0 if there is
// none.
static uint32_t smallest(const struct solver *s)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i <= s->n; i++) {
        const struct interval *r = &s->ranges[i], *than = &s->ranges[best];
        if (r->lo < r->hi && !solver_is_open(r->lo) && !solver_is_open(r->hi) &&
            (!best || r->hi - r->lo < than->hi - than->lo))
            best = i;
    }
    return best;
}

static enum solvable halve(struct solver *s);

// Decide with an unknown in a part of its range.
static enum solvable decide_part(struct solver *s, uint32_t unknown,
                                 struct interval part)
{
    if (s->halves-- <= 0)
        return SOLVABLE_UNKNOWN;
    s->ranges[unknown] = part;
    return propagate(s) ? halve(s) : SOLVABLE_NO;
}

// Decide by the two halves of a range.
static enum solvable halve(struct solver *s)
{
    struct interval before[1 + UNKNOWNS_MOST];
    uint32_t unknown = smallest(s);
    if (holds(s))
        return SOLVABLE_YES;
    if (!unknown)
        return SOLVABLE_UNKNOWN;
    memcpy(before, s->ranges, sizeof before);
    struct interval r = before[unknown];
    int64_t middle = r.lo + (r.hi - r.lo) / 2;
    enum solvable first =
        decide_part(s, unknown, (struct interval){r.lo, middle});
    if (first == SOLVABLE_YES)
        return first;
    memcpy(s->ranges, before, sizeof before);
    enum solvable second =
        decide_part(s, unknown, (struct interval){middle + 1, r.hi});
    return second == SOLVABLE_NO ? first : second;
}

// Copy the rows.
static void start(struct solver *s, const struct linear *l)
{
    for (uint32_t i = 0; i <= s->n; i++)
        s->ranges[i] = (struct interval){-SOLVER_FAR, SOLVER_FAR};
    for (size_t i = 0; i < l->rows.n; i++) {
        struct linear_row row = {linear_number(0), l->rows.at[i].is_zero};
        solver_add(s, &row.sum, 1, &l->rows.at[i].sum);
        vec_push(s->arena, &s->rows, row);
    }
}

// Set the numbers of unknowns that have one value.
static void set_known(struct solver *s)
{
    for (uint32_t i = 1; i <= s->n && !s->is_far; i++) {
        if (s->ranges[i].lo != s->ranges[i].hi)
            continue;
        for (size_t k = 0; k < s->rows.n && !s->is_far; k++) {
            struct sum *x = &s->rows.at[k].sum, value = {.k = {0}};
            value.k[0] = s->ranges[i].lo;
            value.k[i] = -1;
            solver_add(s, x, x->k[i], &value);
        }
    }
}

// Append that an unknown is in its range.
static void append_range(struct linear *l, uint32_t i, struct interval range)
{
    struct sum x = linear_unknown(i), lo = linear_number(range.lo);
    struct sum hi = linear_number(range.hi);
    if (!solver_is_open(range.lo))
        linear_require(l, &x, &lo, 0);
    if (!solver_is_open(range.hi))
        linear_require(l, &hi, &x, 0);
}

// Return what is left to decide: the rows that the ranges do not say, and the
// ranges of the unknowns that they have.
static struct linear left_of(struct solver *s, const struct linear *l)
{
    struct linear r = {.arena = l->arena, .ctx = l->ctx, .n = s->n};
    bool has[1 + UNKNOWNS_MOST] = {false};
    vec_foreach(row, &s->rows) {
        if (!row->is_zero && solver_range(s, &row->sum).lo >= 0)
            continue;
        vec_push(l->arena, &r.rows, *row);
        for (uint32_t i = 1; i <= s->n; i++)
            has[i] |= row->sum.k[i] != 0;
    }
    for (uint32_t i = 1; i <= s->n; i++)
        if (has[i])
            append_range(&r, i, s->ranges[i]);
    return r;
}

enum solvable linear_bounds(const struct linear *l, struct linear *left)
{
    struct solver s = {.arena = l->arena, .n = l->n, .halves = HALVES_MOST};
    bool possible = true, changed = true;
    *left = *l;
    start(&s, l);
    solver_take_digits(&s);
    while (possible && changed && !s.is_far) {
        list_parts(&s);
        possible = propagate(&s);
        changed = possible && solver_use_equations(&s, &possible);
    }
    if (!possible)
        return SOLVABLE_NO;
    set_known(&s);
    if (s.is_far)
        return SOLVABLE_UNKNOWN;
    list_parts(&s);
    *left = left_of(&s, l);
    return halve(&s);
}
