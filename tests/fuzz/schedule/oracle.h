// Who says whether a compiled kernel is right.

#ifndef TESTS_FUZZ_SCHEDULE_ORACLE_H
#define TESTS_FUZZ_SCHEDULE_ORACLE_H

#include "nvptx/nvptx.h"
#include "tests/fuzz/schedule/inputs.h"

// A kernel at level flat.
struct fuzz_subject {
    struct arena *arena; // lives as long as the subject
    const struct ir_kernel *kernel;
    const struct nvptx_target *target;
    uint64_t seed;
    struct diag_list *diags; // for errors of the compiler
};

// A run of it.
struct fuzz_trial {
    struct arena *arena;
    uint64_t seed;
    struct fuzz_inputs *inputs;       // changed by the run
    const struct fuzz_inputs *wanted; // what they should become
    bool *reads_unwritten;            // set: it read what nobody has written
    bool *writes_alike;               // set: threads fill the workspace alike
    bool *is_long;    // set: more steps than the evaluator takes
    bool *is_refused; // set: with roles, how many is not known or too many; or
                      // no device takes the grid
};

// What an oracle says of a run.
enum fuzz_answer { FUZZ_RIGHT, FUZZ_WRONG, FUZZ_LEFT };

// An oracle NAME has three functions.  fuzz_NAME_start prepares to run a
// kernel; the result may be NULL.  fuzz_NAME_ask runs it, and says whether it
// is right, or FUZZ_LEFT if it has not run it to its end.  Both append what is
// wrong to `out`, first its kind in a few words, up to a colon.  fuzz_NAME_end
// forgets it.
#define ORACLE(name, percent, meaning)                                         \
    void *fuzz_##name##_start(const struct fuzz_subject *s, struct buf *out);  \
    enum fuzz_answer fuzz_##name##_ask(                                        \
        void *ready, const struct fuzz_trial *t, struct buf *out);             \
    void fuzz_##name##_end(void *ready);
#include "tests/fuzz/schedule/oracles.def"
#undef ORACLE

#endif
