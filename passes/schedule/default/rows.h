// Reductions that neighbouring threads can share.

#ifndef PASSES_SCHEDULE_DEFAULT_ROWS_H
#define PASSES_SCHEDULE_DEFAULT_ROWS_H

#include "passes/schedule/prim.h"

// Return whether a stage is all of a nest that no schedule has changed, with loops
// over its results around those over what each of them reduces, and parts of
// these can be reduced each for itself, in any order.
bool rows_can_share(struct pass *p, struct ir_stmt *stage);

// Return whether that is so, and neighbours of something that the stage reduces
// lie along a loop.
bool rows_lie_along(struct pass *p, struct ir_stmt *stage,
                    const struct ir_stmt *loop);

#endif
