// Models of what is known: a number for each variable and position under which
// every fact holds.  A claim that fails in a model follows from no facts, so
// that a search for its proof is in vain.

#ifndef PASSES_ANALYSIS_MODELS_H
#define PASSES_ANALYSIS_MODELS_H

#include "passes/analysis/facts.h"

// Return none so far.
struct models *models_new(struct arena *a);

// Return whether x >= 0 fails in a model found earlier.
bool models_refute(const struct facts *f, const struct affine *x);

// Look for a model in which x >= 0 fails, in rounds that take longer and longer;
// there may be one though none of them finds it.
enum { MODELS_ROUNDS = 3 };
bool models_search(const struct facts *f, const struct affine *x, size_t round);

#endif
