// Structural equality: same shape, same numbers, and a one-to-one matching
// between the variables and arrays declared on both sides.  Names of
// parameters, launches and stages count; names of variables do not; spans do
// not.

#ifndef IR_EQUAL_H
#define IR_EQUAL_H

#include "ir/ir.h"

// Return whether two expressions over the same variables are equal.
bool ir_expr_equal(const struct ir_expr *a, const struct ir_expr *b);

// Return whether each of `n` expressions equals that of another list.
bool ir_all_equal(uint32_t n, struct ir_expr *const *x,
                  struct ir_expr *const *y);

// Return the same number for equal expressions.
uint64_t ir_expr_hash(const struct ir_expr *x);

// Return a number that mixes two.
uint64_t ir_hash_mix(uint64_t x, uint64_t y);

// Return whether two kernels are equal.  If not, `difference` (may be NULL)
// is set to a phrase that says where, in the arena.
bool ir_kernel_equal(struct arena *arena, const struct ir_kernel *a,
                     const struct ir_kernel *b, const char **difference);

#endif
