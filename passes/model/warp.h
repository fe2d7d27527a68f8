// What a warp of a block does: a walk through a launch that adds it up.

#ifndef PASSES_MODEL_WARP_H
#define PASSES_MODEL_WARP_H

#include "passes/analysis/warp_cost.h"
#include "passes/model/lanes.h"

// What a block moves between an array in global memory and the L2 cache.
struct traffic {
    const struct ir_buffer *buffer;
    double read, written; // bytes
    unsigned on;          // positions of the block that the places depend on
};

// What a block does, in clocks of an SM that nothing else keeps busy.
struct block_work {
    double pipe[MODEL_LIMITS]; // dram, l2 and latency stay 0
    double path;               // clocks until its last warp is done
    double uneven; // tiles of the block that has most, over the mean; 0: there
                   // is no loop over tiles
    int64_t blocks;
    struct VEC(struct traffic) arrays;
};

// What an access does.
enum move { MOVE_read, MOVE_write, MOVE_atomic };

// A warp on its way.
struct warp {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct lanes_place place;
    struct block_work *work;
    uint32_t active;     // lanes, a bit each
    unsigned depth;      // loops around
    double warps;        // that this one stands for
    double times;        // that the statement runs
    double trips;        // of the innermost loop
    double path;         // clocks so far
    double ready;        // when what has been loaded will be there
    double copied;       // when what is being copied will be there
    double copies_ahead; // iterations that copies run ahead
    struct map *seen;    // accesses -> struct span_seen, of other warps
};

// The least and the greatest element that a warp accessed at a place.
struct span_seen {
    int64_t low, high;
};

// Follow a warp through the body of a launch.
void warp_run(struct warp *w, const struct ir_block *body);

// Add instructions of the warp to a pipe, of `lanes` a clock and SM.
void warp_spend(struct warp *w, enum model_limit pipe, double instructions,
                double lanes);
// Add clocks of the SM to a pipe.
void warp_hold(struct warp *w, enum model_limit pipe, double clocks);
// Wait for what has been loaded.
void warp_settle(struct warp *w);

// Add what the operations of an expression take, and its accesses.
void warp_value(struct warp *w, const struct ir_expr *x);
// Add the arithmetic of an index, as far as the loop around changes it.
void warp_index(struct warp *w, const struct ir_expr *x);

// Add an access of `type` from an element on.  `where` is what accesses: the
// same for all warps.
void warp_access(struct warp *w, enum move kind, const void *where,
                 const struct ir_buffer *buffer, const struct ir_expr *index,
                 struct type type);
// Add bytes that the block moves to or from an array.
void warp_move(struct warp *w, enum move kind, const struct ir_buffer *buffer,
               double bytes, unsigned on);
// Return the clocks of a load that DRAM serves.
double warp_latency(const struct warp *w);

// Add an instruction on matrices, or a copy.
void warp_matrix(struct warp *w, const struct ir_stmt *s);
void warp_copy(struct warp *w, const struct ir_copy *copy);

#endif
