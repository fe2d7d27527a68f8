// Finds the TMA tiles or bulk copies that do what a nest copies by elements.

#ifndef PASSES_LOWER_TMA_TILE_H
#define PASSES_LOWER_TMA_TILE_H

#include "passes/analysis/tma_copy.h"

// A nest of serial loops around nothing but a copy, and the TMA tiles or bulk
// copies (bulk_copy.h) that do it.
struct tma_tile {
    struct tma_copy copy;
    struct ir_expr *predicate;              // of the stage, over loops; or NULL
    struct VEC(const struct ir_for *) nest; // outermost first

    struct VEC(struct ir_for *) around; // loops over TMA tiles, outermost first
    uint32_t extent[TENSOR_RANK_MOST];  // of a TMA tile
    uint32_t swizzle;                   // bytes; 0: none
    uint32_t elements;                  // of a bulk copy; 0: TMA tiles
    struct ir_expr *condition;          // for bulk copies to run; NULL: always
    struct ir_expr *far_at[TENSOR_RANK_MOST]; // of a tile's first element
    struct ir_expr **near_at;

    struct ir_expr *multicast; // blocks of the cluster that get it, a bit each;
    int64_t parts; // and how many copy parts of it; or NULL: this one alone
};

// Find the TMA tiles.  The facts are those around the nest; new nodes go to
// `a`. Returns why there are none, or NULL.
const char *tma_tile_find(struct arena *a, struct facts *f,
                          struct tma_tile *box);

// Return how much of the array in shared memory a swizzle repeats after, at a
// multiple of which a TMA tile has to begin, in bytes; 16 for a bulk copy.
uint32_t tma_tile_period(const struct tma_tile *box);

// Learn what holds inside the nest.
void tma_tile_enter(const struct tma_tile *box, struct facts *f);

// Return whether a loop of the nest changes an expression.
bool tma_tile_changes(const struct tma_tile *box, struct ir_expr *x);

// Return the bytes of a TMA tile or a bulk copy.
int64_t tma_tile_bytes(const struct tma_tile *box);

#endif
