// Trials: a kernel, or another in its place, runs on the executor for some
// sizes and inputs, and its results are compared with those of its definition.

#ifndef TESTS_UNIT_SUPPORT_TRIAL_H
#define TESTS_UNIT_SUPPORT_TRIAL_H

#include "tests/unit/support/specimen.h"

// One set of arguments, and what they become.
struct trial {
    struct eval_argument *before, *wanted;
};

// A kernel with its trials.
struct tried {
    struct specimen *specimen;
    const struct variant *variant;
    double tolerance; // of results
    struct VEC(struct trial) trials;
};

// What the runs of a kernel show.
struct outcome {
    bool is_refused, is_flagged; // by the compiler; a finding is a fault
    unsigned notes;              // bit i: fault i
    double apart;                // of results, at most
};

// Add a trial, if a launch with these sizes would take this variant; the test
// fails if the definition cannot be evaluated.
void trial_add(struct arena *a, struct tried *of, const char *sizes,
               specimen_fill fill);

// Run a kernel with the parameters of `of`, under all policies, until there is
// a fault and a wrong result or nothing left to run.
struct outcome trial_run(struct arena *a, const struct ir_kernel *kernel,
                         const struct tried *of);

#endif
