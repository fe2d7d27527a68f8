// Rows of copies that TMA makes.

#ifndef PASSES_SCHEDULE_TMA_ROW_H
#define PASSES_SCHEDULE_TMA_ROW_H

#include "passes/schedule/prim.h"

// Widen the row of a copy out of global memory to whole groups of 16 bytes, if
// it is known where in such a group the row begins, and the loop along it holds
// the copy alone. Nothing changes otherwise.
void sched_widen_row(struct sched_call *c, struct ir_stmt *stage);

#endif
