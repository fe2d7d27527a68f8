// Which statements of a variant some thread can get to at given sizes, and which
// ways its conditions can go: threads are drawn and followed, without memory.
//
//   struct reach *r = reach_open(arena, kernel);
//   reach_mark(r, values, walks);     for i < r->n: r->marks[i] != 0
//
// What is shown is that something can be reached, not that it cannot.

#ifndef TOOLS_INGOT_CHECK_REACH_H
#define TOOLS_INGOT_CHECK_REACH_H

#include "ir/base/map.h"
#include "ir/eval.h"
#include "ir/ir.h"

// A value that may not be known, as it depends on data.
struct reach_value {
    bool is_known;
    int64_t i;
};

// The value of a variable: of a `let` without goals it is computed when something
// asks for it.
struct reach_slot {
    struct reach_value value;
    const struct ir_expr *later; // NULL: it is computed
};

struct reach {
    struct arena *arena;
    const struct ir_kernel *kernel;
    const struct eval_argument *values; // of the parameters
    struct map slots;                   // variable -> struct reach_slot
    struct map goals;                   // statement or expression -> first mark
    struct map asked;     // expressions of statements that have goals in them
    unsigned char *marks; // of the last call
    size_t n;
    int64_t grid[3], block[3]; // of the launch that is walked
    int64_t index[AXIS_COUNT];
    int64_t numbers[32]; // that conditions name
    size_t n_numbers;
    uint64_t random;
    unsigned walk;  // its number: the first ones take corners
    uint64_t nodes; // visited so far
};

// Return a random number below `n`, from a state that is not 0: xorshift64*.
uint64_t reach_random(uint64_t *state, uint64_t n);

// Return the goals of a kernel at level flat: stores, both ways of conditions,
// remainders that wrap once and twice, numbers too large for a narrow type.
struct reach *reach_open(struct arena *a, const struct ir_kernel *kernel);

// Mark the goals that some of `walks` threads can get to.
void reach_mark(struct reach *r, const struct eval_argument *values,
                unsigned walks);

#endif
