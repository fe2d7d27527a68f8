// What the packer must know of PTX as a text.  A NUL follows every text.

#ifndef NVPTX_PACKAGE_PTX_TEXT_H
#define NVPTX_PACKAGE_PTX_TEXT_H

#include "ir/base/buf.h"
#include "nvptx/package/elf.h"

// Append PTX as the container holds it: without comments, and without spaces
// and tabs that follow white space.
void ptx_compact(const char *text, size_t size, struct buf *out);

// Return the version that PTX text states, 74 for `.version 7.4`, or 0.
unsigned ptx_version(const char *text, size_t size);

// List the kernels that PTX text defines, by name only.
void ptx_kernels(struct arena *a, const char *text, size_t size,
                 struct usage_list *out);

#endif
