// Runs many cases in children, so that none can end the campaign.

#ifndef TESTS_FUZZ_SCHEDULE_CAMPAIGN_H
#define TESTS_FUZZ_SCHEDULE_CAMPAIGN_H

#include "tests/fuzz/schedule/tally.h"

// The seconds of the processor that a case may take if nothing else is said:
// so many that only what never ends takes them.  What oracles do is limited by
// steps, so that no machine is too slow for a case.
enum { FUZZ_SECONDS = 120 };

struct fuzz_campaign {
    uint64_t seed, first, cases;
    unsigned jobs;      // children at the same time
    unsigned seconds;   // of the processor that a case may take
    unsigned until;     // seconds by the clock after which no batch begins; 0:
                        // all cases are run
    const char *folder; // where files that fail are written; or NULL
    bool is_only_drawn; // no oracle is asked
};

// Run the cases, or as many as the time allows from the first on, and fill the
// tally, the failures in the order of their numbers.  Returns false if that cannot be done.
bool fuzz_campaign_run(const struct fuzz_campaign *c, struct fuzz_tally *out);

// Return the file that a case checks last, on the heap.
char *fuzz_case_text(uint64_t seed, uint64_t number);

// Check a file in a child, for some seconds of the processor at most; a crash
// is a verdict like others.
struct fuzz_verdict fuzz_check_alone(const char *text, size_t size,
                                     uint64_t seed, unsigned seconds);

#endif
