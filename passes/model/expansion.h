// Which loops LLVM expands.

#ifndef PASSES_MODEL_EXPANSION_H
#define PASSES_MODEL_EXPANSION_H

#include "ir/ir.h"

// Return whether LLVM expands a loop of so many iterations as a whole: few, all known, of
// few operations that differ from one to the next; with the loops in it, which are
// expanded, too.
bool expansion_is_whole(struct arena *a, const struct ir_for *loop,
                        double trips);

#endif
