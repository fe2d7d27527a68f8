// The case of a rule as a schedule of its own.

#ifndef TOOLS_INGOT_SCHEDULE_CASE_H
#define TOOLS_INGOT_SCHEDULE_CASE_H

#include "tools/libingot/compile.h"

// Append the schedule that a case of a rule is for a kernel of that name: the
// names of the rule that it uses, and its directives. `item` has the call of the
// rule.
void schedule_case_print(const struct sched_item *item, const char *kernel,
                         struct buf *out);

#endif
