// What stores write, as pieces of an array: each the solutions of a system. Pieces of
// unrolled stores, each behind a condition of its own, become one piece with one more
// unknown.

#ifndef PASSES_PROOF_PIECES_H
#define PASSES_PROOF_PIECES_H

#include "passes/proof/positions.h"

#include <isl/set.h>

// A piece: the elements of some systems, whose constants grow by `step` from one to
// the next.
struct piece {
    struct linear linear;         // the first system
    uint32_t elements[RANK_MOST]; // unknowns that are the indices, in order
    // The name of the parameter that an unknown is, by its number, or NULL.
    const char *const *parameters;
    const int64_t *step; // for each row
    uint32_t members;
};

struct pieces {
    struct arena *arena;
    struct VEC(struct piece) all;
    struct told_products products; // that are parameters
};

// Add the solutions of a system; `elements` are in order. A family tells which
// products are parameters, as sizes are; NULL: none.
void pieces_add(struct pieces *pieces, const struct system *s,
                const struct family *f, const uint32_t *elements,
                uint32_t rank);

// Merge pieces whose constants grow evenly; what they are together stays.
void pieces_merge(struct pieces *pieces);

// Return a piece that is one system as a set of the values of `elements`, with sizes
// as parameters.
isl_set *piece_set(const struct piece *piece, isl_ctx *ctx, uint32_t rank);

#endif
