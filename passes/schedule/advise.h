// Warnings of schedules that are right and slow.

#ifndef PASSES_SCHEDULE_ADVISE_H
#define PASSES_SCHEDULE_ADVISE_H

#include "ir/schedule.h"
#include "passes/pass.h"

// Warn of a nest that uses little of a GPU: one block (E0671), blocks of less than
// a warp (E0734), or a loop around the blocks that could be blocks (E0735).
// The warnings point at the schedule's name; each is
// given once, whatever the instances of the kernel.
void schedule_advise(struct pass *p, const struct sched_item *schedule,
                     struct ir_stmt *nest);

#endif
