// What one index says of the region of its array.

#ifndef PASSES_ANALYSIS_REGION_INDEX_H
#define PASSES_ANALYSIS_REGION_INDEX_H

#include "passes/analysis/facts.h"
#include "passes/analysis/region.h"

// Where an access is.
struct region_place {
    const struct region_question *q;
    struct facts facts;
    struct map loops; // variable -> its ir_for
};

// Split an index into what is fixed, in the variables that stand for it, and
// the rest.  Returns false if one term has both.
bool region_split(const struct region_place *at, struct ir_expr *index,
                  struct affine *base, struct affine *rest);

// Return the dimension if the index were the only one.
struct region_dim region_of_index(const struct region_place *at,
                                  struct ir_expr *index);

#endif
