// What the index of an access depends on, and whether lanes differ in it.

#ifndef PASSES_ANALYSIS_ACCESS_DEPENDS_H
#define PASSES_ANALYSIS_ACCESS_DEPENDS_H

#include "passes/analysis/access_sample.h"

// What an expression depends on: a set.
enum {
    ON_THREADS = 1,
    ON_COUNTERS = 2, // of loops over numbers, not too large
    ON_OPEN = 4,     // sizes, blocks, other counters
    ON_DATA = 8,     // memory, and variables that get their values from it
};

// Return what an expression, or the value of a variable, depends on.
unsigned access_depends(const struct access_place *p, const struct ir_expr *x);
unsigned access_var_depends(const struct access_place *p,
                            const struct ir_var *var);

// Return whether an expression is the same in all lanes of each warp.
bool access_is_uniform(const struct access_place *p, const struct ir_expr *x);

// Return the entry of a counter, or NULL if the variable is none.
const struct access_counter *access_find_counter(const struct access_place *p,
                                                 const struct ir_var *var);

#endif
