// Answers that searches for proofs gave, so that the same question costs
// nothing the next time: unrolled statements ask it again and again.
//
// A proof holds while what was known then still is; that none was found, while
// nothing else is known.

#ifndef PASSES_ANALYSIS_ANSWERS_H
#define PASSES_ANALYSIS_ANSWERS_H

#include "passes/analysis/facts.h"

// Return none so far.
struct answers *answers_new(struct arena *a);

// What an earlier search said.
enum answer { ANSWER_NONE, ANSWER_PROVED, ANSWER_UNPROVED };

// Return what is remembered of x >= 0; ANSWER_NONE if it was not asked.
enum answer answers_find(const struct facts *f, const struct affine *x);

// Remember whether x >= 0 was proved, in the facts' arena.
void answers_add(const struct facts *f, const struct affine *x, bool proved);

#endif
