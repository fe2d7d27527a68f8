// Judges what schedules promise of the code that they make: the rows of
// ir/contracts.def.  A promise that is broken is an error where it is written,
// with notes at what breaks it.

#ifndef TOOLS_LIBINGOT_CONTRACTS_H
#define TOOLS_LIBINGOT_CONTRACTS_H

#include "tools/libingot/compile.h"

// Judge the contracts on lowered kernels; all variants are at level flat.
// Returns false after errors.
bool contracts_check_lowered(struct compilation *c);

// Judge the contracts on what ptxas made of an image, which is a cubin.
// Returns false after errors.
bool contracts_check_image(struct compilation *c,
                           const struct compiled_image *image);

#endif
