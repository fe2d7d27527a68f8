// Rings that the threads of the loop fill.

#ifndef PASSES_LOWER_RING_THREADS_H
#define PASSES_LOWER_RING_THREADS_H

#include "passes/pass.h"

// Append what stands in the place of a loop with planned rings, all of which its
// threads fill: the fills of the first iterations, and the loop without rings.
void ring_threads_lower(struct pass *p, struct ir_stmt *loop,
                        struct ir_block *out);

#endif
