// What a launch moves to and from DRAM and the L2 cache.

#ifndef PASSES_MODEL_BYTES_H
#define PASSES_MODEL_BYTES_H

#include "passes/model/warp.h"

// Set the bytes of out, of a grid whose middle block does `work`.  `place` knows
// the sizes.
void bytes_find(const struct block_work *work, const struct lanes_place *place,
                const int64_t grid[3], struct model_launch *out);

#endif
