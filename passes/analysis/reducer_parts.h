// What finding a reduction and combining its parts share.

#ifndef PASSES_ANALYSIS_REDUCER_PARTS_H
#define PASSES_ANALYSIS_REDUCER_PARTS_H

#include "passes/analysis/reducer.h"

// Return whether an expression loads the element that a store writes.
bool reducer_loads_own(const struct ir_stmt *store, const struct ir_expr *x);

// Return the index that an integer conversion, or nothing, makes a value of;
// NULL if it is not one.
struct ir_expr *reducer_position(struct ir_expr *x);

// Return an expression with another value, converted, in place of an index.
struct ir_expr *reducer_at(struct arena *a, struct ir_expr *x,
                           const struct ir_expr *index, struct ir_expr *value);

#endif
