// An object file of the host that holds the fatbin.

#ifndef NVPTX_PACKAGE_OBJECT_H
#define NVPTX_PACKAGE_OBJECT_H

#include "ir/base/buf.h"
#include "ir/base/diag.h"

#include <stdbool.h>

// Return why no object file can be made for a triple ("x86_64-linux-gnu"): the
// text names the targets that this LLVM has.  NULL if one can be made.
const char *object_refusal(struct arena *a, const char *triple);

// Return the triple of this machine.
const char *object_host(struct arena *a);

// Append an object file for a triple that defines the array `name`: read-only,
// hidden, aligned to 16 bytes, of the bytes of `fatbin`.
// Returns false after reporting what LLVM says.
bool object_write(struct arena *a, const char *triple, const char *name,
                  const struct buf *fatbin, struct diag_list *diags,
                  struct buf *out);

#endif
