// The guard on sizes under which bulk copies are whole.

#ifndef PASSES_ANALYSIS_BULK_GUARD_H
#define PASSES_ANALYSIS_BULK_GUARD_H

#include "ir/walk.h"
#include "passes/analysis/facts.h"

// Append the conditions on sizes, unless known, under which the stage at the
// end of a path can be lowered to bulk copies, as far as they can be stated for
// all sizes; the facts, those at the stage, learn them. Returns why bulk copies
// are impossible, or NULL.
const char *bulk_guard(struct arena *a, struct facts *f,
                       const struct ir_path *path, struct ir_conditions *out);

#endif
