// What a launch moves to and from DRAM and the L2 cache.

#ifndef PASSES_MODEL_BYTES_H
#define PASSES_MODEL_BYTES_H

#include "passes/model/warp.h"

// Set the bytes of out, of a grid whose middle block does `work`.
void bytes_find(const struct block_work *work,
                const struct model_device *device, struct model_launch *out);

#endif
