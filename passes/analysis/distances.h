// What is known of two accesses from how far apart their elements are: whatever
// conditions are around them, and under those of certain scopes.  Unrolled
// statements differ in numbers only:
//
//   S[t * 8 + 1] = ...; ... S[t * 8 + 4]       S[t * 8 + 2] = ...; S[t * 8 + 5]
//
// so that few of very many pairs are questions of their own.

#ifndef PASSES_ANALYSIS_DISTANCES_H
#define PASSES_ANALYSIS_DISTANCES_H

#include "passes/analysis/thread_conflicts.h"

struct distances;

// What was found for pairs of one distance whose accesses stand in two scopes.
struct distance_answer {
    struct distance_answer *next; // for other scopes
    const struct conflict_scope *from, *to;
    bool conflicts; // different threads may access the same element
};

// What all pairs of one distance have in common.
struct distance {
    uint64_t asked;       // how often
    bool is_known;        // the next one is
    bool never_conflicts; // different threads are always at different elements
    struct distance_answer *answers;
};

// Return none so far.
struct distances *distances_new(struct arena *a);

// Return what belongs to the distance of two accesses at a place, to be read
// and filled in; NULL if numbers are too large.  So many threads next to each
// other are no different ones.
struct distance *distances_find(struct distances *d,
                                const struct conflict_access *x,
                                const struct conflict_access *y,
                                const struct conflict_place *place,
                                uint32_t together);

// Return what was found for two accesses of a distance in scopes like theirs,
// or NULL.
const struct distance_answer *distances_answer(const struct distance *d,
                                               const struct conflict_access *x,
                                               const struct conflict_access *y);

// Keep what was found for two accesses of a distance.
void distances_keep(struct distances *d, struct distance *distance,
                    const struct conflict_access *x,
                    const struct conflict_access *y, bool conflicts);

#endif
