// A kernel as a C program for the host: what its results are compared with
// when there is too much work for the evaluator.

#ifndef TOOLS_LIBINGOT_REFERENCE_H
#define TOOLS_LIBINGOT_REFERENCE_H

#include "ir/base/buf.h"
#include "ir/ir.h"

// Return whether reference_print can print the kernel: before any lowering,
// without barriers and vectors.
bool reference_supported(const struct ir_kernel *kernel);

// Append a C11 translation unit that defines
//
//     void ingot_reference(void **args);
//
// `args` are pointers, in the order of the kernel's parameters: to the value
// of a size or scalar, to the elements of an array, in the C types of
// types.def.
//
// Integers are exact.  Floating numbers are computed in double; only what is
// stored to a result, and what a conversion in the kernel rounds, is rounded.
// Sums and intermediate arrays are kept in double.  Loops whose iterations
// write different elements carry an OpenMP pragma; a library compiled with
// OpenMP must stay loaded (RTLD_NODELETE), as its threads outlive the call.
void reference_print(struct buf *out, const struct ir_kernel *kernel);

#endif
