// The directives of which default schedules are made.

#ifndef PASSES_SCHEDULE_DEFAULT_DIRECTIVES_H
#define PASSES_SCHEDULE_DEFAULT_DIRECTIVES_H

#include "passes/schedule/prim.h"

// Run a primitive on loops and nothing else.  `c` is for whom, here and below;
// false, or NULL, after an error.
bool directive_on(const struct sched_call *c, enum sched_prim prim,
                  struct ir_stmt *const *loops, size_t n);

// Bind a loop.
bool directive_bind(const struct sched_call *c, struct ir_stmt *loop,
                    enum axis axis);

// Split a loop into as many iterations as it takes of `n` extents each; returns
// the n + 1 loops.
const struct sched_value *directive_split(const struct sched_call *c,
                                          struct ir_stmt *loop,
                                          const int64_t *extents, size_t n);

// Return the first of nested loops after fusing them.
struct ir_stmt *directive_fuse(const struct sched_call *c,
                               struct ir_stmt *const *loops, size_t n);

// Put a loop of one iteration around a statement and bind it.
bool directive_wrap(const struct sched_call *c, struct ir_stmt *s,
                    enum axis axis);

#endif
