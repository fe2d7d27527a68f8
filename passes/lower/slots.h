// Accesses to rings: arrays that have got a slot for each iteration in flight
// as their first dimension.

#ifndef PASSES_LOWER_SLOTS_H
#define PASSES_LOWER_SLOTS_H

#include "passes/analysis/ring.h"

// Return whether an array is one of those that a ring is made of.
bool slots_has(const struct ring *ring, const struct ir_buffer *b);

// Let the accesses of a block to the arrays go to a slot.
void slots_use(struct arena *a, const struct ring *ring, struct ir_block *block,
               struct ir_expr *slot);

// Let an operand of an instruction on matrices be in an array with one dimension
// more, the first, at `slot`.
void slots_place(struct arena *a, struct ir_tile *t, struct ir_buffer *b,
                 struct ir_expr *slot);

#endif
