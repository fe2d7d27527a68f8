// The C header of a package.

#ifndef NVPTX_PACKAGE_HEADER_H
#define NVPTX_PACKAGE_HEADER_H

#include "nvptx/package/plan.h"

// Append the header: C99 that C++ accepts too, including only "ingot.h".
// `fatbin` is embedded if the package asks for that.
// Returns false after reporting an expression that C cannot compute.
bool header_write(struct arena *a, const struct plan *plan,
                  const struct buf *fatbin, struct diag_list *diags,
                  struct buf *out);

#endif
