// Products of sizes and positions that the written element tells: of the row
// `block.x * 4 + thread.y`, the product `thread.y * n` is one number, whatever else the
// thread is. A set of elements may have such a product as a parameter.

#ifndef PASSES_PROOF_POSITIONS_H
#define PASSES_PROOF_POSITIONS_H

#include "passes/proof/system.h"

// Return whether an expression is a product with sizes, numbers and positions of
// threads and blocks alone, some of these.
bool positions_multiply(const struct ir_expr *x);

// Return whether the elements that a family writes tell all positions in a product.
bool positions_are_told(const struct system *s, const struct family *f,
                        struct ir_expr *product);

// Return a name for a product that is a function of the elements of a family: equal
// ones are equal functions.
const char *positions_name(const struct system *s, const struct family *f,
                           const struct ir_expr *product);

#endif
