// Why a variant does not take some sizes.

#ifndef TOOLS_INGOT_SCHEDULE_WHY_H
#define TOOLS_INGOT_SCHEDULE_WHY_H

#include "tools/ingot/problem.h"
#include "tools/libingot/compile.h"

// Append a space and the last directive of a schedule, which the others prepare;
// nothing if it has none.
void schedule_directive_print(const struct sched_item *item, struct buf *out);

// Append the part of a guard that does not hold, with the numbers that it compares:
// `not K <= 2048 (4096, 2048)`.
void schedule_refusal_print(struct arena *a, const struct problem *p,
                            const struct variant *v, struct ir_expr *refusal,
                            struct buf *out);

// Append a comment: what the variant does first, and the part of its guard that
// does not hold, with the numbers that it compares.
void schedule_why_print(struct arena *a, const struct problem *p,
                        const struct variant *v, struct ir_expr *refusal,
                        struct buf *out);

#endif
