// Reductions that neighbouring threads share.

#ifndef PASSES_SCHEDULE_DEFAULT_ROWS_H
#define PASSES_SCHEDULE_DEFAULT_ROWS_H

#include "passes/schedule/prim.h"

// A nest that no schedule has changed: a reduction in loops over the elements
// of its result, then loops over what each of them reduces.
struct row_reduction {
    struct ir_stmt **loops; // outermost first
    size_t elements, n;     // loops over elements, loops in all
    struct ir_stmt *stage;  // in the innermost loop
};

// Return whether a nest is a reduction that threads should share: neighbours
// in the innermost loop are neighbours in memory, no loop over elements has
// such neighbours, and there is enough to share.  What is to be reduced may
// be of unknown length: then it is too short unless `long_rows`, and if it is
// not, the kernel's guard says so.  A single element is always shared.
bool rows_find(struct pass *p, struct ir_stmt *nest, bool long_rows,
               struct row_reduction *out);

// Bind the nest's loops: those over elements to blocks, the innermost one of
// the reduction to threads.
bool rows_spread(struct sched_call *c, struct ir_stmt *nest,
                 const struct row_reduction *reduction);

#endif
