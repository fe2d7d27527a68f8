// Copies that run one iteration ahead.

#ifndef PASSES_LOWER_DOUBLE_BUFFER_H
#define PASSES_LOWER_DOUBLE_BUFFER_H

#include "passes/pass.h"

// Rewrite the loops of a block that refill an array which is marked `double`;
// such arrays have two halves afterwards, and the mark is gone.
void double_buffer(struct pass *p, struct ir_block *body);

#endif
