// `grid_barrier`: where all blocks wait for one another.

#ifndef FRONTEND_GRIDS_H
#define FRONTEND_GRIDS_H

#include "ir/text/parse.h"

// Divide the loops of a kernel at its grid barriers, so that each part becomes
// a launch.  Reports errors.
void grids_divide(struct parser *p, struct ir_kernel *k);

#endif
