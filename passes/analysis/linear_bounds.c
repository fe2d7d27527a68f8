// Bounds of unknowns, narrowed by one row after another.
//
// Positions and their quotients by 32, 8 ... become digits first: where
//
//   0 <= t - 32 * w < 32      r = t - 32 * w is an unknown in place of t
//
// so that a row is a number in mixed radix.  An equation of such numbers falls
// apart where what is below a radix cannot reach it, and each part gives one
// unknown in terms of others:
//
//   r + 8 * q - r' = 8, r and r' in 0..8      r - r' = 0  and  8 * q = 8
//
// What is still open is halved a few times.

#include "passes/analysis/linear_bounds.h"

#include "ir/base/num.h"
#include "passes/analysis/interval.h"

// Numbers beyond are not calculated with, and no bounds: a sum of products of
// two numbers fits in 64 bits.
static const int64_t FAR = INT64_C(1) << 27;

enum { PASSES_MOST = 4, HALVES_MOST = 32 };

// A system being solved.
struct solver {
    struct arena *arena;
    uint32_t n; // unknowns
    struct VEC(struct linear_row) rows;
    struct interval ranges[1 + UNKNOWNS_MOST]; // of the unknowns
    bool is_far;                               // a number is too large
    int halves;                                // left
};

// Add factor * y to x.
static void add(struct solver *s, struct sum *x, int64_t factor,
                const struct sum *y)
{
    s->is_far |= factor < -FAR || factor > FAR;
    for (uint32_t i = 0; i <= s->n && !s->is_far; i++) {
        x->k[i] += factor * y->k[i];
        s->is_far = x->k[i] < -FAR || x->k[i] > FAR;
    }
}

// Append x >= 0.
static void append(struct solver *s, struct sum x)
{
    struct linear_row row = {x, false};
    vec_push(s->arena, &s->rows, row);
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

// Return an unknown with factor 1 or -1 in a sum, 0 if there is none; those
// `used` do not count.
static uint32_t unit_of(const struct solver *s, const struct sum *x,
                        const bool *used)
{
    for (uint32_t i = 1; i <= s->n; i++)
        if ((x->k[i] == 1 || x->k[i] == -1) && !used[i])
            return i;
    return 0;
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
        add(s, x, -x->k[unknown], &rest);
    }
}

// Make sums that stay between two numbers unknowns.
static void take_digits(struct solver *s)
{
    bool used[1 + UNKNOWNS_MOST] = {false};
    for (size_t i = 0; i < s->rows.n && !s->is_far; i++) {
        const struct sum x = s->rows.at[i].sum;
        uint32_t unknown = unit_of(s, &x, used);
        if (s->rows.at[i].is_zero || !unknown || !has_several(s, &x) ||
            !has_end(s, &x))
            continue;
        replace(s, unknown, &x);
        used[unknown] = true;
    }
}

// Return the end of factor * unknown, its greatest value or its least.
static int64_t end_of(const struct solver *s, uint32_t unknown, int64_t factor,
                      bool greatest)
{
    const struct interval *r = &s->ranges[unknown];
    return (factor > 0) == greatest ? r->hi : r->lo;
}

// Return whether an end is none.
static bool is_open(int64_t end)
{
    return end <= -FAR || end >= FAR;
}

// Narrow the range of an unknown to where factor * unknown + rest >= 0.
// Returns whether that changed it.
static bool narrow(struct interval *r, int64_t factor, int64_t rest)
{
    struct interval old = *r;
    int64_t size = factor < 0 ? -factor : factor;
    int64_t down = rest / size - (rest % size < 0);
    if (factor > 0 && -down > r->lo && !is_open(down))
        r->lo = -down;
    if (factor < 0 && down < r->hi && !is_open(down))
        r->hi = down;
    return r->lo != old.lo || r->hi != old.hi;
}

// Narrow the ranges by sign * x >= 0; false if nothing is left of one.
static bool narrow_all(struct solver *s, const struct sum *x, int64_t sign,
                       bool *changed)
{
    int64_t most = sign * x->k[0];
    uint32_t open = 0;
    for (uint32_t i = 1; i <= s->n; i++) {
        int64_t factor = sign * x->k[i];
        int64_t end = factor ? end_of(s, i, factor, true) : 0;
        open += is_open(end);
        most += is_open(end) ? 0 : factor * end;
    }
    for (uint32_t i = 1; i <= s->n; i++) {
        int64_t factor = sign * x->k[i];
        int64_t end = factor ? end_of(s, i, factor, true) : 0;
        if (!factor || open > is_open(end))
            continue;
        int64_t rest = most - (is_open(end) ? 0 : factor * end);
        *changed |= narrow(&s->ranges[i], factor, rest);
        if (s->ranges[i].lo > s->ranges[i].hi)
            return false;
    }
    return open || most >= 0;
}

