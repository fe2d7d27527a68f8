// What inlining costs.

#ifndef PASSES_SCHEDULE_DEFAULT_INLINE_H
#define PASSES_SCHEDULE_DEFAULT_INLINE_H

#include "passes/schedule/prim.h"

// Return how many operations compute_inline would add to the kernel; -1 where it
// would be refused, or the stage ends in a branch.
int64_t inline_cost(struct pass *p, struct ir_stmt *stage);

#endif
