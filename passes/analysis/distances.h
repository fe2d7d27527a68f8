// What is known of two accesses from how far apart their elements are, whatever
// conditions are around them.  Unrolled statements differ in numbers only:
//
//   S[t * 8 + 1] = ...; ... S[t * 8 + 4]       S[t * 8 + 2] = ...; S[t * 8 + 5]
//
// so that few of very many pairs are questions of their own.

#ifndef PASSES_ANALYSIS_DISTANCES_H
#define PASSES_ANALYSIS_DISTANCES_H

#include "passes/analysis/thread_conflicts.h"

struct distances;

// What all pairs of one distance have in common.
struct distance {
    uint64_t asked;   // how often
    bool is_known;    // the rest is
    bool never_meets; // different threads are always at different elements
};

// Return none so far.
struct distances *distances_new(struct arena *a);

// Return what belongs to the distance of two accesses at a place, to be read
// and filled in; NULL if numbers are too large.
struct distance *distances_find(struct distances *d,
                                const struct conflict_access *x,
                                const struct conflict_access *y,
                                const struct conflict_place *place);

#endif
