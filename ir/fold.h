// Folding: what the builders of ir/build.h do before they make a node.

#ifndef IR_FOLD_H
#define IR_FOLD_H

#include "ir/ir.h"

// Return what an operation on these operands amounts to, or NULL if it needs
// a node.  Operations of forms PREFIX, INFIX and CALL, and select, that do
// not access memory.
struct ir_expr *ir_fold(struct arena *a, enum ir_op op, uint32_t n,
                        struct ir_expr *const *args);

// Return whether every library and device computes the same bits for an
// operation on the same operands, which are not asked about.  False for what
// needs memory other than a load, positions or other threads.
bool ir_is_reproducible(const struct ir_expr *x);

// The same for a conversion.
struct ir_expr *ir_fold_cast(struct arena *a, struct type type,
                             struct ir_expr *x);

// The same for lane k of a vector.
struct ir_expr *ir_fold_lane(struct arena *a, struct ir_expr *vector,
                             unsigned k);

#endif
