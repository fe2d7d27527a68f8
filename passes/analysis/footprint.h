// Which part of an array the statements below a loop touch.

#ifndef PASSES_ANALYSIS_FOOTPRINT_H
#define PASSES_ANALYSIS_FOOTPRINT_H

#include "passes/pass.h"

// One dimension: the indices base .. base + extent - 1.
struct footprint_dim {
    struct ir_expr *base;   // over sizes and the loops that stand still
    struct ir_expr *extent; // over sizes and, rarely, these loops
    bool is_whole;          // the array's extent, for want of something better
    bool is_dense;          // each of these indices occurs
};

// A box of elements.
struct footprint {
    bool any; // there is an access at all
    uint32_t n;
    struct footprint_dim *dims;
};

// What is asked.
struct footprint_query {
    struct pass *pass;
    struct ir_stmt *loop; // around the accesses
    const struct ir_buffer *buffer;
    bool writes;         // the stores, or else the loads
    bool across_threads; // of all threads of a block together
};

// Return the smallest box that is easy to describe and holds every element
// touched in one iteration of the loop: the loop and those around it stand
// still, but for those bound to threads if `across_threads`.  Predicates are
// not looked at, so that the extents of tails are those of full tiles.
struct footprint footprint_of(const struct footprint_query *query);

#endif
