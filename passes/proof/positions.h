// Products of sizes and positions that the written element tells: the row
// `block.x * 4 + thread.y` fixes thread.y, so `thread.y * n` has one value for each
// row. A set of elements may have such a product as a parameter.

#ifndef PASSES_PROOF_POSITIONS_H
#define PASSES_PROOF_POSITIONS_H

#include "passes/proof/system.h"

enum { RANK_MOST = 8 };

// A product as a function of the elements: what it is made of, and the indices that
// tell its positions.
struct told_product {
    const struct ir_launch *launch;
    const struct ir_expr *product;
    uint32_t rank;
    struct ir_expr *plain[RANK_MOST]; // NULL: that index tells nothing
    bool is_told;                     // these tell all positions
};
struct told_products VEC(struct told_product);

// Return whether an expression is a position, or the quotient of one by a number: the row
// of a cluster of blocks.
bool positions_is_one(const struct ir_expr *x);

// Return whether an expression is a product with sizes, numbers and positions of
// threads and blocks alone, some of these.
bool positions_multiply(const struct ir_expr *x);

// Return a name for a product as a function of the elements that a family writes; NULL
// if these do not tell all its positions. Two with the same name have the same value at
// each element. `all` keeps what was found.
const char *positions_name(struct told_products *all, const struct system *s,
                           const struct family *f,
                           const struct ir_expr *product);

#endif