// Narrow the ranges by all rows, a few times; false if nothing is left of one.
static bool propagate(struct solver *s)
{
    bool changed = true;
    for (int pass = 0; pass < PASSES_MOST && changed; pass++) {
        changed = false;
        vec_foreach(row, &s->rows)
            if (!narrow_all(s, &row->sum, 1, &changed) ||
                (row->is_zero && !narrow_all(s, &row->sum, -1, &changed)))
                return false;
    }
    return true;
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

// Return the range of a sum; one without bounds if an unknown has none.
static struct interval range_of(const struct solver *s, const struct sum *x)
{
    struct interval r = {x->k[0], x->k[0]};
    for (uint32_t i = 1; i <= s->n; i++) {
        if (!x->k[i])
            continue;
        if (is_open(s->ranges[i].lo) || is_open(s->ranges[i].hi))
            return interval_all();
        r.lo += x->k[i] * end_of(s, i, x->k[i], false);
        r.hi += x->k[i] * end_of(s, i, x->k[i], true);
    }
    return r;
}

// Split an equation where the part below a radix can be only one multiple of
// it.  Returns whether it did; *possible: whether there is such a multiple.
static bool split(struct solver *s, struct linear_row *row, int64_t radix,
                  bool *possible)
{
    struct linear_row low = {below_radix(s, &row->sum, radix), true};
    struct interval r = range_of(s, &low.sum);
    bool is_number = r.lo == r.hi;
    if (is_number || r.lo == INT64_MIN || r.hi == INT64_MAX)
        return false;
    int64_t multiple = -(-r.lo / radix - (-r.lo % radix < 0)) * radix;
    *possible = multiple <= r.hi;
    if (multiple + radix <= r.hi)
        return false;
    low.sum.k[0] -= multiple;
    add(s, &row->sum, -1, &low.sum);
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
    add(s, &above, 1, is);
    add(s, &below, -1, is);
    above.k[0] -= r.lo;
    below.k[0] += r.hi;
    if (!is_open(r.lo))
        append(s, above);
    if (!is_open(r.hi))
        append(s, below);
    s->ranges[unknown] = interval_of(0);
}

// Put what an equation says of an unknown in its place.
static void eliminate(struct solver *s, size_t at, uint32_t unknown)
{
    struct sum is = linear_number(0);
    add(s, &is, -s->rows.at[at].sum.k[unknown], &s->rows.at[at].sum);
    is.k[unknown] = 0;
    s->rows.at[at].sum = linear_number(0);
    for (size_t i = 0; i < s->rows.n; i++) {
        struct sum *x = &s->rows.at[i].sum;
        int64_t factor = x->k[unknown];
        x->k[unknown] = 0;
        add(s, x, factor, &is);
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
    uint32_t unknown = *possible ? unit_of(s, x, used) : 0;
    if (unknown)
        eliminate(s, at, unknown);
    return unknown != 0;
}

// Use the first equation that changes the system; false if there is none.
static bool use_equations(struct solver *s, bool *possible)
{
    for (size_t i = 0; i < s->rows.n && *possible; i++)
        if (s->rows.at[i].is_zero && use_equation(s, i, possible))
            return true;
    return false;
}

// Return whether all rows hold whatever the unknowns are in their ranges.
static bool holds(const struct solver *s)
{
    for (size_t i = 0; i < s->rows.n; i++) {
        struct interval r = range_of(s, &s->rows.at[i].sum);
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
        if (r->lo < r->hi && !is_open(r->lo) && !is_open(r->hi) &&
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
        s->ranges[i] = (struct interval){-FAR, FAR};
    for (size_t i = 0; i < l->rows.n; i++) {
        struct linear_row row = {linear_number(0), l->rows.at[i].is_zero};
        add(s, &row.sum, 1, &l->rows.at[i].sum);
        vec_push(s->arena, &s->rows, row);
    }
}

enum solvable linear_bounds(const struct linear *l)
{
    struct solver s = {.arena = l->arena, .n = l->n, .halves = HALVES_MOST};
    struct arena_mark mark = arena_mark(l->arena);
    enum solvable r = SOLVABLE_NO;
    bool possible = true, changed = true;
    start(&s, l);
    take_digits(&s);
    while (possible && changed && !s.is_far) {
        possible = propagate(&s);
        changed = possible && use_equations(&s, &possible);
    }
    if (possible)
        r = s.is_far ? SOLVABLE_UNKNOWN : halve(&s);
    arena_release(l->arena, mark);
    return r;
}
