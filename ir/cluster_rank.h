// The rank of a block in its cluster: x first, then y, then z, as in %cluster_ctarank.

#ifndef IR_CLUSTER_RANK_H
#define IR_CLUSTER_RANK_H

#include "ir/ir.h"

// Return whether an expression in positions of the grid, as it is behind the pass
// `mapped`, is the rank of the block that computes it:
//
//   block.z % 2                   in clusters of 1 x 1 x 2 blocks
//   block.z % 2 * 2 + block.y % 2                1 x 2 x 2
//
// false if that is not seen.
bool ir_is_own_rank(const struct ir_launch *launch, const struct ir_expr *x);

#endif
