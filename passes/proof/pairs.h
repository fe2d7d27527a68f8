// Whether two accesses may be to a common element.

#ifndef PASSES_PROOF_PAIRS_H
#define PASSES_PROOF_PAIRS_H

#include "passes/proof/system.h"

// Accesses that may happen between the same barriers, and so on: each family
// once.
struct family_set VEC(const struct family *);

// A question about two families, and what is asked of every pair of them.
struct pair_question {
    struct relation relation;
    enum proof_claim claim;
    // Add what has to hold of the two threads, beyond a common element, and
    // return whether there may be a solution.
    bool (*may_differ)(struct system *s, const void *context);
    const void *context;
    uint64_t kind;            // of what may_differ adds
    enum proof_reason reason; // why it is open; none: as the system says
};

// Add a family to a set that lacks it; add those of another set.
void family_add(struct arena *a, struct family_set *set,
                const struct family *f);
void families_add(struct arena *a, struct family_set *set,
                  const struct family_set *more);

// Return whether two families are of accesses to one array, one of which
// writes, that are not both atomic.
bool families_conflict(const struct family *x, const struct family *y,
                       bool blocks_differ);

// Ask about two families; the claim is open for the accesses for which it is
// not proved.
void pair_ask(struct system *s, const struct pair_question *q,
              const struct family *x, const struct family *y);

#endif
