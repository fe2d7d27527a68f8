// Arithmetic on ranges of integers.

#ifndef PASSES_ANALYSIS_INTERVAL_H
#define PASSES_ANALYSIS_INTERVAL_H

#include "ir/ir.h"

// The integers lo..hi, both included; INT64_MIN and INT64_MAX mean that there
// is no bound on that side.
struct interval {
    int64_t lo, hi;
};

// Return every integer, or those of an integer type; `int` has no bounds.
struct interval interval_all(void);
struct interval interval_of_type(struct type type);

// Return the one integer.
struct interval interval_of(int64_t value);

// Return the range of an operation on operands in these ranges.
struct interval interval_add(struct interval x, struct interval y);
struct interval interval_negate(struct interval x);
struct interval interval_mul(struct interval x, struct interval y);
struct interval interval_div(struct interval x, struct interval y);
struct interval interval_mod(struct interval x, struct interval y);
struct interval interval_ceildiv(struct interval x, struct interval y);
struct interval interval_min(struct interval x, struct interval y);
struct interval interval_max(struct interval x, struct interval y);

// Return the integers in either, or the range of those in both.
struct interval interval_union(struct interval x, struct interval y);
struct interval interval_meet(struct interval x, struct interval y);

// Return whether every integer of `x` is in `y`.
bool interval_within(struct interval x, struct interval y);

#endif
