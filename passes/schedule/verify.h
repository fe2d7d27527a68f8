// What must hold when a directive, and when a schedule has run.

#ifndef PASSES_SCHEDULE_VERIFY_H
#define PASSES_SCHEDULE_VERIFY_H

#include "ir/schedule.h"
#include "passes/schedule/prim.h"

// Check that all loops with a ring may still have it once a primitive has run
// (analysis/ring.h). The error points at its call.
bool schedule_verify_rings(struct sched_call *c);

// Check that each store of a nest is inside a loop of every axis that the
// nest is spread over, that no blocks of different loops conflict, and that the
// iterations of bound loops still do not.  Errors point at the schedule's name,
// or at what bound the loop.
bool schedule_verify(struct pass *p, const struct sched_item *schedule);

#endif
