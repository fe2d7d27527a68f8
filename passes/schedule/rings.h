// What directives may not do to loops with a ring.

#ifndef PASSES_SCHEDULE_RINGS_H
#define PASSES_SCHEDULE_RINGS_H

#include "passes/schedule/prim.h"

// Return whether a loop of the kernel has a ring.
bool schedule_has_rings(const struct pass *p);

// Return whether a primitive only says what no ring depends on: of a ring itself, of
// instructions, or in which order blocks or warpgroups take iterations.
bool schedule_keeps_rings(enum sched_prim prim);

// Return whether a call of a primitive may change a ring: one of its arguments or
// results is around the loop, below it, or has to do with it by an array.
bool schedule_rings_concern(const struct sched_call *c,
                            const struct sched_values *values);

// Check that all loops with a ring may still have it once a primitive has run
// (analysis/ring.h). The error points at its call.
bool schedule_verify_rings(struct sched_call *c);

#endif
