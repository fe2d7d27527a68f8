// What an expression is in one thread.

#ifndef PASSES_ANALYSIS_LANE_VALUE_H
#define PASSES_ANALYSIS_LANE_VALUE_H

#include "ir/ir.h"

// A variable and its value.
struct lane_var {
    const struct ir_var *var;
    int64_t value;
};

// A thread, and the values of variables.
struct lane_place {
    int64_t thread[3], block[3]; // by dimension
    struct VEC(struct lane_var) vars;
};

// Return the threads of a block.
uint32_t lane_threads(const struct ir_launch *launch);

// Be thread number `i` of the block, counted along x, y, z.
void lane_go_to(struct lane_place *p, const struct ir_launch *launch,
                uint32_t i);

// Compute an integer or a condition.  Returns false if it needs memory, other
// threads, floating-point numbers or a variable that is not there, or has no
// value.
bool lane_value(const struct lane_place *p, const struct ir_expr *x,
                int64_t *out);

#endif
