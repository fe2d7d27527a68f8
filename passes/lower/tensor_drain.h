// When a thread waits for the boxes that it has had stored.

#ifndef PASSES_LOWER_TENSOR_DRAIN_H
#define PASSES_LOWER_TENSOR_DRAIN_H

#include "ir/ir.h"
#include "passes/pass.h"

// A place at which the thread waits.
struct tensor_wait {
    struct ir_block *block;
    struct ir_stmt *at; // of the block
    bool is_behind;     // that statement; else in front of it
    uint32_t most;      // stores that may be under way then
};

// The places for one store; none: it is waited for at once.
struct tensor_drain {
    struct VEC(struct tensor_wait) waits;
    const char *fault; // why there can be no such copy; or NULL
};

// Find out when to wait for the boxes of a nest with a marked stage, if it stores
// them.  An array in shared memory that is marked `double` gets its halves,
// which the statements around then use.
struct tensor_drain tensor_drain_find(struct pass *p, struct ir_stmt *nest,
                                      const struct ir_stage *stage);

#endif
