// The statements of a kernel that become grids of their own.

#ifndef PASSES_SCHEDULE_DEFAULT_NESTS_H
#define PASSES_SCHEDULE_DEFAULT_NESTS_H

#include "passes/schedule/prim.h"

// Put everything but arrays that lowering places into one nest if no loop is
// bound and the statements of the outermost block depend on one another.
void nests_join(struct pass *p);

// Return the outermost statements that are part of no grid yet: none of a kernel
// that nests_join would change.
struct ir_block nests_left(struct pass *p);

#endif
