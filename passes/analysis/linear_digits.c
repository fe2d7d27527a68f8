// Digits, and what the files of the solver share.
//
// Positions and their quotients by 32, 8 ... become digits: where
//
//   0 <= t - 32 * w < 32      r = t - 32 * w is an unknown in place of t
//
// so that a row is a number in mixed radix.

#include "passes/analysis/linear_solver.h"

// Add factor * y to x.
void solver_add(struct solver *s, struct sum *x, int64_t factor,
                const struct sum *y)
{
    s->is_far |= factor < -SOLVER_FAR || factor > SOLVER_FAR;
    for (uint32_t i = 0; i <= s->n && !s->is_far; i++) {
        x->k[i] += factor * y->k[i];
        s->is_far = x->k[i] < -SOLVER_FAR || x->k[i] > SOLVER_FAR;
    }
}

// Return an unknown with factor 1 or -1 in a sum, 0 if there is none; those
// `used` do not count.
uint32_t solver_unit(const struct solver *s, const struct sum *x,
                     const bool *used)
{
    for (uint32_t i = 1; i <= s->n; i++)
        if ((x->k[i] == 1 || x->k[i] == -1) && !used[i])
            return i;
    return 0;
}

// Return the end of factor * unknown, its greatest value or its least.
int64_t solver_end(const struct solver *s, uint32_t unknown, int64_t factor,
                   bool greatest)
{
    const struct interval *r = &s->ranges[unknown];
    return (factor > 0) == greatest ? r->hi : r->lo;
}

// Return whether an end is none.
bool solver_is_open(int64_t end)
{
    return end <= -SOLVER_FAR || end >= SOLVER_FAR;
}

// Return the range of a sum; one without bounds if an unknown has none.
struct interval solver_range(const struct solver *s, const struct sum *x)
{
    struct interval r = {x->k[0], x->k[0]};
    for (uint32_t i = 1; i <= s->n; i++) {
        if (!x->k[i])
            continue;
        if (solver_is_open(s->ranges[i].lo) || solver_is_open(s->ranges[i].hi))
            return interval_all();
        r.lo += x->k[i] * solver_end(s, i, x->k[i], false);
        r.hi += x->k[i] * solver_end(s, i, x->k[i], true);
    }
    return r;
}

// Return whether two sums add up to a number that is not negative.
static bool is_opposite(const struct solver *s, const struct sum *x,
                        const struct sum *y)
{
    bool same = x->k[0] + y->k[0] >= 0;
    for (uint32_t i = 1; i <= s->n && same; i++)
        same = x->k[i] == -y->k[i];
    return same;
}

// Return whether some row says that x is at most a number.
static bool has_end(const struct solver *s, const struct sum *x)
{
    vec_foreach(row, &s->rows)
        if (!row->is_zero && is_opposite(s, &row->sum, x))
            return true;
    return false;
}

// Return whether a sum has several unknowns.
static bool has_several(const struct solver *s, const struct sum *x)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i <= s->n; i++)
        n += x->k[i] != 0;
    return n > 1;
}

// Make a sum an unknown, in place of one that it has with factor 1 or -1.
static void replace(struct solver *s, uint32_t unknown, const struct sum *by)
{
    struct sum rest = *by;
    int64_t sign = by->k[unknown];
    rest.k[unknown] = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        struct sum *x = &s->rows.at[i].sum;
        x->k[unknown] *= sign;
        solver_add(s, x, -x->k[unknown], &rest);
    }
}

// Make sums that stay between two numbers unknowns.
void solver_take_digits(struct solver *s)
{
    bool used[1 + UNKNOWNS_MOST] = {false};
    for (size_t i = 0; i < s->rows.n && !s->is_far; i++) {
        const struct sum x = s->rows.at[i].sum;
        uint32_t unknown = solver_unit(s, &x, used);
        if (s->rows.at[i].is_zero || !unknown || !has_several(s, &x) ||
            !has_end(s, &x))
            continue;
        replace(s, unknown, &x);
        used[unknown] = true;
    }
}
