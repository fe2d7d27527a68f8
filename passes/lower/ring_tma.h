// Rings that one thread fills by TMA.

#ifndef PASSES_LOWER_RING_TMA_H
#define PASSES_LOWER_RING_TMA_H

#include "passes/analysis/ring.h"
#include "passes/pass.h"

// Return why one thread cannot fill the ring of the loop that a path ends with,
// ahead of all loops below those over blocks; NULL: it can.
const char *ring_tma_fault(struct arena *scratch, const struct ring *ring,
                           const struct ir_path *path);

// Return how many loops over blocks a path begins with, and the number of an
// iteration of its last loop, of all in a block; no branch is in the path.
uint32_t ring_tma_grid(const struct ir_path *path);
struct ir_expr *ring_tma_number(struct arena *a, const struct ir_path *path);

// Lower the planned ring number `i` of a loop; false after an error.
bool ring_tma_lower(struct pass *p, struct ir_stmt *loop, size_t i);

#endif
