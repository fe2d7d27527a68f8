// What must hold when a schedule has run.

#ifndef PASSES_SCHEDULE_VERIFY_H
#define PASSES_SCHEDULE_VERIFY_H

#include "ir/schedule.h"
#include "passes/pass.h"

// Check that each store of a nest is inside a loop of every axis that the
// nest is spread over, and that no blocks of different loops meet.  Errors point at the schedule's name.
bool schedule_verify(struct pass *p, const struct sched_item *schedule);

#endif
