// The tables of a package in C.

#ifndef NVPTX_PACKAGE_TABLES_H
#define NVPTX_PACKAGE_TABLES_H

#include "nvptx/package/plan.h"

// Append the tables, with the bytes of `fatbin` if the package asks for that.
// What others may name is not static where the header only declares it.
void tables_write(struct arena *a, const struct plan *plan,
                  const struct buf *fatbin, struct buf *out);

// Return an identifier in upper case.
const char *tables_upper(struct arena *a, const char *name);

#endif
