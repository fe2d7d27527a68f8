// Where a thread waits for its TMA stores.

#ifndef PASSES_LOWER_TMA_STORE_WAIT_H
#define PASSES_LOWER_TMA_STORE_WAIT_H

#include "ir/base/map.h"
#include "passes/analysis/tma_copy.h"
#include "passes/pass.h"

// As `most`: no wait behind a store.
#define TMA_STORE_NO_WAIT UINT32_MAX

// A place at which the thread waits for all of its stores.
struct tma_store_place {
    struct ir_block *block;
    struct ir_stmt *at; // of the block
    bool is_behind;     // that statement; else in front of it
};

// When one store is waited for: right behind it, until no more than so many are
// in flight, and in these places.
struct tma_store_wait {
    struct VEC(struct tma_store_place) waits;
    uint32_t most;     // stores in flight; TMA_STORE_NO_WAIT: no wait there
    const char *fault; // why there can be no such copy; or NULL
};

// Take the rings of TMA stores from their loops: each iteration uses its slot
// directly. The arrays go to a map, each with its ring. Returns whether there
// are any.
bool tma_store_wait_take_rings(struct pass *p, struct map *rings);

// Find out where to wait for the TMA stores of a nest with a marked stage, if
// it has any. The map has the arrays with slots.
struct tma_store_wait tma_store_wait_find(struct pass *p, struct ir_stmt *nest,
                                          const struct ir_stage *stage,
                                          const struct map *rings);

// Return why what a nest of TMA stores copies cannot have a slot for every
// other iteration of the loop around, or NULL.
const char *tma_store_wait_ring_fault(struct pass *p, struct ir_stmt *nest,
                                      const struct tma_copy *copy);

#endif
