// The case of a rule as a schedule of its own.

#ifndef TOOLS_INGOT_SCHEDULE_CASE_H
#define TOOLS_INGOT_SCHEDULE_CASE_H

#include "tools/libingot/compile.h"

// Append the schedule that a variant by a case of a rule has: the names of the rule
// that it uses, and its directives, with the parameters as they were set.
void schedule_case_print(const struct variant *v, struct buf *out);

#endif
