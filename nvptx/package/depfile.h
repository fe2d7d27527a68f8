// Rules of make, which say what a result was made of.

#ifndef NVPTX_PACKAGE_DEPFILE_H
#define NVPTX_PACKAGE_DEPFILE_H

#include "ir/base/buf.h"

// Append a rule of make: the targets depend on the sources, and each source on
// nothing.
void depfile_write(const char *const *targets, size_t n_targets,
                   const char *const *sources, size_t n_sources,
                   struct buf *out);

#endif
