// Equations of digits.
//
// An equation falls apart where what is below a radix cannot reach it, and each part
// gives one unknown in terms of others:
//
//   r + 8 * q - r' = 8, r and r' in 0..8      r - r' = 0  and  8 * q = 8

#include "passes/analysis/linear_solver.h"

#include "ir/base/num.h"

// Append x >= 0.
static void append(struct solver *s, struct sum x)
{
    struct linear_row row = {x, false};
    vec_push(s->arena, &s->rows, row);
}

// Divide an equation by what its factors have in common; false if that does
// not divide the constant.
static bool divide(const struct solver *s, struct sum *x)
{
    int64_t common = 0;
    for (uint32_t i = 1; i <= s->n; i++)
        common = num_gcd(common, x->k[i]);
    if (common == 0 || x->k[0] % common)
        return common == 0 && x->k[0] == 0;
    for (uint32_t i = 0; i <= s->n; i++)
        x->k[i] /= common;
    return true;
}

// Return the part of an equation whose factors are no multiples of a radix,
// with a constant from 0 on.
static struct sum below_radix(const struct solver *s, const struct sum *x,
                              int64_t radix)
{
    struct sum r = {.k = {(x->k[0] % radix + radix) % radix}};
    for (uint32_t i = 1; i <= s->n; i++)
        r.k[i] = x->k[i] % radix ? x->k[i] : 0;
    return r;
}

// Split an equation where the part below a radix can be only one multiple of
// it.  Returns whether it did; *possible: whether there is such a multiple.
static bool split(struct solver *s, struct linear_row *row, int64_t radix,
                  bool *possible)
{
    struct linear_row low = {below_radix(s, &row->sum, radix), true};
    struct interval r = solver_range(s, &low.sum);
    bool is_number = r.lo == r.hi;
    if (is_number || r.lo == INT64_MIN || r.hi == INT64_MAX)
        return false;
    int64_t multiple = -(-r.lo / radix - (-r.lo % radix < 0)) * radix;
    *possible = multiple <= r.hi;
    if (multiple + radix <= r.hi)
        return false;
    low.sum.k[0] -= multiple;
    solver_add(s, &row->sum, -1, &low.sum);
    vec_push(s->arena, &s->rows, low);
    return true;
}

// Split an equation at any of its radices.
static bool split_any(struct solver *s, size_t at, bool *possible)
{
    for (uint32_t i = 1; i <= s->n && *possible; i++) {
        struct linear_row *row = &s->rows.at[at];
        int64_t radix = row->sum.k[i] < 0 ? -row->sum.k[i] : row->sum.k[i];
        if (radix > 1 && split(s, row, radix, possible))
            return true;
    }
    return false;
}

// Keep the bounds of an unknown, that is about to go, as rows for what it is.
static void keep_bounds(struct solver *s, uint32_t unknown,
                        const struct sum *is)
{
    const struct interval r = s->ranges[unknown];
    struct sum above = linear_number(0), below = above;
    solver_add(s, &above, 1, is);
    solver_add(s, &below, -1, is);
    above.k[0] -= r.lo;
    below.k[0] += r.hi;
    if (!solver_is_open(r.lo))
        append(s, above);
    if (!solver_is_open(r.hi))
        append(s, below);
    s->ranges[unknown] = interval_of(0);
}

// Put what an equation says of an unknown in its place.
static void eliminate(struct solver *s, size_t at, uint32_t unknown)
{
    struct sum is = linear_number(0);
    solver_add(s, &is, -s->rows.at[at].sum.k[unknown], &s->rows.at[at].sum);
    is.k[unknown] = 0;
    s->rows.at[at].sum = linear_number(0);
    for (size_t i = 0; i < s->rows.n; i++) {
        struct sum *x = &s->rows.at[i].sum;
        int64_t factor = x->k[unknown];
        x->k[unknown] = 0;
        solver_add(s, x, factor, &is);
    }
    keep_bounds(s, unknown, &is);
}

// Use an equation once.  Returns whether that changed the system; *possible
// as for split.
static bool use_equation(struct solver *s, size_t at, bool *possible)
{
    static const bool used[1 + UNKNOWNS_MOST] = {false};
    struct sum *x = &s->rows.at[at].sum;
    *possible = divide(s, x);
    if (!*possible || split_any(s, at, possible))
        return *possible;
    uint32_t unknown = *possible ? solver_unit(s, x, used) : 0;
    if (unknown)
        eliminate(s, at, unknown);
    return unknown != 0;
}

// Use the first equation that changes the system; false if there is none.
bool solver_use_equations(struct solver *s, bool *possible)
{
    for (size_t i = 0; i < s->rows.n && *possible; i++)
        if (s->rows.at[i].is_zero && use_equation(s, i, possible))
            return true;
    return false;
}
