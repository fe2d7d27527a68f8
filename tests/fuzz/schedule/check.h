// Compiles a case and asks the oracles.
//
// A case is a file with one kernel and at most one schedule, as those of the
// zoo: each line `// test: n=5 m=7` is a set of sizes.

#ifndef TESTS_FUZZ_SCHEDULE_CHECK_H
#define TESTS_FUZZ_SCHEDULE_CHECK_H

#include "ir/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum fuzz_outcome { FUZZ_ACCEPTED, FUZZ_REFUSED, FUZZ_FAILED };

// What came of a case.
struct fuzz_verdict {
    enum fuzz_outcome outcome;
    enum diag_code code;  // refused: why
    bool is_huge;         // an index needs more than 32 bits
    bool reads_unwritten; // without effect on the results
    bool writes_alike;    // likewise
    unsigned runs;        // of the kernel: by sets, variants and oracles
    unsigned left;        // sets that no oracle ran a variant at
    char what[160];       // failed: the kind of failure; equal for equal ones
    char detail[480];     // failed: where and how
};

// Check a case.  `seed` decides the architecture and what oracles draw; if that
// one lacks an instruction, the case is for sm_90a.
struct fuzz_verdict fuzz_check(const char *text, size_t size, uint64_t seed);
// Compile a case only; ask no oracle.
struct fuzz_verdict fuzz_compile(const char *text, size_t size, uint64_t seed);

#endif
