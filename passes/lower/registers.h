// Which loops have to be unrolled so that local arrays become registers.

#ifndef PASSES_LOWER_REGISTERS_H
#define PASSES_LOWER_REGISTERS_H

#include "passes/pass.h"

// The most statements that an expanded loop may have, and how many a loop
// inside that stays counts for: it takes as much of LLVM's time.
enum { EXPANDED_MOST = 4096, LOOP_STATEMENTS = 16 };

// Mark the loops @unroll whose variables index an array in local memory of at
// most 1 KiB, where all its indices become numbers by that and no loop becomes
// longer than EXPANDED_MOST.  Arrays with other indices stay in memory.
// Returns whether a loop was marked.
bool registers_mark(struct pass *p);

#endif
