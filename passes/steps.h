// The steps of the pipeline: why each stands where it does, and what holds
// before and behind it.

#ifndef PASSES_STEPS_H
#define PASSES_STEPS_H

#include "passes/pass.h"

// What steps consume, as a set.
enum step_consumes {
    STEP_NOTHING = 0,
    STEP_FRAGMENTS = 1,
    STEP_STAGES = 2,
    STEP_VTHREADS = 4,
    STEP_VECTORS = 8,
    STEP_BOUND = 16,
    STEP_DOUBLE = 32,
    STEP_RINGS = 64,
    STEP_DERIVED = 128,
};

// A STEP of passes.def.
struct pass_step {
    enum pass_name pass;
    const char *needs; // names of passes, separated by spaces
    unsigned consumes; // enum step_consumes
    const char *why;   // it stands here
};

// Return the steps in their order, and their number.
const struct pass_step *pass_steps(size_t *n);

// Return what is wrong with an order of steps, or NULL: a step needs a pass
// that does not run before it, or that there is not.
const char *pass_order_fault(struct arena *a, const struct pass_step *steps,
                             size_t n);

// Return what a kernel has behind step `at` that this one consumes, or NULL.
// Passes that are to run again may leave theirs.
const char *pass_left(struct arena *a, struct ir_kernel *kernel, size_t at);

// Append what a step consumes, marks included: "stages, `@via`"; nothing if it
// consumes nothing.
void pass_consumes(struct buf *out, const struct pass_step *step);

#endif
