// The state of a ring for one role (CUTLASS: PipelineState): slot and phase.
//
// Slot and phase follow from the iteration number of the loop. If the loop runs
// several times, a variable counts the iterations of earlier runs, modulo a
// multiple of both slots and phases:
//
//   var turn: u32 = 0                      ring_state_declare
//   for t in 0..m {
//     for k in 0..n {
//       ... S[(turn + k) % 4] ...          ring_state_slot
//     }
//     turn = (turn + n) % 8                ring_state_next
//   }

#ifndef PASSES_LOWER_RING_STATE_H
#define PASSES_LOWER_RING_STATE_H

#include "passes/pass.h"

// The iterations of a loop, for one role.
struct ring_state {
    struct pass *p;
    const struct ir_stmt *loop;
    int64_t slots;
    struct ir_var *before; // iterations of earlier runs; NULL: there are none
};

// Append the variable to a block; it begins with `first` iterations; NULL: none.
void ring_state_declare(struct ring_state *t, const char *name,
                        struct ir_expr *first, struct ir_block *out);

// Return the number of an iteration, with those before this run.
struct ir_expr *ring_state_count(const struct ring_state *t,
                                 struct ir_expr *iteration);

// Return the slot of the iteration of that number, and the parity of the phase
// in which it is used for the `turn`th time after the first.
struct ir_expr *ring_state_slot(const struct ring_state *t,
                                struct ir_expr *number);
struct ir_expr *ring_state_parity(const struct ring_state *t,
                                  struct ir_expr *number, int turn);

// Return the statement behind a run of so many iterations.
struct ir_stmt *ring_state_next(const struct ring_state *t,
                                struct ir_expr *iterations);

#endif
