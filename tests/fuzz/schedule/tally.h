// What a campaign counts.

#ifndef TESTS_FUZZ_SCHEDULE_TALLY_H
#define TESTS_FUZZ_SCHEDULE_TALLY_H

#include "tests/fuzz/schedule/case.h"

enum {
    TALLY_FAILURES = 64,
    FUZZ_TRIPLES = PRIM_COUNT * PRIM_COUNT * PRIM_COUNT
};

// A case that failed.
struct fuzz_failure {
    uint64_t number;
    char what[160], detail[480];
};

// Counters; those of several processes are added up.
struct fuzz_tally {
    uint64_t cases, accepted, aimed, failed, runs, left, directives;
    uint64_t tails, zeros, ones, huge, unwritten, alike,
        unrun; // of the accepted cases
    uint64_t kinds[KIND_COUNT], kinds_accepted[KIND_COUNT];
    uint64_t lengths[FUZZ_DIRECTIVES + 1];
    uint64_t missed[PRIM_COUNT];            // cases that wanted it in vain
    uint64_t prims[PRIM_COUNT];             // cases that use it
    uint64_t pairs[PRIM_COUNT][PRIM_COUNT]; // cases with one, later the other
    uint32_t triples[FUZZ_TRIPLES];         // and later a third
    uint64_t refused[D_COUNT];              // cases, by the first error
    struct fuzz_draws draws;
    double slowest;        // seconds of the processor that a case took
    uint64_t slowest_case; // which one
    uint64_t n_failures;   // kept
    struct fuzz_failure failures[TALLY_FAILURES];
};

// Count a case that was run, in so many seconds.
void fuzz_tally_case(struct fuzz_tally *t, const struct fuzz_case *c,
                     double seconds);
// Note a failure.
void fuzz_tally_failure(struct fuzz_tally *t, uint64_t number, const char *what,
                        const char *detail);
// Add all counters of `from`.
void fuzz_tally_add(struct fuzz_tally *t, const struct fuzz_tally *from);

// Print a tally as text or as JSON; `seconds` is how long it took.
void fuzz_report(const struct fuzz_tally *t, double seconds);
void fuzz_report_json(const struct fuzz_tally *t, uint64_t seed, uint64_t first,
                      double seconds);

#endif
