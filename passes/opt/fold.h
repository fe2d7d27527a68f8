// Simplification of one expression under facts.

#ifndef PASSES_OPT_FOLD_H
#define PASSES_OPT_FOLD_H

#include "passes/analysis/facts.h"

// Return an expression of the same value wherever the facts hold and `x`
// evaluates without a fault; `x` itself if nothing is simpler.
struct ir_expr *fold_expr(struct arena *a, struct facts *f, struct ir_expr *x);

// Return an expression with the same value, simpler at its root; its operands
// are simplified.
struct ir_expr *fold_root(struct arena *a, struct facts *f, struct ir_expr *x);

// Return the conjunction of the conditions, true if there are none.
struct ir_expr *fold_all(struct arena *a, struct ir_expr *const *conditions,
                         size_t n);

// Return the comparison 0 <= form of values of type `int`.
struct ir_expr *fold_condition(struct arena *a, const struct affine *form);

// The conditions that an `&&` chain joins, in order; none for NULL.
struct conditions VEC(struct ir_expr *);
struct conditions fold_split(struct arena *a, struct ir_expr *x);
// Append them.
void fold_append(struct arena *a, struct ir_expr *x, struct conditions *out);

#endif
