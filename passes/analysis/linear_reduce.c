// Rows and unknowns that do not decide whether a system has a solution.
//
// An unknown that no row bounds from above may be as large as all of its rows need:
// they go with it, and then, maybe, an unknown of theirs:
//
//   x - 4 * n >= 0      n - m >= 1      x, then n, then m
//
// Most sizes of a kernel go in this way.

#include "passes/analysis/linear_reduce.h"

#include <string.h>

_Static_assert(UNKNOWNS_MOST < 64, "a set of unknowns is a number");

// A row, and the unknowns that it bounds from below and from above.
struct bound {
    const struct linear_row *row;
    uint64_t below, above;
};

struct bounds VEC(struct bound);

// Return the unknowns that a row bounds; an equation does from both sides.
static struct bound bound_of(const struct linear *l,
                             const struct linear_row *row)
{
    struct bound r = {row, 0, 0};
    for (uint32_t i = 1; i <= l->n; i++) {
        int64_t factor = row->sum.k[i];
        if (factor > 0 || (factor && row->is_zero))
            r.below |= UINT64_C(1) << i;
        if (factor < 0 || (factor && row->is_zero))
            r.above |= UINT64_C(1) << i;
    }
    return r;
}

// Return whether two rows differ in their numbers alone.
static bool are_parallel(const struct linear *l, const struct bound *x,
                         const struct bound *y)
{
    return x->below == y->below && x->above == y->above &&
           x->row->is_zero == y->row->is_zero &&
           memcmp(x->row->sum.k + 1, y->row->sum.k + 1,
                  l->n * sizeof *x->row->sum.k) == 0;
}

// Add a row, unless it holds in any case or another one says as much.
static void add(struct arena *a, const struct linear *l, struct bounds *all,
                const struct linear_row *row)
{
    struct bound new = bound_of(l, row);
    int64_t number = row->sum.k[0];
    if (!(new.below | new.above) && (row->is_zero ? number == 0 : number >= 0))
        return;
    vec_foreach(old, all) {
        if (!are_parallel(l, old, &new))
            continue;
        if (!row->is_zero && number < old->row->sum.k[0])
            old->row = row;
        if (!row->is_zero || number == old->row->sum.k[0])
            return;
    }
    vec_push(a, all, new);
}

// Drop the rows of unknowns that are bounded from one side only, until there are
// none.
static void drop(struct bounds *all)
{
    for (size_t before = all->n + 1; all->n < before;) {
        uint64_t below = 0, above = 0;
        vec_foreach(b, all) {
            below |= b->below;
            above |= b->above;
        }
        before = all->n;
        all->n = 0;
        for (size_t i = 0; i < before; i++)
            if (!((all->at[i].below | all->at[i].above) & (below ^ above)))
                all->at[all->n++] = all->at[i];
    }
}

struct linear linear_reduced(struct arena *a, const struct linear *l)
{
    struct linear r = {.arena = a, .ctx = l->ctx};
    struct bounds all = {0};
    uint64_t used = 0;
    uint32_t from[1 + UNKNOWNS_MOST] = {0};
    vec_foreach(row, &l->rows)
        add(a, l, &all, row);
    drop(&all);
    vec_foreach(b, &all)
        used |= b->below | b->above;
    for (uint32_t i = 1; i <= l->n; i++)
        if (used >> i & 1)
            from[++r.n] = i;
    vec_foreach(b, &all) {
        struct linear_row row = {.is_zero = b->row->is_zero};
        for (uint32_t i = 0; i <= r.n; i++)
            row.sum.k[i] = b->row->sum.k[from[i]];
        vec_push(a, &r.rows, row);
    }
    return r;
}
