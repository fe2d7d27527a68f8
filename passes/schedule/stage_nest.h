// New stages in loops of their own.

#ifndef PASSES_SCHEDULE_STAGE_NEST_H
#define PASSES_SCHEDULE_STAGE_NEST_H

#include "passes/schedule/prim.h"

// A stage without a body in loops ax0, ax1 ... that nothing holds yet.
struct stage_nest {
    struct ir_stmt *outermost; // a loop, or the stage where there is none
    struct ir_stmt *innermost;
    struct ir_stmt *stage;
    struct ir_expr **index; // its iteration variables v0, v1 ...
};

// Make a stage over `n` extents.
struct stage_nest stage_nest_new(struct pass *p, const char *name, uint32_t n,
                                 struct ir_expr *const *extents,
                                 struct span span);

#endif
