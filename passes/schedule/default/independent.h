// Loops whose iterations are independent.

#ifndef PASSES_SCHEDULE_DEFAULT_INDEPENDENT_H
#define PASSES_SCHEDULE_DEFAULT_INDEPENDENT_H

#include "passes/schedule/prim.h"

// Return the outermost loops of a nest, each in the one before it with nothing
// beside it, that can be bound to blocks and to threads together.
struct ir_block independent_loops(struct pass *p, struct ir_stmt *nest);

#endif
