// How far ahead of its use each ring of a loop is filled.
//
// A ring of S slots is filled S - 1 iterations ahead of those who read it. That
// may be the fill of another ring, which runs ahead itself: with S copied and T
// computed from it, three and two slots,
//
//   iteration k: copy k + 3 into S    compute k + 1 of T from S    use k of T

#ifndef PASSES_ANALYSIS_RING_AHEAD_H
#define PASSES_ANALYSIS_RING_AHEAD_H

#include "passes/analysis/ring.h"

// A ring, how many iterations ahead it is filled, and those who read it: at
// least and at most so many ahead.
struct ring_ahead {
    struct ring ring;
    int64_t ahead, least, most;
};
struct ring_aheads VEC(struct ring_ahead);

// Set how far ahead rings of a loop are filled, in the order in which it has
// them. TMA copies run ahead of the loop, whoever reads them, and are issued
// behind what threads fill. Returns why a ring has too few slots, or NULL; the
// text goes to the arena.
const char *ring_ahead_find(struct arena *a, const struct ir_stmt *loop,
                            struct ring_aheads *rings);

// Look at all rings of a loop that is not planned: those that ring_find gives,
// and their slots. Returns the first with a fault, or the last.
struct ring ring_find_all(struct arena *a, struct ir_kernel *kernel,
                          struct ir_stmt *loop);

#endif
