// What the files of a system share.

#ifndef PASSES_PROOF_SYSTEM_PARTS_H
#define PASSES_PROOF_SYSTEM_PARTS_H

#include "passes/proof/system.h"

// Return whether a bound counts: in a short question only a number does.
bool system_counts(struct system *s, const struct ir_expr *end);

// Return whether the text says between which numbers an expression is, as
// elements of inputs are.
bool system_is_said(const struct system *s, const struct ir_expr *x);

// Require of the value of an expression what the text says of elements, if it
// is one (passes/proof/system_data.c).
void system_require_said(struct system *s, const struct ir_expr *x,
                         const struct sum *value, enum side side);

#endif
