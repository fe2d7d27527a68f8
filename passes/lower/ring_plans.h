// The rings that ring_plan makes of arrays marked `double`.

#ifndef PASSES_LOWER_RING_PLANS_H
#define PASSES_LOWER_RING_PLANS_H

#include "passes/pass.h"

// Plan the rings that threads fill through registers, of a kernel of loops: no
// array is marked `double` behind that. Returns whether any was.
bool ring_plan_registers(struct pass *p);

// Plan the rings of TMA stores of a block and below, of a kernel at level stages
// without any other; `changed` says whether there are any. Returns false after
// an error.
bool ring_plan_tma(struct pass *p, struct ir_block *block, bool *changed);

// Plan the rings of fragments, of a kernel at level stages without any other:
// no array of a thread is marked `double` behind that. Returns whether any was.
bool ring_plan_fragments(struct pass *p);

#endif
