// How much memory there is.

#ifndef TOOLS_INGOT_MEMORY_H
#define TOOLS_INGOT_MEMORY_H

#include "ir/base/diag.h"

#include <stdint.h>

// Return how many bytes of main memory can be had: what Linux can give without
// swapping, within the limit of the control group; INT64_MAX if that is not
// known.
int64_t memory_host(void);

// Return the sum of two numbers of bytes, INT64_MAX if that is less.
int64_t memory_add(int64_t a, int64_t b);

// Return whether `needed` bytes are there; otherwise report who needs them,
// and of which memory.
bool memory_check(const char *who, const char *which, int64_t needed,
                  int64_t there, struct diag_list *diags);

#endif
