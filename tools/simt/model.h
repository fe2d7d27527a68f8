// Release and acquire: what fences and atomics put in order, by the memory
// model of the PTX ISA.
//
// A fence and an atomic behind it release what came before the fence; an atomic
// that observes that one, with a fence behind, acquires it.  Both fences and both
// atomics must be of a scope that holds the other thread.

#ifndef TOOLS_SIMT_MODEL_H
#define TOOLS_SIMT_MODEL_H

#include "tools/simt/known.h"

#include <stddef.h>

struct machine;
struct fiber;
struct site;
struct cell;
struct region;

// The threads that a fence or an atomic is for: a scope.
enum reach { REACH_BLOCK, REACH_CLUSTER, REACH_GPU, REACHES };

// What fences do; an atomic may do the same.
enum ordering { ORDER_RELAXED = 0, ORDER_ACQUIRE = 1, ORDER_RELEASE = 2 };

// What a thread knows beside what its clock says of its own cluster.
struct view {
    struct known *far;               // of other blocks
    struct known *released[REACHES]; // by its last fence of a scope
    struct known *observed[REACHES]; // by atomics, no fence behind yet
};

// An element that atomics have written after a fence.
struct flag {
    const struct cell *cell;    // NULL: none
    uint32_t by;                // block, where it is shared memory of one
    uint32_t releaser[REACHES]; // the block or cluster that did
    struct known *released[REACHES];
};

// The elements that atomics release by.
struct flags {
    struct flag *at;
    size_t n, most;
};

// A launch begins, or a run ends: forget.
void model_begin(struct machine *m);

// Forget what a thread knows.
void view_clear(struct view *v);

// A fence of this thread.
void model_fence(struct machine *m, enum reach reach, unsigned ordering);

// An atomic of this thread at an address.
void model_atomic(struct machine *m, const struct region *r, const void *p,
                  const struct site *s, unsigned kind);

// Threads meet at a barrier: each then knows of other blocks, has released and
// observed, what any of them had.  NULL in `who`: nobody.
void model_meet(struct machine *m, struct fiber *const *who, uint32_t n);

// Return whether an access of another block, or of several threads of it, came
// before what this thread does now.
bool model_knows(const struct machine *m, uint64_t record, uint32_t by);

// Return whether two atomics reach each other's thread.
bool model_reaches(const struct machine *m, const struct site *s,
                   uint64_t record, uint32_t by);

// Called by the code.
void simt_fence(struct machine *m, uint32_t reach, uint32_t ordering);
void *simt_access_atomic(struct machine *m, void *p, struct site *s);
void *simt_access_if(struct machine *m, void *p, struct site *s,
                     uint64_t expected);

#endif
