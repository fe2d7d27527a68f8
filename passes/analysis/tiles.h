// The loops over blocks of a nest, and how persistent blocks run through their
// tiles.
//
//   for i in 0..m @block.y @persistent(132) {
//     for j in 0..n @block.x { ... } }
//
// A mark of the outermost loop says how many persistent blocks there are; one
// of the last loop but one says in which order the tiles of it and the last are
// numbered.

#ifndef PASSES_ANALYSIS_TILES_H
#define PASSES_ANALYSIS_TILES_H

#include "ir/ir.h"

// The orders of tiles: rows of orders.def.
enum tile_order {
#define ORDER(name, group, meaning) ORDER_##name,
#include "passes/analysis/orders.def"
#undef ORDER
    ORDER_COUNT
};

// Find an order by its name; false if there is none.
bool tiles_order(const char *name, enum tile_order *out);
const char *tiles_order_name(enum tile_order order);

// Return whether rows go together in groups of `n` in an order; 0: in none.
bool tiles_group_fits(enum tile_order order, int64_t n);

// A nest of loops over blocks, each directly in the one before.
struct tiles {
    struct VEC(struct ir_stmt *) loops; // outermost first
    struct ir_expr *cluster[3];         // blocks of a cluster; NULL: one
    const char *fault;                  // why it is none; NULL: it is one
};

// Look at the nest of a loop that is bound to blocks.  Lists go to the arena.
struct tiles tiles_find(struct arena *a, struct ir_kernel *kernel,
                        const struct ir_stmt *loop);

// Return whether the blocks of a nest keep an array from one iteration of a
// serial loop around them to the next: it is declared in front of them. True
// only behind `buffers`: until then all arrays are declared at the top.
bool tiles_keep_array(struct arena *a, struct ir_kernel *kernel,
                      const struct tiles *t);

// Return how many tiles there are.
struct ir_expr *tiles_count(struct arena *a, const struct tiles *t);

// Return whether a loop has a mark of persistent blocks or of a tile order.
bool tiles_are_walked(const struct ir_stmt *loop);

// Return a mark of one of the nest's loops, or NULL if none has it.
const struct ir_attr *tiles_mark(const struct tiles *t, enum ir_mark mark);

// Return the ring with roles of a loop in a tile, or NULL.
struct ir_ring *tiles_ring(struct ir_block *tile);

// Return the loop over warpgroups if it is all that a block, or the blocks of a
// cluster, do in a tile, and it will be warp-specialized; else NULL.
struct ir_stmt *tiles_roles(const struct ir_block *tile);

#endif
