// Writes result files so that they appear whole, all of them or none.

#ifndef NVPTX_PACKAGE_OUTPUT_H
#define NVPTX_PACKAGE_OUTPUT_H

#include "ir/base/buf.h"
#include "ir/base/diag.h"

#include <stdbool.h>

// A file to write.
struct output {
    const char *path;
    const void *bytes;
    size_t size;
};

// Write files: each first under another name in its folder, then all are
// renamed.  On failure the folders are as they were before.
// Returns false after reporting an error.
bool output_write(struct arena *scratch, const struct output *files, size_t n,
                  struct diag_list *diags);

// Append a rule of make: the targets depend on the sources, and each source on
// nothing.
void output_dependencies(const char *const *targets, size_t n_targets,
                         const char *const *sources, size_t n_sources,
                         struct buf *out);

#endif
