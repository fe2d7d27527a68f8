// The rings that ring_plan makes of arrays marked `double`.

#ifndef PASSES_LOWER_RING_PLANS_H
#define PASSES_LOWER_RING_PLANS_H

#include "ir/ring.h"
#include "passes/pass.h"

enum { RING_PLANS_SLOTS = 2 }; // of what is marked `double`

// How the slots of such a ring are filled, and known to be full and free.
struct ring_plans_words {
    enum ir_ring_word transport, arrive, release;
};

// Give a loop a planned ring of two slots, without arrays yet, after those that
// it has; each iteration begins with its slot.
struct ir_ring *ring_plans_add(struct pass *p, struct ir_stmt *loop,
                               const struct ring_plans_words *words);

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
