// Stages as they were written: the loops are the iteration variables, one by one.

#ifndef PASSES_SCHEDULE_COMMON_ITER_LOOPS_H
#define PASSES_SCHEDULE_COMMON_ITER_LOOPS_H

#include "passes/schedule/prim.h"

// A stage and the loops of its iteration variables, outermost first.
struct sched_iter_loops {
    struct ir_stmt *stage;
    struct ir_stmt **loops;
    size_t n;
};

// Report a stage whose iterations cannot be counted in another way.
bool sched_refuse_remap(const struct sched_call *c, struct ir_stmt *stage,
                        const char *why);

// Find the loops of a stage's iteration variables.
// Requires:
//  - they are these, with nothing else between them and no predicate   E0683
//  - the stage does not use them but by its variables                  E0683
//  - they are serial and not annotated                                 E0607 E0608
bool sched_find_iter_loops(const struct sched_call *c, struct ir_stmt *stage,
                           struct sched_iter_loops *out);

#endif
