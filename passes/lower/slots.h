// Accesses to rings: arrays that have got a slot for each iteration in flight
// as their first dimension.

#ifndef PASSES_LOWER_SLOTS_H
#define PASSES_LOWER_SLOTS_H

#include "ir/base/map.h"
#include "passes/analysis/ring.h"
#include "passes/pass.h"

// Let the accesses of a block to the arrays go to a slot.
void slots_use(struct arena *a, const struct ring *ring, struct ir_block *block,
               struct ir_expr *slot);

// Let the accesses of a block to the arrays that a map has go to a slot of the
// arrays that it has for them.
void slots_use_map(struct arena *a, const struct map *arrays,
                   struct ir_block *block, struct ir_expr *slot);

// Let each iteration of a loop begin with its slot in the loop's planned ring
// number `i`, `let slot = number % slots`. Returns the slot.
struct ir_expr *slots_count(struct pass *p, struct ir_stmt *loop, size_t i,
                            struct ir_expr *number);

// Let a map have what the variables of a loop are in an iteration: its own, and
// the slots of its planned rings.
void slots_at(struct arena *a, const struct ir_for *loop,
              struct ir_expr *iteration, struct map *vars);

#endif
