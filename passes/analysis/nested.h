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

// Why it may not.
struct nested_fault {
    const char *why;            // a clause; NULL: it may
    const struct ir_stmt *stmt; // the statement in the way
};

// Look at two loops, one inside the other, of any extents.  The text goes to
// the arena.
struct nested_fault nested_check(struct arena *a, struct ir_stmt *outer,
                                 struct ir_stmt *inner);

#endif
