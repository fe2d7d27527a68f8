// Vectors that the accesses of a nest allow.

#ifndef PASSES_SCHEDULE_DEFAULT_LANES_H
#define PASSES_SCHEDULE_DEFAULT_LANES_H

#include "passes/schedule/prim.h"

// Return how many neighbouring elements, of 16 bytes, a thread can take over
// nested loops; 1 if it is no vector, 0 if the loops hold anything but one
// another and stages without an init.
int64_t lanes_allowed(struct pass *p, struct ir_stmt *const *loops, size_t n);

#endif
