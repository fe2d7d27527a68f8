// Stages that get loops of their own.

#ifndef PASSES_SCHEDULE_COMMON_STAGE_NEST_H
#define PASSES_SCHEDULE_COMMON_STAGE_NEST_H

#include "passes/opt/fold.h"
#include "passes/schedule/common/region.h"
#include "passes/schedule/prim.h"

// Give a stage new iteration variables v0, v1 ... over `n` extents, which
// nothing binds yet.  Returns what reads them.
struct ir_expr **stage_nest_iters(struct pass *p, struct ir_stmt *stage,
                                  uint32_t n, struct ir_expr *const *extents);

// Make the stage `name` that copies `from` to `to`, two arrays of the same
// shape, with iteration variables that nothing binds yet.
struct ir_stmt *stage_nest_copy(struct pass *p, const char *name,
                                struct ir_buffer *from, struct ir_buffer *to,
                                struct span span);

// Return the region of all values of a stage's iteration variables.
struct sched_region_dim *stage_nest_region(struct pass *p,
                                           const struct ir_stage *stage);

// Return what the predicate of a stage asks beyond the extents of its iteration
// variables, in terms of these as far as that can be said.
struct conditions stage_nest_conditions(struct pass *p,
                                        const struct ir_stage *stage);

// Return a stage in new loops ax0, ax1 ... (or called as `region` says) over
// `region`, one dimension for each iteration variable, named for a place, and
// bind its variables to base + ax.
// Where that may leave the variable's extent, the stage gets a predicate.  Of
// its old one these conditions stay.
struct ir_stmt *stage_nest_over(struct pass *p, struct ir_stmt *stage,
                                const struct sched_place *place,
                                const struct sched_region_dim *region);

// Put such a nest at its place.
void stage_nest_put(struct pass *p, struct ir_stmt *stage,
                    const struct sched_place *place,
                    const struct sched_region_dim *region);

#endif
