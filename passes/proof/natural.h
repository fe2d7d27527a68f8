// Whether a value is never negative, by its form.

#ifndef PASSES_PROOF_NATURAL_H
#define PASSES_PROOF_NATURAL_H

#include "passes/analysis/facts.h"
#include "passes/proof/program.h"

// Return whether an expression inside a scope is at least 0 wherever it is
// evaluated without a fault; the facts are those of the sizes alone.
bool natural_is(const struct facts *f, const struct scope *scope,
                struct ir_expr *x);
bool natural_is_sum(const struct facts *f, const struct scope *scope,
                    const struct affine *x);

#endif
