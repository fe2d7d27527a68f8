// What a kernel without a schedule gets from rules.

#ifndef TOOLS_LIBINGOT_PLAN_H
#define TOOLS_LIBINGOT_PLAN_H

#include "passes/schedule/schedule.h"
#include "tools/libingot/compile.h"

// What a schedule made of a kernel.
struct planned {
    const struct ir_kernel *source; // the kernel that it was made of
    struct ir_kernel *kernel; // at level stages; NULL: the case is for others
    struct ir_expr *guard;    // of the case, or NULL
    struct ir_expr *sizes;    // that it takes: what it requires, too; NULL: all
    struct sched_outcome *outcome;
    struct diag_list diags; // warnings
    bool is_refused;        // it cannot be applied: what they say
};

// Set `out` to the schedules that a kernel gets: the cases of the first rule that
// matches it and can be applied, as far as they are for the build.  c->planned has
// what each of them made of it.
// Returns whether there is one.
bool plan_kernel(struct compilation *c, const struct compile_options *o,
                 const struct ir_kernel *kernel, struct sched_items *out);

// Append to the cases that a kernel got from a rule those of the other rules that match
// it: numbers behind the first ones, for the tuner and what it records.  Where no rule
// matches, these are the default schedule in several shapes.  Nothing is added to
// schedules of the text.
void plan_more(struct compilation *c, const struct compile_options *o,
               const struct ir_kernel *kernel, struct sched_items *items);

// Append the default schedule of a kernel in several shapes, first as it chooses itself.
void plan_defaults(struct compilation *c, const struct compile_options *o,
                   const struct ir_kernel *kernel, struct sched_items *out);

// Apply a schedule to a copy of a kernel, unless it is for other kernels.  Returns NULL
// if that cannot be done, and why in `why`, unless that is NULL.  What cases of one rule
// share is found once if they have the same `known`, which begins empty; NULL: nothing is
// shared.
struct planned *plan_apply(struct compilation *c,
                           const struct compile_options *o,
                           const struct ir_kernel *kernel,
                           const struct sched_item *item,
                           const struct sched_settings *settings,
                           struct sched_known *known, const char **why);

// Return what a schedule was found to make of a kernel, or NULL.
struct planned *plan_find(const struct compilation *c,
                          const struct ir_kernel *kernel,
                          const struct sched_item *item);

// Note what a schedule makes of a kernel, if it is for the build and can be applied: then
// only are the sizes known that it takes.
void plan_case(struct compilation *c, const struct compile_options *o,
               const struct ir_kernel *kernel, const struct sched_item *item);

#endif
