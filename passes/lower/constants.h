// The arrays in constant memory that are declared on top of a kernel.

#ifndef PASSES_LOWER_CONSTANTS_H
#define PASSES_LOWER_CONSTANTS_H

#include "passes/pass.h"

// Take the declarations of arrays in constant memory out of a kernel's body,
// and return them.
struct ir_block constants_take(struct pass *p, struct ir_block *body);

// Put them into each launch of a body that reads them, every time as an array
// of its own.
void constants_place(struct pass *p, struct ir_block *body,
                     const struct ir_block *tables);

#endif
