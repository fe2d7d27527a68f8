// TMA tile copies and bulk copies, as statements.

#ifndef PASSES_LOWER_TMA_COPIES_H
#define PASSES_LOWER_TMA_COPIES_H

#include "passes/lower/tma_tile.h"
#include "passes/pass.h"

// Find the TMA tiles or bulk copies of a nest whose stage is marked with
// copy_via(tma), or copy_via(bulk).  The facts are those around the nest.
// Returns why there are none, or NULL.
const char *tma_copies_tile(struct pass *p, struct facts *facts,
                            struct ir_stmt *nest, struct tma_tile *box);

// Return the marked stage of a nest of serial loops that holds nothing else, or
// NULL; the loops go to the TMA tile.
struct ir_stmt *tma_copies_stage(struct arena *a, struct ir_stmt *nest,
                                 struct tma_tile *box);

// Report that the marked stage of a nest is not made of TMA tiles, or of bulk
// copies.
void tma_copies_report(struct pass *p, const struct ir_stmt *stage,
                       const char *fault);

// Append all TMA tile copies or bulk copies, for one thread to execute; loads
// signal an mbarrier. The kernel gets a tensor map, unless it has it.
void tma_copies_append(struct pass *p, const struct tma_tile *box,
                       const struct ir_place *signal, struct ir_block *out);

// Append loops of one iteration on the axes of the loops over threads among `n`
// statements, each in the one before, and return the innermost block: one of
// their threads executes it.
struct ir_block *tma_copies_one(struct pass *p, struct ir_stmt *const *stmts,
                                size_t n, struct ir_block *out);

// Return the bytes of all copies together, none where they do not exist, which
// the mbarrier has to expect: those that other blocks of the cluster copy
// included.
struct ir_expr *tma_copies_bytes(struct arena *a, const struct tma_tile *box);

#endif
