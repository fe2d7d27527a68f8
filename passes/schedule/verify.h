// What must hold when a schedule has run.

#ifndef PASSES_SCHEDULE_VERIFY_H
#define PASSES_SCHEDULE_VERIFY_H

#include "ir/schedule.h"
#include "passes/schedule/prim.h"

// Check that each store of a nest is inside a loop of every axis that the
// nest is spread over, that no blocks of different loops conflict, and that the
// iterations of bound loops still do not, and that loops may have their rings,
// unless that was checked of the kernel as it is.
// Errors point at the schedule's name, or at what bound the loop.
bool schedule_verify(struct pass *p, const struct sched_item *schedule,
                     bool has_checked_rings);

#endif
