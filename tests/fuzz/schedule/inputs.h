// Arguments for kernels: values that depend on the position, none of them 0.

#ifndef TESTS_FUZZ_SCHEDULE_INPUTS_H
#define TESTS_FUZZ_SCHEDULE_INPUTS_H

#include "ir/base/buf.h"
#include "ir/eval.h"

enum { FUZZ_ARGUMENTS = 32 };

// The arguments of one run, in the order of the parameters.
struct fuzz_inputs {
    const struct ir_kernel *kernel;
    struct eval_argument args[FUZZ_ARGUMENTS];
    bool is_huge; // an index needs more than 32 bits
};

// Set the sizes of a kernel from a line, `n=5 m=7`, and other scalars to 3.
void fuzz_inputs_sizes(const struct ir_kernel *kernel, const char *line,
                       struct fuzz_inputs *out);

// Give the arrays memory and values, results 0xcd in every byte.  Returns
// false if they do not fit.
bool fuzz_inputs_fill(struct fuzz_inputs *in);

// Make the same arguments anew, as they were before a run changed them.
// Returns false if they do not fit.
bool fuzz_inputs_again(const struct fuzz_inputs *from, struct fuzz_inputs *out);

// Release the memory.
void fuzz_inputs_free(struct fuzz_inputs *in);

// Return whether arrays hold the same; otherwise `out` gets
// "difference:", the place and both values.
bool fuzz_inputs_same(const struct fuzz_inputs *wanted,
                      const struct fuzz_inputs *got, struct buf *out);

#endif
