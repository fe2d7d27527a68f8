// A system while bounds decide it.

#ifndef PASSES_ANALYSIS_LINEAR_SOLVER_H
#define PASSES_ANALYSIS_LINEAR_SOLVER_H

#include "passes/analysis/interval.h"
#include "passes/analysis/linear.h"

// Numbers beyond are not calculated with, and no bounds: a sum of products of
// two numbers fits in 64 bits.
static const int64_t SOLVER_FAR = INT64_C(1) << 27;

// The unknowns of a row.
struct parts {
    uint32_t n;
    unsigned char at[UNKNOWNS_MOST];
};

// A system being solved.
struct solver {
    struct arena *arena;
    uint32_t n; // unknowns
    struct VEC(struct linear_row) rows;
    struct VEC(struct parts) parts;            // of each row
    struct interval ranges[1 + UNKNOWNS_MOST]; // of the unknowns
    bool is_far;                               // a number is too large
    int halves;                                // left
};

// Add factor * y to x.
void solver_add(struct solver *s, struct sum *x, int64_t factor,
                const struct sum *y);

// Return an unknown with factor 1 or -1 in a sum, 0 if there is none; those
// `used` do not count.
uint32_t solver_unit(const struct solver *s, const struct sum *x,
                     const bool *used);

// Return the end of factor * unknown, its greatest value or its least.
int64_t solver_end(const struct solver *s, uint32_t unknown, int64_t factor,
                   bool greatest);

// Return whether an end is none.
bool solver_is_open(int64_t end);

// Return the range of a sum; one without bounds if an unknown has none.
struct interval solver_range(const struct solver *s, const struct sum *x);

// Make sums that stay between two numbers unknowns (linear_digits.c).
void solver_take_digits(struct solver *s);

// Use the first equation that changes the system; false if there is none.
// *possible: whether there may be a solution (linear_equations.c).
bool solver_use_equations(struct solver *s, bool *possible);

#endif
