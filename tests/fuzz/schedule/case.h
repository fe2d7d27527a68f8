// A case of a campaign: always the same for one seed and number.

#ifndef TESTS_FUZZ_SCHEDULE_CASE_H
#define TESTS_FUZZ_SCHEDULE_CASE_H

#include "tests/fuzz/schedule/check.h"
#include "tests/fuzz/schedule/kernel.h"
#include "tests/fuzz/schedule/schedule.h"

enum { CASE_MIRROR = 1 << 16 };

struct fuzz_case {
    uint64_t seed, number;
    bool is_only_drawn; // and compiled; no oracle is asked
    const char *text;   // the file
    size_t size;
    char *mirror;   // NULL, or CASE_MIRROR bytes for the file that is checked
    unsigned kinds; // of kernels: bits
    bool has_zero, has_one; // an extent, at some sizes
    bool has_tail;          // a factor does not divide
    bool is_aimed;          // the pair, or triple, was reached
    enum sched_prim missed; // what of it was not, or PRIM_COUNT
    size_t n_prims;         // that were called, in their order
    enum sched_prim prims[FUZZ_DIRECTIVES];
    struct fuzz_verdict verdict;
};

// What drawing counted.
struct fuzz_draws {
    uint32_t refused[D_COUNT];
    uint64_t accepted;
};

// Draw a case and check it; what the compiler refuses as a whole is drawn
// with fewer directives, then anew.  The arena is the caller's.
void fuzz_case_run(struct fuzz_case *c, struct arena *a,
                   struct fuzz_draws *draws, bool is_printed);

#endif
