// A smaller system of linear conditions in place of a large one.

#ifndef PASSES_ANALYSIS_LINEAR_REDUCE_H
#define PASSES_ANALYSIS_LINEAR_REDUCE_H

#include "passes/analysis/linear.h"

// Return a system, in an arena, that has a solution if and only if this one has:
// without rows that say nothing, or nothing new, and with fewer unknowns.
struct linear linear_reduced(struct arena *a, const struct linear *l);

#endif
