// Which accesses to memory that the threads of a block share conflict.

#ifndef PASSES_LOWER_TOUCHES_H
#define PASSES_LOWER_TOUCHES_H

#include "ir/base/map.h"
#include "passes/analysis/divergence.h"
#include "passes/analysis/meet.h"

// Accesses, each once.
struct touches VEC(const struct meet_access *);

// Add the accesses of one set to another.
void touches_add(struct arena *a, struct touches *set,
                 const struct touches *more);

// Say that so many threads have met between the accesses and what is compared
// with them.
void touches_settle(struct arena *a, struct touches *set, uint32_t together);

// Return the accesses of a statement, without those of its blocks, in a scope
// where variables stand for `values`.
struct touches touches_of(struct arena *a, struct ir_stmt *s,
                          const struct map *values,
                          const struct meet_scope *scope);

// Return accesses that go on until a statement, in a scope, waits for them: of the
// elements that each iteration of the loops around may have begun with.
struct touches touches_until(struct arena *a, const struct touches *begun,
                             const struct ir_stmt *wait,
                             const struct meet_scope *scope);

// Two accesses that conflict.
struct conflict {
    const struct meet_access *first, *second;
};

// Find an access of one set that conflicts with a later one of another, in a
// block with several threads on the axes `threads`.
bool touches_conflict(struct meet *meet, axis_set threads,
                      const struct touches *first, const struct touches *second,
                      const struct meet_place *place, struct conflict *out);

#endif
