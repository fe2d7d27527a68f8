// Reductions that a block of threads shares.

#ifndef PASSES_SCHEDULE_BLOCK_REDUCE_H
#define PASSES_SCHEDULE_BLOCK_REDUCE_H

#include "passes/schedule/prim.h"

// A nest that no schedule has touched: `X[v..] = X[v..] op e` in loops over
// the elements of X, then loops over what each of them reduces.
struct block_reduction {
    struct ir_stmt **loops; // outermost first
    size_t elements, n;     // loops over elements, loops in all
    struct ir_stmt *stage;  // in the innermost loop
};

// Return whether a nest is a reduction that a block should share: neighbours
// in the innermost loop are neighbours in memory, no loop over elements has
// such neighbours, and there is enough to share.  What is to be reduced may
// be of unknown length: then it is too short unless `long_rows`, and if it is
// not, the kernel's guard says so.  A single element is always shared.
bool block_reduce_find(struct pass *p, struct ir_stmt *nest, bool long_rows,
                       struct block_reduction *out);

// Replace the loops of the reduction by a loop over the threads of a block,
// once the loops over elements are bound to blocks.
bool block_reduce_spread(struct sched_call *c,
                         const struct block_reduction *reduction);

#endif
