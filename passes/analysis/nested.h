// Whether a loop may run on the axis of a loop around it.
//
//   for t in 0..128 @thread.x {
//     for ax in 0..130 { S[ax] = A[b * 128 + ax] }    // every thread, all of it
//
// Bound to the same axis, the iterations of the inner loop are shared among
// the threads of the outer one.  That is the same program if every thread
// would have done the same, and all see the outcome.

#ifndef PASSES_ANALYSIS_NESTED_H
#define PASSES_ANALYSIS_NESTED_H

#include "ir/base/arena.h"
#include "ir/ir.h"
#include "passes/analysis/divergence.h"

// Why it may not.
struct nested_fault {
    const char *why;            // a clause; NULL: it may
    const struct ir_stmt *stmt; // the statement in the way
};

// A loop in which others are looked at, as long as nothing changes in it.
struct nested {
    struct arena *arena;
    const struct ir_stmt *outer; // NULL: none so far
    struct divergence of_outer;  // what depends on its iteration
};

// Begin with an outer loop.
struct nested nested_start(struct arena *a, struct ir_stmt *outer);

// Look at a loop inside, of any extent.  The text goes to the arena.
struct nested_fault nested_check(const struct nested *n, struct ir_stmt *inner);

#endif
