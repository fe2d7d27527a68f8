// Elements that cannot hide a fault: none is zero, close ones differ, and sums
// of their products stay in range.

#ifndef TOOLS_INGOT_DISTINCT_H
#define TOOLS_INGOT_DISTINCT_H

#include "ir/ir.h"

// Write the first `n` elements of an array; `stream` chooses among arrays.
// Floating numbers lie between 1/16 and 1, integers between 1 and 2^14 or the
// most that their type holds, either sign.  As many elements in a row differ as the type
// has such numbers.
void distinct_write(struct type type, uint64_t stream, size_t n,
                    void *elements);

// Return a scalar likewise; integers are small and positive.
double distinct_float(struct type type, uint64_t stream);
int64_t distinct_int(struct type type, uint64_t stream);

#endif
