// Which part of an array the statements of a kernel access.
//
//   for b in 0..n {                       with b fixed, of S:
//     for i in 0..8 {                     rows b * 8 .. b * 8 + 7,
//       stage C(v in n * 8 = b * 8 + i)   columns 0 .. 2
//         { C[v] = S[v, 0] + S[v, 2] }
//
// Some variables count as fixed, as parameters always do: the iterations looked
// at are those of all other loops.  Iteration variables of stages stand for
// their bindings, names for their values.  In each dimension every index has to
// be the same sum of what is fixed, the base, and something between two known
// ends; the region is the smallest one, an interval in each dimension, that
// holds all of them.

#ifndef PASSES_ANALYSIS_REGION_H
#define PASSES_ANALYSIS_REGION_H

#include "ir/affine.h"
#include "ir/base/map.h"

// The indices of one dimension: base + lo .. base + hi.
struct region_dim {
    bool is_known;        // the indices have that form
    bool is_dense;        // each of them occurs
    struct affine base;   // of what is fixed, without a constant
    struct affine lo, hi; // numbers, or sums of sizes
    // The first index that spoilt the form, or whose ends are no numbers, in
    // the variables of the loops, and its access.
    struct ir_expr *culprit;
    struct span span;
};

// Which accesses are looked at.
enum region_access {
    REGION_all,
    REGION_loads,  // and atomics
    REGION_stores, // and atomics
};

// What is accessed.
struct region {
    uint32_t rank;
    bool is_accessed; // by any access at all
    struct region_dim *dims;
};

// A question about an array.
struct region_question {
    struct arena *arena;   // for the answer
    struct arena *scratch; // for work
    struct ir_kernel *kernel;
    const struct ir_buffer *buffer;
    const struct ir_buffer *const *more; // arrays of the same rank whose
    size_t n_more;                       // accesses count as the buffer's
    const struct ir_stmt *within;        // only accesses below; NULL: all
    enum region_access access;
    // Conditions, predicates and extents of stages cut nothing off, so that
    // the region of a tail is that of a full tile.
    bool whole_tiles;
    // Variables that count as fixed: ir_var -> the ir_expr that stands for it
    // in bases.  Loops that mean the same position map to the same variable.
    const struct map *fixed;
};

// Return the region of the array's accesses.
struct region region_find(const struct region_question *q);

// Return the regions of `n` arrays, n > 0, in their order: each as if it were
// the array of the question.
struct region *region_find_each(const struct region_question *q,
                                struct ir_buffer *const *buffers, size_t n);

// Return how many indices the dimension has; 0 if that is no known number.
int64_t region_extent(const struct region_dim *dim);

// Return whether a dimension holds every index of another one, however long.
// Both answer questions with the same fixed variables.
bool region_covers(struct arena *scratch, const struct region_dim *x,
                   const struct region_dim *y);

// Subtract base + lo from the indices of all accesses, in the dimensions
// with an element of `moves` set, and write them in the variables of the
// loops.
void region_shift(const struct region_question *q, const struct region *r,
                  const bool *moves);

// Return whether what a nest stores may leave something as it was: it is under a
// condition that is more than a bound.
bool region_is_partial(const struct ir_stmt *nest);

#endif
