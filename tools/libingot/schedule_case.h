// A schedule of its own: of a case of a rule, or of a schedule for all sizes.

#ifndef TOOLS_LIBINGOT_SCHEDULE_CASE_H
#define TOOLS_LIBINGOT_SCHEDULE_CASE_H

#include "tools/libingot/compile.h"

// What is printed.
struct schedule_case {
    const struct ir_kernel *kernel;        // as it was written
    const struct sched_item *item;         // a schedule, or a case of a rule
    const struct sched_settings *settings; // of its parameters and knobs alone
    const struct sched_settings *sizes;    // it is for these alone; NULL: for
                                           // those that a launch gives it
    const struct nvptx_target *target;     // likewise; NULL: those of the item
};

// Append the schedule: the names of the rule that it uses, and its directives, with
// the parameters and knobs as they were set.
void schedule_case_print(struct arena *a, const struct schedule_case *what,
                         struct buf *out);

// Append the line that names the rule that was found for a kernel, one of whose cases
// is `item`.
void schedule_case_print_rule(const struct ir_kernel *kernel,
                              const struct sched_item *item, struct buf *out);

// Return the architecture that such a text is for: without its suffix, unless the
// schedule needs what that adds.
const struct nvptx_target *
schedule_case_target(struct arena *a, const struct sched_item *item,
                     const struct nvptx_target *target);

// Return a hash of what a schedule's text says: comments and layout do not count.
uint64_t schedule_case_hash(const char *text);

#endif
