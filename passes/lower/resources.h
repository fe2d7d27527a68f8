// The hardware resources that a launch needs.

#ifndef PASSES_LOWER_RESOURCES_H
#define PASSES_LOWER_RESOURCES_H

#include "passes/pass.h"

// Return whether a launch has at most 1024 threads a block, the registers and
// threads that its bounds promise, and no more shared memory than every
// architecture of the pass has (than the largest GPU if it names none);
// reports E0707, E0665, E0666, E0722 or E0751 otherwise.
bool resources_check(struct pass *p, struct ir_stmt *launch);

#endif
