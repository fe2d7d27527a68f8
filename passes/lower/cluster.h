// The blocks of a cluster, and the TMA tiles that they multicast to each other.

#ifndef PASSES_LOWER_CLUSTER_H
#define PASSES_LOWER_CLUSTER_H

#include "ir/walk.h"
#include "passes/lower/tma_copies.h"

// The loops over the blocks of a cluster around a place.
struct cluster {
    const struct ir_for *loops[3]; // by dimension; NULL: one block
    int64_t blocks;                // of a cluster; 0: not known
};

// Find the loops in a path.  Returns why blocks of other numbers run together
// beside them, or NULL.
const char *cluster_find(struct cluster *c, const struct ir_path *path);

// Return whether several blocks of a cluster may run a statement on the same
// elements.
bool cluster_shares(const struct cluster *c, struct ir_stmt *s);

// Return whether an expression is not the same in all blocks of a cluster.
bool cluster_differs(const struct cluster *c, const struct ir_expr *x);

// Find the TMA tiles of a nest (tma_copies_tile) that a block of a cluster has
// to copy: where all blocks along some dimensions need the same ones, each
// copies a part, to all of them.  Returns why there are none, or NULL.
const char *cluster_tiles(struct pass *p, struct facts *facts,
                          const struct cluster *c, struct ir_stmt *nest,
                          struct tma_tile *tile);

#endif
