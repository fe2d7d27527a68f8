// How much a kernel computes, and how exactly, counted on its definition.

#ifndef TOOLS_INGOT_WORK_H
#define TOOLS_INGOT_WORK_H

#include "ir/eval.h"
#include "ir/ir.h"

// The work of one run.
struct work {
    double steps;      // statements executed
    double most;       // the same if no loop is left early
    double operations; // on floating point numbers; an fma is two
    double terms;      // most that one reduction combines, at least 1
    double arithmetic; // coarsest relative spacing of the numbers computed with
    double conversion; // the same, of the numbers converted to
    bool is_estimate;  // data decide how often some loop runs
};

// Count the work of a kernel at level stages for these values of its
// parameters.
struct work work_count(const struct ir_kernel *kernel,
                       const struct eval_argument *values);

#endif
