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

// Append a line for each rule that matches a kernel, but that the kernel did not get,
// as one of its cases cannot be applied, with `lead` in front of each:
// `rule attention(s, o), case 2 (std/rules/attention.ing:127): E0601: ...`.
void schedule_left_out_print(const struct compilation *c,
                             const struct ir_kernel *kernel, const char *lead,
                             struct buf *out);

// Append a comment: what the variant does first, and the part of its guard that
// does not hold, with the numbers that it compares.
void schedule_why_print(struct arena *a, const struct problem *p,
                        const struct variant *v, struct ir_expr *refusal,
                        struct buf *out);

#endif
