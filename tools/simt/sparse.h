// Copies of arrays of which little is touched.

#ifndef TOOLS_SIMT_SPARSE_H
#define TOOLS_SIMT_SPARSE_H

#include <stddef.h>

// Copy `bytes` bytes to where all are 0.  Of many, pages that nobody has
// touched are left out: they hold 0.  (A page that was swapped out counts as
// one of these.)
void sparse_copy(void *to, const void *from, size_t bytes);

#endif
