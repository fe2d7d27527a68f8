// Rings that the threads of a loop fill through registers.

#ifndef PASSES_LOWER_RING_REGISTERS_H
#define PASSES_LOWER_RING_REGISTERS_H

#include "passes/pass.h"

// Lower the planned ring number `i` of a loop in a block.
void ring_registers_lower(struct pass *p, struct ir_block *block,
                          struct ir_stmt *loop, size_t i);

#endif
