// The claims, one in each file, on a launch that was taken apart.

#ifndef PASSES_PROOF_CLAIMS_H
#define PASSES_PROOF_CLAIMS_H

#include "passes/proof/system.h"

// Say of each access to memory whether its element exists.
void claim_bounds(struct program *p, struct system *s);

// Say of each access to memory that a launch writes and its threads share
// whether another thread of its block may be at the same element.
void claim_block_race(struct program *p, struct system *s);

// Say the same of threads of other blocks.
void claim_grid_race(struct program *p, struct system *s);

// Say of each result of a kernel with these launches whether all of it is
// written.
void claim_coverage(struct arena *a, struct program *const *launches, size_t n,
                    struct proof *out);

#endif
