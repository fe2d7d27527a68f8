// What a kernel's accesses to memory cost, as text and as JSON.

#ifndef TOOLS_INGOT_ACCESSES_H
#define TOOLS_INGOT_ACCESSES_H

#include "ir/base/buf.h"
#include "ir/ir.h"

#include <jansson.h>

// Append a table for each launch of a kernel at level flat, sorted by place;
// accesses that differ in nothing are one row.  `sizes` as for access_costs.
void accesses_print(struct arena *a, const struct ir_kernel *kernel,
                    const int64_t *sizes, struct buf *out);

// Return the rows of these tables as a list of objects.
json_t *accesses_json(struct arena *a, const struct ir_kernel *kernel,
                      const int64_t *sizes);

#endif
