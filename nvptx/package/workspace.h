// The workspace of a kernel in its generated header.

#ifndef NVPTX_PACKAGE_WORKSPACE_H
#define NVPTX_PACKAGE_WORKSPACE_H

#include "nvptx/package/writer.h"

// Append the function that says how large the workspace is.
void workspace_write(struct writer *w);

// Append its declaration.
void workspace_declare(struct writer *w);

// Append statements that add the arrays of a variant to `used` and, if
// `is_launch`, set `arrays` to their places.
void workspace_arrays(struct writer *w, const struct plan_variant *variant,
                      bool is_launch);

#endif
