// What a kernel without a schedule gets from rules.

#ifndef TOOLS_LIBINGOT_PLAN_H
#define TOOLS_LIBINGOT_PLAN_H

#include "tools/libingot/compile.h"

// Set `out` to the schedules that a kernel gets: the cases of the first rule that
// matches it and can be applied.  Returns whether there is one.
bool plan_kernel(struct compilation *c, const struct ir_kernel *kernel,
                 struct sched_items *out);

#endif
