// `return`, `break` and `continue`.

#ifndef FRONTEND_EXITS_H
#define FRONTEND_EXITS_H

#include "ir/text/parse.h"

// Put branches in place of the statements that leave loops.  Reports errors.
void exits_lower(struct parser *p, struct ir_kernel *k);

#endif
