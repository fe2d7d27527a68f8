// What the files of the pass `warp_specialize` share.

#ifndef PASSES_LOWER_WARP_SPECIALIZE_H
#define PASSES_LOWER_WARP_SPECIALIZE_H

#include "ir/gpu.h"
#include "passes/lower/cluster.h"
#include "passes/lower/ring_state.h"
#include "passes/lower/slots.h"
#include "passes/pass.h"

// A ring of a loop that is warp-specialized.
struct specialized_ring {
    struct ring ring;
    size_t index;                   // of those of the loop
    struct ir_buffer *full, *empty; // mbarriers, one a slot
    struct ring_state state;        // of the role that is being made
};

// A loop that is warp-specialized.
struct specialized {
    struct pass *p;
    struct ir_stmt *group, *loop; // over warpgroups; pipelined
    struct ir_path path;          // from the kernel's body to the loop
    uint32_t at;                  // of the group in the path
    struct VEC(struct specialized_ring) rings;
    struct VEC(struct ring) own;  // without roles: the consumers fill them
    struct cluster cluster;       // of the blocks
    int64_t producers, consumers; // warpgroups
    int64_t registers[2];         // of a thread of these, of those
    struct ir_stmt *tiles;   // the loop whose iterations the consumers take in
                             // ping-pong; NULL: they share each
    struct ir_buffer *order; // the ping-pong order of the consumers
};

// Report why a marked loop cannot be warp-specialized; returns false.
bool specialize_report(struct specialized *r, const char *why);

// Return whether a loop of the path is over the threads of a warpgroup.
bool specialize_is_thread(const struct specialized *r, uint32_t i);

// Declare `n` mbarriers, which only these passes order, in a block.
struct ir_buffer *specialize_declare(struct specialized *r, const char *name,
                                     int64_t n, struct ir_block *out);

// Start the count of one role's iterations, for a ring, in a block, at the
// `first` that is its; NULL: at 0.
void specialize_start(struct specialized *r, struct specialized_ring *x,
                      struct ir_expr *first, struct ir_block *out);

// Return whether a statement fills a ring of the consumers' own.
bool specialize_fills(const struct specialized *r, const struct ir_stmt *s);

// Return whether threads copy to a ring.
bool specialize_has_copies(const struct specialized_ring *x);

// Append a loop, and return its body.
struct ir_block *specialize_append_loop(struct specialized *r,
                                        struct ir_block *out, const char *name,
                                        int64_t n, enum axis axis,
                                        struct ir_var **var);

// Append a loop over `n` lanes of each warp, once all of its lanes have come to it,
// and return its body.
struct ir_block *specialize_append_lanes(struct specialized *r,
                                         struct ir_block *out, int64_t n,
                                         struct ir_var **var);

// Append the loops of a producer: those around the marked loop and itself,
// with nothing in them but the copies, run by one thread if these are TMA
// tiles; false after reporting.
bool specialize_produce(struct specialized *r, int64_t producer,
                        struct ir_block *out);

// Find out whether the consumers take tiles in ping-pong order; false if they
// cannot, after reporting.
bool specialize_check_pingpong(struct specialized *r);

// Append the mbarriers of the ping-pong order, if there is one.
void specialize_append_order(struct specialized *r, struct ir_block *out);

// Return the first iteration of a consumer's own; NULL: 0.
struct ir_expr *specialize_first(struct specialized *r);

// Make each consumer loop over its own tiles, if they take them in ping-pong
// order; what it counts begins in a block.
void specialize_take_turns(struct specialized *r, struct ir_block *out);

// Let the loop wait for full slots, use them and hand them back; what it counts
// begins in a block.
void specialize_consume(struct specialized *r, struct ir_block *out);

#endif
