// Rings of fragments, which each thread loads for itself.

#ifndef PASSES_LOWER_RING_FRAGMENTS_H
#define PASSES_LOWER_RING_FRAGMENTS_H

#include "passes/pass.h"

// Lower the planned ring of a loop in a block, the only one that it has; false
// after an error.
bool ring_fragments_lower(struct pass *p, struct ir_block *block,
                          struct ir_stmt *loop);

#endif
