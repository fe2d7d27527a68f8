// Moves branches out of loops.

#ifndef PASSES_LOWER_GUARDS_H
#define PASSES_LOWER_GUARDS_H

#include "passes/pass.h"

// Move conditions of branches outward over the loops of a block, and below,
// that they do not mention, and join branches with the same condition.
void guards_move(struct pass *p, struct ir_block *block);

#endif
