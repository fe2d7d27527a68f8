// The schedule of a variant as text that a file can have.

#ifndef TOOLS_INGOT_SCHEDULE_TEXT_H
#define TOOLS_INGOT_SCHEDULE_TEXT_H

#include "tools/libingot/compile.h"

// Append the schedule of a variant as it is written; the directives of a default
// one, which the compilation has kept (`has_records`).
void schedule_text_print_own(const struct variant *v, struct buf *out);

// The same, but of a case of a rule as a schedule of its own.
void schedule_text_print(struct compilation *c, const struct variant *v,
                         struct buf *out);

#endif
