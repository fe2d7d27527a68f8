// The vector width of the default schedule.

#ifndef PASSES_SCHEDULE_DEFAULT_LANES_H
#define PASSES_SCHEDULE_DEFAULT_LANES_H

#include "passes/schedule/prim.h"

// Return how many elements of 16 bytes a thread should take, over `n` nested
// loops that hold nothing but a stage without an init; 1 for no vector.
int64_t lanes_choose(struct pass *p, struct ir_stmt *const *loops, size_t n);

#endif
