// Writes result files so that they appear whole, all of them or none.

#ifndef NVPTX_PACKAGE_OUTPUT_H
#define NVPTX_PACKAGE_OUTPUT_H

#include "ir/base/diag.h"

#include <stdbool.h>

// A file to write.
struct output {
    const char *path;
    const void *bytes;
    size_t size;
};

// Write files into a folder, which is made, with those above it, if it is
// missing; NULL: the paths say all.  Whoever kills this process finds the old
// files or the new ones; the last file is there only if all of its kind are
// (see commit.c).  Signals that ask the process to end have it end afterwards.
// On failure the folders are as they were before.
// Returns false after reporting an error.
bool output_write(struct arena *scratch, const char *folder,
                  const struct output *files, size_t n,
                  struct diag_list *diags);

#endif
