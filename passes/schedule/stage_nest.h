// New stages in loops of their own.

#ifndef PASSES_SCHEDULE_STAGE_NEST_H
#define PASSES_SCHEDULE_STAGE_NEST_H

#include "passes/schedule/prim.h"

// A stage in loops ax0, ax1 ... that nothing holds yet.
struct stage_nest {
    struct ir_stmt *outermost; // a loop, or the stage where there is none
    struct ir_stmt *stage;
    struct ir_expr **index; // its iteration variables v0, v1 ...
};

// Give a stage that nothing holds new iteration variables over `n` extents and
// loops for them, which get names that no loop of `near`'s nest has; NULL: any.
struct stage_nest stage_nest_over(struct pass *p, struct ir_stmt *stage,
                                  uint32_t n, struct ir_expr *const *extents,
                                  const struct ir_stmt *near);

#endif
