// What a warp of a block does: a walk through a launch that adds it up.

#ifndef PASSES_MODEL_WARP_H
#define PASSES_MODEL_WARP_H

#include "passes/analysis/warp_cost.h"
#include "passes/model/lanes.h"
#include "passes/model/reuse.h"

// What a block moves between an array in global memory and the L2 cache.
struct traffic {
    const struct ir_buffer *buffer;
    double read, written; // bytes
    double size;          // bytes of the array; 0: unknown
    unsigned on;          // positions of the block that the places depend on
};

// What a block does, in clocks of an SM that nothing else keeps busy.
struct block_work {
    double pipe[MODEL_LIMITS]; // dram, l2 and latency stay 0
    double path;               // clocks until its last warp is done
    double serial; // clocks of what warpgroups do one after the other: their
                   // instructions on matrices, stores by TMA
    double consumer, consumer_serial; // the way of the last warp that does
                                      // such, and its own part of it
    double ring,
        slots;       // clocks in which copies fill its rings, if nothing waits
                     // for the slots; the slots of the smallest
    bool alternates; // warpgroups take tiles in turns
    double uneven;  // tiles of the block that has most, over the mean; 0: there
                    // is no loop over tiles
    double tickets; // numbers that it takes of a counter of all blocks
    int64_t grid[3], blocks;
    struct VEC(struct traffic) arrays;
};

// A stretch of code: what was done since threads met, or a loop began.
struct stretch {
    double began;              // the way until then
    double loaded, fetched;    // bytes from the L2 cache, and from DRAM
    double pipe[MODEL_LIMITS]; // clocks of all warps that this one stands for
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
    double path_serial;  // of these, in what warpgroups do in turns
    double path_ring;    // in which copies that run ahead would come
    double ready;        // when what has been loaded will be there
    double loads;        // reads in the loop around
    double copied;       // when what is being copied will be there
    double copies_ahead; // iterations that copies run ahead
    bool waits;          // for copies, in the loop around
    bool only_copies; // it is a producer, by TMA: its way is that of the copies
    unsigned unrolled; // loops around, from the innermost on, that are expanded
    double expanded;   // iterations that these have together
    const void *loop;  // around, or NULL
    uint64_t epoch;    // a number for each stretch
    struct stretch since;
    struct reuse *reuse; // what was read before
};

// Return how many loops are around that LLVM does not expand.
static inline unsigned warp_turns(const struct warp *w)
{
    return w->depth - w->unrolled;
}

// Follow a warp through the body of a launch.
void warp_run(struct warp *w, const struct ir_block *body);

// Add instructions of the warp to a pipe, of `lanes` a clock and SM.
void warp_spend(struct warp *w, enum model_limit pipe, double instructions,
                double lanes);
// Add clocks of the SM to a pipe.
void warp_hold(struct warp *w, enum model_limit pipe, double clocks);
// Add clocks to the way of the warp.
void warp_pass(struct warp *w, double clocks);
// Add clocks of the SM in which no other warpgroup can do the same.
void warp_serial(struct warp *w, double clocks);
// Wait for what has been loaded.
void warp_settle(struct warp *w);
// Return the clocks that the block, alone on its SM, needs for what was done since
// threads met, and begin anew.
double warp_transfer(struct warp *w);

// Add what the operations of an expression take, and its accesses.
void warp_value(struct warp *w, const struct ir_expr *x);
// Return whether an operation computes an index or a condition of indices.
bool warp_is_index(const struct ir_expr *x);
// Add the arithmetic of an index, as far as the loop around changes it.
void warp_index(struct warp *w, const struct ir_expr *x);

// Add an access of `type` from an element on.
void warp_access(struct warp *w, enum move kind, const struct ir_buffer *buffer,
                 const struct ir_expr *index, struct type type);
// The same, of shared and of global memory.
void warp_shared(struct warp *w, enum move kind, const struct ir_buffer *buffer,
                 const struct lanes *at, uint32_t bytes);
void warp_global(struct warp *w, enum move kind, const struct ir_buffer *buffer,
                 const struct lanes *at, uint32_t bytes);
// Set where the lanes are, in bytes.
void warp_places(const struct warp *w, const struct ir_buffer *buffer,
                 const struct lanes *at, uint32_t bytes,
                 struct warp_access *out);
// Return what the block moves between an array and the L2 cache so far.
struct traffic *warp_traffic(struct warp *w, const struct ir_buffer *buffer);
// Add bytes that the block moves to or from an array.
void warp_move(struct warp *w, enum move kind, const struct ir_buffer *buffer,
               double bytes, unsigned on);
// Return the clocks of a load that DRAM serves.
double warp_latency(const struct warp *w);
// Note that the block loads bytes of an array. Returns the part of them that no block
// has loaded before.
double warp_load(struct warp *w, const struct ir_buffer *buffer, double bytes);

// Add an instruction on matrices, or a copy.
void warp_matrix(struct warp *w, const struct ir_stmt *s);
void warp_copy(struct warp *w, const struct ir_copy *copy);

#endif
