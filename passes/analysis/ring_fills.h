// What may fill a ring: it does nothing but that, and can run ahead.
//
//   S[i] = A[k, i]                         from what the loop does not change
//   P[i] = 0, then P[i] = P[i] + S[i]      from what another ring holds: it may
//                                          compute in arrays that it first writes

#ifndef PASSES_ANALYSIS_RING_FILLS_H
#define PASSES_ANALYSIS_RING_FILLS_H

#include "passes/analysis/ring.h"

// Who asks: for a statement of the body of a loop in a kernel.
struct ring_fills {
    struct arena *arena; // for work
    struct ir_kernel *kernel;
    struct ir_block *body;
    const struct ring
        *given; // what rings before this one hold; NULL: there are
                // none, and a fill computes nowhere
    // Arrays of a thread are filled, too, that nothing beside the body uses.
    bool fills_own;
};

// Return whether a statement of the body just fills arrays in shared memory, from
// what the body does not change, or what is given.
bool ring_fills(const struct ring_fills *q, struct ir_stmt *s);

// Return whether a statement of a body just fills arrays in shared memory from
// what the body does not change.
bool ring_is_fill(struct ir_block *body, struct ir_stmt *s);

// Return the number of the ring that the stages of a statement say they fill, -1
// if it has none. `differs`, unless it is NULL: whether they do not agree. Stages
// that reduce may be for others in the statement.
int64_t ring_number(const struct ir_stmt *s, bool *differs);

#endif
