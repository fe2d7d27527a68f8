// Whether a system of linear conditions has a solution, by the bounds of its
// unknowns: most questions about positions of threads need no more.

#ifndef PASSES_ANALYSIS_LINEAR_BOUNDS_H
#define PASSES_ANALYSIS_LINEAR_BOUNDS_H

#include "passes/analysis/linear.h"

// What bounds say of a system.
enum solvable { SOLVABLE_UNKNOWN, SOLVABLE_NO, SOLVABLE_YES };

// Decide whether a system has a solution.  *left: a system, in the same arena, that
// has one if and only if this one has, for who wants to decide what is not known.
enum solvable linear_bounds(const struct linear *l, struct linear *left);

#endif
