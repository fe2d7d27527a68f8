// Blocks of a cluster that are there while others access their shared memory.

#ifndef PASSES_LOWER_CLUSTER_LIFE_H
#define PASSES_LOWER_CLUSTER_LIFE_H

#include "passes/lower/accesses.h"
#include "passes/lower/mapping.h"

// What a launch does to the elements of other blocks.
struct cluster_life {
    struct mapping *m;
    struct map remote; // statements that access some
};

// Return whether a launch has an array of a cluster.
bool cluster_life_matters(const struct ir_launch *launch);

// Begin with a launch.
struct cluster_life cluster_life_of(struct mapping *m);

// Note the accesses of a statement.
void cluster_life_note(struct cluster_life *c, const struct ir_stmt *s,
                       const struct accesses *own);

// Insert what keeps the blocks, once all accesses are noted and all other barriers
// are there. `last`: the accesses behind the last one.
void cluster_life_keep(struct cluster_life *c, const struct accesses *last);

#endif
