// Loops where a call would be accepted: what refusals offer.

#ifndef PASSES_SCHEDULE_COMMON_OFFER_H
#define PASSES_SCHEDULE_COMMON_OFFER_H

#include "passes/schedule/prim.h"

// The same check as a primitive's, for another loop.
typedef bool sched_accepts(const struct sched_call *c, struct ir_stmt *loop);

// Return whether a check accepts a loop, without a word.
bool sched_would_accept(const struct sched_call *c, struct ir_stmt *loop,
                        sched_accepts *accepts);

// Add to the newest error which loops around some statements the check
// accepts.  Its own errors are dropped.  Returns how many these are.
size_t sched_offer_loops(const struct sched_call *c,
                         struct ir_stmt *const *near, size_t n,
                         sched_accepts *accepts);

// Return whether the newest error is of that kind.
bool sched_is_newest(const struct sched_call *c, enum diag_code code);

#endif
