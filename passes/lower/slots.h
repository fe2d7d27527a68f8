// Accesses to rings: arrays that have got a slot for each iteration in flight
// as their first dimension.

#ifndef PASSES_LOWER_SLOTS_H
#define PASSES_LOWER_SLOTS_H

#include "ir/base/map.h"
#include "passes/analysis/ring.h"

// Return whether an array is one of those that a ring is made of.
bool slots_has(const struct ring *ring, const struct ir_buffer *b);

// Let the accesses of a block to the arrays go to a slot.
void slots_use(struct arena *a, const struct ring *ring, struct ir_block *block,
               struct ir_expr *slot);

// Let the accesses of a block to the arrays that a map has go to a slot of the
// arrays that it has for them.
void slots_use_map(struct arena *a, const struct map *arrays,
                   struct ir_block *block, struct ir_expr *slot);

#endif
