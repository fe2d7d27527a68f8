// What a warp finds where it has been read before: in registers, or in the L1
// cache.

#ifndef PASSES_MODEL_REUSE_H
#define PASSES_MODEL_REUSE_H

#include "ir/base/map.h"
#include "ir/ir.h"
#include "passes/analysis/warp_cost.h"

// What was read so far.
struct reuse {
    struct arena *arena;
    struct map sectors; // of global memory
    struct map groups;  // of 16 bytes in each lane -> struct reuse_group
    struct map numbers; // that were computed
};

// Reads of a warp that lie in the same 16 bytes of each lane.
struct reuse_group {
    uint32_t words;      // that were read, a bit each
    double narrow, wide; // clocks of the first read, and of one of all 16 bytes
};

// Return whether a number is computed for the first time in a loop by a warp, and
// note it.  `number` tells it from others.
bool reuse_is_new(struct reuse *r, uint64_t number, const void *loop,
                  uint32_t warp);

// Return how many sectors of an access none of the accesses in the same loop has
// read, and note them.  `space` tells places that are not the same in spite of
// their numbers.
uint32_t reuse_sectors(struct reuse *r, const void *loop, uint64_t space,
                       const struct ir_buffer *buffer,
                       const struct warp_access *w);

// Return the group of an access between the same barriers and loops, a new one
// for the first; NULL for one that fills the 16 bytes or leaves them.
struct reuse_group *reuse_group(struct reuse *r, uint64_t epoch,
                                const struct ir_buffer *buffer,
                                const struct warp_access *w);

// Return the words of its 16 bytes that an access reads, a bit each.
uint32_t reuse_words(const struct warp_access *w);

#endif
