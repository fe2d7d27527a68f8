// Packs with NVIDIA's fatbinary instead of our own writer.

#ifndef NVPTX_PACKAGE_FATBINARY_H
#define NVPTX_PACKAGE_FATBINARY_H

#include "ir/base/diag.h"
#include "nvptx/package/fatbin.h"

// Append what the tool at `path` makes of the images, uncompressed.
// Returns false after reporting an error.
bool fatbinary_run(struct arena *a, const char *path,
                   const struct fatbin_image *images, size_t n,
                   struct diag_list *diags, struct buf *out);

#endif
