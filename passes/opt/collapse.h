// Merging dimensions of arrays.

#ifndef PASSES_OPT_COLLAPSE_H
#define PASSES_OPT_COLLAPSE_H

#include "passes/pass.h"

// Merge neighbouring dimensions of row-major arrays in global memory whose indices are
// always the digits of one number: of parameters, and with `of_stages` of the arrays
// that the kernel declares. Returns whether there were any.
bool collapse_dims(struct pass *p, bool of_stages);

#endif
