// Machine code as text and as JSON, beside the lines that it comes from.

#ifndef TOOLS_INGOT_SASS_PRINT_H
#define TOOLS_INGOT_SASS_PRINT_H

#include "ir/base/buf.h"
#include "tools/ingot/sass.h"

#include <jansson.h>

// Append the instructions of a kernel, or of a loop of it unless that is NULL,
// with their classes, each after the lines of the source and of the schedule
// that it comes from, where these differ from those of the one before.
void sass_print(struct arena *a, const struct sass_kernel *kernel,
                const struct sass_loop *loop, struct buf *out);

// Append how many instructions of each class a loop has.
void sass_print_counts(const struct sass_kernel *kernel,
                       const struct sass_loop *loop, struct buf *out);

// Return a loop, its counts and its instructions.
json_t *sass_loop_json(const struct sass_kernel *kernel,
                       const struct sass_loop *loop);

#endif
