// Where threads of a block, or of a cluster, wait for one another.

#ifndef PASSES_PROOF_GROUP_H
#define PASSES_PROOF_GROUP_H

#include "passes/proof/system.h"

// Which threads are asked about: two of the same `same` next to each other (0:
// of the block) that are not of the same `apart`; or two of different blocks of
// a cluster.
struct group {
    uint32_t same, apart;
    bool of_cluster;
};

// Require that the two threads are of the group, and return whether they may be
// different ones.  `group` is a struct group.
bool group_may_differ(struct system *s, const void *group);

// Return whether the threads in question wait for each other at a node, and
// whether they may in some nodes.
bool group_meets(const struct group *g, const struct node *n);
bool group_may_meet(const struct group *g, const struct nodes *nodes);

// Return whether a loop has an iteration whenever it is reached.
bool loop_runs(struct system *s, const struct scope *loop);

// Return whether a value is the same for both threads of a pair that is inside
// a scope.
bool group_has_same(struct system *s, const struct group *g,
                    const struct scope *scope, struct ir_expr *x);

// Return whether the threads in question are in the same iteration of a loop
// where they meet inside of it: each iteration has a barrier on every way, and
// its first value is the same for all.
bool group_is_in_step(struct system *s, const struct group *g,
                      const struct node *loop);

#endif
