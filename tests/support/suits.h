// Which loops, stages, arrays and spaces suit a primitive.
//
// What does not suit is refused for sure, or nearly so; what suits may be
// refused all the same.

#ifndef TESTS_SUPPORT_SUITS_H
#define TESTS_SUPPORT_SUITS_H

#include "passes/schedule/prim.h"

// Return whether a loop or a stage suits as the first argument.
bool suits_stmt(struct pass *p, enum sched_prim prim, struct ir_stmt *s);
// Return whether an array suits a primitive that changes it.
bool suits_array(enum sched_prim prim, const struct ir_buffer *array);
// Return whether a copy of an array for a stage could lie in shared or local
// memory as it is: it is small, and no loop around the stage is bound.
bool suits_near(struct pass *p, const struct ir_stmt *stage,
                const struct ir_buffer *array);
// Return whether tiles that a stage copies at once, so long as the loops
// that hold nothing else, could lie behind each other in shared memory.
bool suits_tma_tile(struct pass *p, const struct ir_stmt *stage);
// Return whether a declared array could be moved to shared or local memory:
// all that uses it stands in one loop that is bound, or none of it does.
bool suits_space(struct pass *p, const struct ir_buffer *array);

#endif
