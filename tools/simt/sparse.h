// Copies of arrays of which little is accessed.

#ifndef TOOLS_SIMT_SPARSE_H
#define TOOLS_SIMT_SPARSE_H

#include <stdbool.h>
#include <stddef.h>

// Bytes that are asked about at once.
#define SPARSE_CHUNK ((size_t)1 << 24)

// Copy `bytes` bytes to where all are 0.  Of many, pages that nobody has
// accessed are left out: they hold 0.  (A page that was swapped out counts as
// one of these.)
void sparse_copy(void *to, const void *from, size_t bytes);

// Return whether none of the pages of a chunk, or of less at the end of an
// array, was ever accessed, so that they hold 0.
bool sparse_is_untouched(const void *chunk, size_t bytes);

#endif
