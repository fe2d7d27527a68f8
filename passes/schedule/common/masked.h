// Loops whose last iterations a mask leaves nothing.

#ifndef PASSES_SCHEDULE_COMMON_MASKED_H
#define PASSES_SCHEDULE_COMMON_MASKED_H

#include "passes/schedule/prim.h"

// Return in front of which iteration of a loop around a stage all elements begin to be
// minus infinity, in all iterations of the loops below it and of those around it that
// threads run; NULL: nothing says that. `element` is what the stage computes in an
// iteration, in terms of its iteration variables.
struct ir_expr *sched_masked_end(struct pass *p, struct ir_stmt *loop,
                                 struct ir_stmt *stage,
                                 const struct ir_expr *element);

#endif
