// Records of tuning become schedules.

#ifndef TOOLS_LIBINGOT_RECORDED_H
#define TOOLS_LIBINGOT_RECORDED_H

#include "tools/libingot/compile.h"

// A schedule that a record makes.
struct recorded {
    const struct sched_item *item; // for the record's sizes and architecture
    struct ir_expr *guard;         // NULL: it has no sizes
};
struct recorded_list VEC(struct recorded);

// Append a schedule for each record of a kernel, whose schedules are `items`: what was
// measured in front of what is predicted.
// Warns of those that fit the kernel no more, which are passed over.
void recorded_find(struct compilation *c, const struct compile_options *o,
                   const struct ir_kernel *kernel,
                   const struct sched_items *items, struct recorded_list *out);

// Return a hash of what a kernel computes: its text does not count.
uint64_t recorded_hash(const struct ir_kernel *kernel);

// Append the text of the schedule that a record names.  Returns NULL, or why there
// is none.
const char *recorded_print(struct arena *a, const struct record *r,
                           const struct ir_kernel *kernel,
                           const struct sched_items *items, struct buf *out);

// Read a schedule from its text; NULL after reporting.
struct sched_item *recorded_parse(struct compilation *c, const char *name,
                                  const char *text, struct diag_list *diags);

#endif
