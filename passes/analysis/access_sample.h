// The cost of one access, from its index and what is known at its place.

#ifndef PASSES_ANALYSIS_ACCESS_SAMPLE_H
#define PASSES_ANALYSIS_ACCESS_SAMPLE_H

#include "passes/analysis/access_cost.h"
#include "passes/analysis/divergence.h"
#include "passes/analysis/facts.h"

// A loop around, which counts 0, 1, ... below `most`; 0: no number is known.
struct access_counter {
    const struct ir_var *var;
    int64_t most;
};

// A condition that holds, or does not.
struct access_guard {
    struct ir_expr *condition;
    bool holds;
};

// A place in a launch.  Expressions are over sizes, positions, counters, and
// variables whose values are data; index values are of type `int`.
struct access_place {
    struct facts facts;
    struct divergence divergence; // of the axes of threads
    const struct ir_launch *launch;
    struct VEC(struct access_counter) counters;
    struct VEC(struct access_guard) guards;
};

// Set basis, best and worst of an access to the element `index`, or to several
// from there on.  `scratch` is for what lives no longer than the call.
void access_sample(struct arena *scratch, const struct access_place *place,
                   struct ir_expr *index, struct access_cost *cost);

#endif
