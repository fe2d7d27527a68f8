// Whether warpgroups can take the tiles of a block in ping-pong order.

#ifndef PASSES_ANALYSIS_PINGPONG_H
#define PASSES_ANALYSIS_PINGPONG_H

#include "ir/ir.h"

// Why tiles cannot be in ping-pong order without warp specialization.
#define PINGPONG_NO_ROLES                                                      \
    "a persistent block is not one warpgroup with a warp-specialized ring"

// Return whether so many warpgroups can be in ping-pong order beside one
// producer.
bool pingpong_number(int64_t n);

// Return why the iterations of `tiles`, or the tiles of the blocks if that is
// NULL, cannot be taken in ping-pong order by warpgroups like `group` of a
// kernel, which uses the ring of `loop`; NULL if they can. Texts and lists go
// to the arena.
const char *pingpong_fault(struct arena *a, struct ir_kernel *kernel,
                           struct ir_stmt *group, const struct ir_stmt *tiles,
                           struct ir_stmt *loop);

#endif
