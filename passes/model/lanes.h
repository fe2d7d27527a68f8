// What an expression is in the 32 lanes of a warp.

#ifndef PASSES_MODEL_LANES_H
#define PASSES_MODEL_LANES_H

#include "ir/base/map.h"
#include "ir/gpu.h"
#include "ir/ir.h"
#include "passes/model/model.h"

// How far the numbers can be trusted.
enum lanes_trust {
    LANES_EXACT,  // they are what the lanes have
    LANES_SHIFT,  // data adds the same to all: what lanes differ by is right
    LANES_UNKNOWN // data decides
};

// On which positions of the block a value depends, a bit each.
enum { ON_X = 1, ON_Y = 2, ON_Z = 4, ON_QUOTIENT = 8 };

// A value in each lane.
struct lanes {
    enum lanes_trust trust;
    bool same;      // in all lanes
    bool drifts;    // it changes from iteration to iteration, not evenly
    unsigned on;    // of ON_X ...
    unsigned depth; // of the innermost loop that it depends on; 0: none
    unsigned turns; // of the innermost that LLVM does not expand
    int64_t step;   // what an iteration of that loop adds
    const struct ir_expr *owed; // of a `let` that nobody has used yet
    int64_t at[WARP_LANES]; // if it is the same in all lanes, only the first
};

// Where a warp is.
struct lanes_place {
    struct arena *arena;
    const struct model_device *device;
    const struct ir_launch *launch;
    int64_t block[3];
    uint32_t first;    // number of its first thread in the block
    struct map values; // variables, arrays of one element -> struct lanes
};

// Return what a lane has.
static inline int64_t lanes_at(const struct lanes *x, int lane)
{
    return x->at[x->same ? 0 : lane];
}

// Set a number that all lanes have.
void lanes_number(int64_t value, struct lanes *out);

// Set a variable.
void lanes_set(struct lanes_place *p, const struct ir_var *var,
               const struct lanes *value);

// Keep what a lane stores in an array, of one element, which others read.
void lanes_keep(struct lanes_place *p, const struct ir_buffer *buffer,
                const struct lanes *value, int lane);

// Compute an expression; of a vector its first element.
void lanes_of(const struct lanes_place *p, const struct ir_expr *x,
              struct lanes *out);

// Return whether a value is a number that all lanes know.
bool lanes_is_number(const struct lanes *x);

#endif
