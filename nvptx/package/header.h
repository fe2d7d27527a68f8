// The C header of a package.

#ifndef NVPTX_PACKAGE_HEADER_H
#define NVPTX_PACKAGE_HEADER_H

#include "nvptx/package/plan.h"

// Append the header: C99 that C++ accepts too, including only "ingot.h".
// `fatbin` is embedded if the package asks for that.  If it asks for
// declarations alone, what they declare is appended to `source`.
// Returns false after reporting an expression that C cannot compute.
bool header_write(struct arena *a, const struct plan *plan,
                  const struct buf *fatbin, struct diag_list *diags,
                  struct buf *out, struct buf *source);

#endif
