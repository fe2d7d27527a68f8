// What a kernel of a file must be, beyond what its statements say one by one.

#ifndef FRONTEND_CHECK_H
#define FRONTEND_CHECK_H

#include "ir/text/parse.h"

// Substitute the scalars that a kernel declares outside its loops, each of
// which depends on sizes and scalars alone: every grid computes them anew.
void kernel_spread_scalars(struct parser *p, struct ir_kernel *k);

// Report results that nothing writes, extents and conditions that the launch
// function cannot compute, arrays in places where they cannot be, and whatever
// else ir_check finds.
void kernel_check(struct parser *p, struct ir_kernel *k);

#endif
