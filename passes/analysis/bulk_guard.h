// What must hold for pieces to be whole.

#ifndef PASSES_ANALYSIS_BULK_GUARD_H
#define PASSES_ANALYSIS_BULK_GUARD_H

#include "ir/walk.h"
#include "passes/analysis/facts.h"

// Append what must hold of sizes, and is not known, for the stage at the end of
// a path to be copied in pieces, as far as that can be said for all sizes; the
// facts, those at the stage, learn it.  Returns why there are no pieces, or
// NULL.
const char *bulk_guard(struct arena *a, struct facts *f,
                       const struct ir_path *path, struct ir_conditions *out);

#endif
