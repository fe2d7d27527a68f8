// Why a variant does not take some sizes.

#ifndef TOOLS_INGOT_SCHEDULE_WHY_H
#define TOOLS_INGOT_SCHEDULE_WHY_H

#include "tools/ingot/problem.h"
#include "tools/libingot/compile.h"

// Append a comment: what the variant does first, and the part of its guard that
// does not hold, with the numbers that it compares.
void schedule_why_print(struct arena *a, const struct problem *p,
                        const struct variant *v, struct ir_expr *refusal,
                        struct buf *out);

#endif
