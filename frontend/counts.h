// What loops count in.

#ifndef FRONTEND_COUNTS_H
#define FRONTEND_COUNTS_H

#include "ir/text/parse.h"

// Let the loops of a kernel that is not lowered count in `int`, which schedules
// and passes work on.
void counts_in_int(struct parser *p, struct ir_kernel *k);

#endif
