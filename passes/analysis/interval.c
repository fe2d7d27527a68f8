// Arithmetic on ranges of integers.

#include "passes/analysis/interval.h"

#include "ir/base/num.h"

struct interval interval_all(void)
{
    return (struct interval){INT64_MIN, INT64_MAX};
}

struct interval interval_of_type(struct type type)
{
    unsigned bits = type_bits(type);
    if (type.kind == TYPE_bool)
        return (struct interval){0, 1};
    if (!type_is_integer(type) || bits >= 64)
        return interval_all();
    if (type_is_signed(type))
        return (struct interval){-(INT64_C(1) << (bits - 1)),
                                 (INT64_C(1) << (bits - 1)) - 1};
    return (struct interval){0, (INT64_C(1) << bits) - 1};
}

struct interval interval_of(int64_t value)
{
    return (struct interval){value, value};
}

// Return whether a bound is none.
static bool is_open(int64_t bound)
{
    return bound == INT64_MIN || bound == INT64_MAX;
}

// Return the sum of two lower bounds (or two upper, if `open` is INT64_MAX);
// `open` if there is none.
static int64_t add_bounds(int64_t x, int64_t y, int64_t open)
{
    int64_t sum;
    return is_open(x) || is_open(y) || !num_add(x, y, &sum) ? open : sum;
}

struct interval interval_add(struct interval x, struct interval y)
{
    return (struct interval){add_bounds(x.lo, y.lo, INT64_MIN),
                             add_bounds(x.hi, y.hi, INT64_MAX)};
}

// Return -x, where a missing bound stays missing.
static int64_t negate_bound(int64_t x)
{
    return x == INT64_MIN ? INT64_MAX : x == INT64_MAX ? INT64_MIN : -x;
}

struct interval interval_negate(struct interval x)
{
    return (struct interval){negate_bound(x.hi), negate_bound(x.lo)};
}

// Return the product of two bounds, missing if it would not fit.
static int64_t mul_bounds(int64_t x, int64_t y)
{
    int64_t product;
    if (x == 0 || y == 0)
        return 0;
    if (!is_open(x) && !is_open(y) && num_mul(x, y, &product))
        return product;
    return (x < 0) == (y < 0) ? INT64_MAX : INT64_MIN;
}

// Return the range from the least to the greatest of four numbers.
static struct interval hull(int64_t a, int64_t b, int64_t c, int64_t d)
{
    struct interval r = interval_union(interval_of(a), interval_of(b));
    r = interval_union(r, interval_of(c));
    return interval_union(r, interval_of(d));
}

struct interval interval_mul(struct interval x, struct interval y)
{
    return hull(mul_bounds(x.lo, y.lo), mul_bounds(x.lo, y.hi),
                mul_bounds(x.hi, y.lo), mul_bounds(x.hi, y.hi));
}

// Return the quotient of two bounds towards zero; y is not 0.
static int64_t div_bounds(int64_t x, int64_t y)
{
    if (is_open(y))
        return 0;
    if (is_open(x))
        return y > 0 ? x : negate_bound(x);
    return x / y;
}

struct interval interval_div(struct interval x, struct interval y)
{
    if (x.lo > x.hi || y.lo > y.hi)
        return interval_all();
    if (y.lo <= 0 && y.hi >= 0) {
        if (y.lo < 0 || y.hi == 0)
            return interval_all();
        y.lo = 1;
    }
    return hull(div_bounds(x.lo, y.lo), div_bounds(x.lo, y.hi),
                div_bounds(x.hi, y.lo), div_bounds(x.hi, y.hi));
}

struct interval interval_mod(struct interval x, struct interval y)
{
    struct interval r = interval_union(y, interval_negate(y));
    int64_t most = is_open(r.hi) ? INT64_MAX : r.hi - 1;
    r = (struct interval){negate_bound(most), most};
    if (x.lo >= 0)
        r.lo = 0;
    if (x.hi <= 0)
        r.hi = 0;
    struct interval near_zero = {x.lo < 0 ? x.lo : 0, x.hi > 0 ? x.hi : 0};
    return interval_meet(r, near_zero);
}

struct interval interval_ceildiv(struct interval x, struct interval y)
{
    struct interval positive = {1, INT64_MAX};
    y = interval_meet(y, positive);
    if (x.lo < 0 || y.lo > y.hi)
        return interval_all();
    struct interval r = {is_open(y.hi) ? (x.lo > 0) : x.lo / y.hi,
                         is_open(x.hi) ? INT64_MAX : x.hi / y.lo};
    if (!is_open(y.hi) && x.lo % y.hi)
        r.lo++;
    if (!is_open(x.hi) && x.hi % y.lo)
        r.hi++;
    return r;
}

struct interval interval_min(struct interval x, struct interval y)
{
    return (struct interval){x.lo < y.lo ? x.lo : y.lo,
                             x.hi < y.hi ? x.hi : y.hi};
}

struct interval interval_max(struct interval x, struct interval y)
{
    return (struct interval){x.lo > y.lo ? x.lo : y.lo,
                             x.hi > y.hi ? x.hi : y.hi};
}

struct interval interval_union(struct interval x, struct interval y)
{
    return (struct interval){x.lo < y.lo ? x.lo : y.lo,
                             x.hi > y.hi ? x.hi : y.hi};
}

struct interval interval_meet(struct interval x, struct interval y)
{
    return (struct interval){x.lo > y.lo ? x.lo : y.lo,
                             x.hi < y.hi ? x.hi : y.hi};
}

bool interval_within(struct interval x, struct interval y)
{
    return y.lo <= x.lo && x.hi <= y.hi;
}
