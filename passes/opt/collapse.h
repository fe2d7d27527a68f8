// Merging dimensions of arrays.

#ifndef PASSES_OPT_COLLAPSE_H
#define PASSES_OPT_COLLAPSE_H

#include "passes/pass.h"

// Merge neighbouring dimensions of a row-major array in global memory whose indices are
// always the digits of one number. Returns whether there were any.
bool collapse_dims(struct pass *p, struct ir_buffer *array);

#endif
