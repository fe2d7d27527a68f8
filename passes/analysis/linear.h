// Systems of linear equations and inequalities over integers: is there a
// solution?

#ifndef PASSES_ANALYSIS_LINEAR_H
#define PASSES_ANALYSIS_LINEAR_H

#include "ir/base/arena.h"
#include "ir/base/vec.h"

#include <isl/ctx.h>
#include <isl/set.h>
#include <stdbool.h>
#include <stdint.h>

enum { UNKNOWNS_MOST = 60, LINEAR_HEADS = 1024 };

// A sum: k[0] + k[1] * first unknown + ...
struct sum {
    int64_t k[1 + UNKNOWNS_MOST];
};

// A condition on the unknowns.
struct linear_row {
    struct sum sum; // at least 0
    bool is_zero;   // or exactly 0
};

// A system that was asked about, and what was found.
struct linear_answer {
    struct linear_answer *next; // with the same head
    uint64_t hash;
    uint32_t n;
    size_t rows_n;
    const int64_t *rows; // for each is_zero, then its n + 1 numbers
    bool is_possible;
};

// An unknown that is the quotient of a sum and a number, rounded down.
struct linear_quotient {
    uint32_t unknown;
    struct sum of;
    int64_t by; // positive
};

// A system.
struct linear {
    struct arena *arena;
    struct arena *work; // while a question is decided
    isl_ctx *ctx;
    uint32_t n; // unknowns, numbered from 1
    struct VEC(struct linear_row) rows;
    struct VEC(struct linear_quotient) quotients;
    bool failed;                    // too many unknowns, or numbers too large
    struct linear_answer **answers; // by hash
};

// Start with no unknowns and no rows; linear_clear does so again.
struct linear linear_start(struct arena *a);
void linear_clear(struct linear *l);
void linear_end(struct linear *l);

// Return a number, an unknown, a new one, and x + factor * y.
struct sum linear_number(int64_t value);
struct sum linear_unknown(uint32_t i);
struct sum linear_add_unknown(struct linear *l);
struct sum linear_plus(struct linear *l, struct sum x, int64_t factor,
                       const struct sum *y);

// Return x / by rounded down, for by > 0.  Equal quotients are one unknown, in
// whichever way they come about: x % 32 / 8 is x / 8 - 4 * (x / 32).
struct sum linear_divide(struct linear *l, struct sum x, int64_t by);

// Require that x - y + offset is at least 0.
void linear_require(struct linear *l, const struct sum *x, const struct sum *y,
                    int64_t offset);
// Require that x is less than y, or, if not `holds`, that it is not.
void linear_require_less(struct linear *l, const struct sum *x,
                         const struct sum *y, bool holds);
// Require that x equals y.
void linear_require_equal(struct linear *l, const struct sum *x,
                          const struct sum *y);

// Return whether there may be a solution.  The same system again costs nothing.
bool linear_is_possible(struct linear *l);

// Return the solutions as a set, with a dimension for each unknown.
isl_basic_set *linear_solutions(const struct linear *l, isl_ctx *ctx);

// Find a solution, by values of the unknowns: small ones of the first unknowns,
// if that is not too long a search.  Returns whether one was found.
bool linear_example(struct linear *l, int64_t values[1 + UNKNOWNS_MOST]);

#endif
