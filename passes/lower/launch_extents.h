// How many threads a launch has on each axis, before there are launches.

#ifndef PASSES_LOWER_LAUNCH_EXTENTS_H
#define PASSES_LOWER_LAUNCH_EXTENTS_H

#include "passes/pass.h"

// The extents of the thread axes of a launch.
struct launch_extents {
    int64_t at[AXIS_COUNT]; // of the longest loop; 0: none, -1: not a number
};

// Return whether a loop counts from 0 to a number.
bool launch_is_counted(const struct ir_stmt *loop);

// Return the extents of the thread axes of the launch that a statement at the
// top becomes part of: of itself, or of all if they share arrays.
struct launch_extents launch_extents_of(struct pass *p, struct ir_stmt *top);

#endif
