// Loops over steps, each of which loads fragments and uses them.
//
//   for k in 0..n {
//     async_wait(2)            waits
//     for s in 0..4 {
//       load F of k, s         loads
//       round F                rounds, of tf32 alone
//       use F                  uses
//     }
//     copies                   rest
//   }

#ifndef PASSES_LOWER_FRAGMENT_STEPS_H
#define PASSES_LOWER_FRAGMENT_STEPS_H

#include "passes/analysis/ring.h"

// A loop over steps.
struct fragment_steps {
    struct ring ring; // the loop, and its fragments
    int64_t n;        // steps
    struct ir_block loads, rounds, uses;
};

// A loop around one over steps.
struct fragment_around {
    struct ir_stmt *loop;
    struct ir_block waits, rest;
};

// Look at the loop of a ring; return whether it goes over steps: its arrays are
// fragments, the statements that load them change nothing else, and the others
// compute in registers. Lists go to the arena.
bool fragment_steps_find(struct arena *a, struct fragment_steps *x);

// Look at a statement; return whether it is a loop around one over steps that
// may load across its iterations: only waits stand in front of the steps, what
// stands behind them uses no registers, and there is an even number of steps.
bool fragment_steps_around(struct arena *a, const struct fragment_steps *x,
                           struct ir_stmt *s, struct fragment_around *o);

#endif
