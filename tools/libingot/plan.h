// What a kernel without a schedule gets from rules.

#ifndef TOOLS_LIBINGOT_PLAN_H
#define TOOLS_LIBINGOT_PLAN_H

#include "tools/libingot/compile.h"

// What a schedule made of a kernel.
struct planned {
    struct ir_kernel *kernel; // at level stages; NULL: the case is for others
    struct ir_expr *guard;    // of the case, or NULL
    struct sched_outcome *outcome;
    struct diag_list diags; // warnings
};

// Set `out` to the schedules that a kernel gets: the cases of the first rule that
// matches it and can be applied, as far as they are for the build.  c->planned has
// what each of them made of it.
// Returns whether there is one.
bool plan_kernel(struct compilation *c, const struct compile_options *o,
                 const struct ir_kernel *kernel, struct sched_items *out);

// Apply a schedule to a copy of a kernel, unless it is for other kernels; nothing
// is said of what cannot be done.  Returns NULL then.
struct planned *plan_apply(struct compilation *c,
                           const struct compile_options *o,
                           const struct ir_kernel *kernel,
                           const struct sched_item *item,
                           const struct sched_settings *settings);

#endif
