// Which accesses to shared and global memory conflict between threads.

#ifndef PASSES_LOWER_ACCESSES_H
#define PASSES_LOWER_ACCESSES_H

#include "ir/base/map.h"
#include "passes/analysis/divergence.h"
#include "passes/analysis/thread_conflicts.h"

// Accesses, each once.
struct accesses VEC(const struct conflict_access *);

// Add the accesses of one set to another.
void accesses_add(struct arena *a, struct accesses *set,
                  const struct accesses *more);

// Say that so many threads have met between the accesses and what is compared
// with them.
void accesses_settle(struct arena *a, struct accesses *set, uint32_t together);

// Return those accesses of a set that are to arrays of a cluster; or just those
// that may be to elements of another block.
struct accesses accesses_of_cluster(struct arena *a, const struct accesses *set,
                                    bool only_remote);

// Return what a barrier of the block leaves of a set: accesses to arrays of a
// cluster, which conflict with those of other blocks only.
struct accesses accesses_parted(struct arena *a, const struct accesses *set);

// Return the accesses of a statement, without those of its blocks, in a scope
// where variables stand for `values`. Those to elements of another block of the
// cluster are told from others by the `launch`; NULL: they are not.
struct accesses accesses_of(struct arena *a, struct ir_stmt *s,
                            const struct map *values,
                            const struct conflict_scope *scope,
                            const struct ir_launch *launch);

// Return accesses that go on until a statement, in a scope, waits for them: of the
// elements that each iteration of the loops around may have begun with.
struct accesses accesses_until(struct arena *a, const struct accesses *begun,
                               const struct ir_stmt *wait,
                               const struct conflict_scope *scope);

// Two accesses that conflict.
struct conflict {
    const struct conflict_access *first, *second;
};

// Find an access of one set that conflicts with a later one of another, in a
// block with several threads on the axes `threads`; two to an array of a cluster
// do if one of them writes.
bool accesses_conflict(struct thread_conflicts *known, axis_set threads,
                       const struct accesses *first,
                       const struct accesses *second,
                       const struct conflict_place *place,
                       struct conflict *out);

#endif
