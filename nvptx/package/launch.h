// The launch function of one kernel in C.

#ifndef NVPTX_PACKAGE_LAUNCH_H
#define NVPTX_PACKAGE_LAUNCH_H

#include "nvptx/package/writer.h"

// Append the launch function of a kernel, and the functions that say how large
// its arrays and its workspace are.
// Returns false after reporting an expression that C cannot compute.
bool launch_write(struct arena *a, const struct plan *plan,
                  const struct plan_kernel *kernel, struct diag_list *diags,
                  struct buf *out);

// Append the declarations of all three.
void launch_declare(struct arena *a, const struct plan *plan,
                    const struct plan_kernel *kernel, struct buf *out);

// Append the comment above the launch function.
void launch_comment(struct writer *w);

// Append the checks of all arguments, which end the function if one fails.
void launch_checks(struct writer *w);

// Append the tensor maps that the launches of a variant are given: `maps`.
void launch_maps(struct writer *w, const struct plan_variant *variant);

#endif
