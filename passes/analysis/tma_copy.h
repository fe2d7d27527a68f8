// Copies that TMA can do, by TMA tiles or bulk copies: between an array in
// global memory and one in shared memory.

#ifndef PASSES_ANALYSIS_TMA_COPY_H
#define PASSES_ANALYSIS_TMA_COPY_H

#include "passes/analysis/facts.h"

enum { TENSOR_RANK_MOST = 5, TENSOR_BOX_MOST = 256, TENSOR_GROUP_BYTES = 16 };

// A copy, as a stage has it.
struct tma_copy {
    struct ir_buffer *far, *near; // in global, and in shared memory
    struct ir_expr **far_index, **near_index;
    struct ir_expr *condition; // where it fails, zeros are stored; or NULL
    bool is_load;              // to shared memory
    bool is_bulk;              // marked for bulk copies, not TMA tiles
    bool rounds;               // elements to tf32
    enum ir_hint hint;         // of its store
};

// Return whether a stage is marked for TMA or bulk copies, and for which.
bool tma_copy_marked(const struct ir_stage *stage);
bool tma_copy_is_bulk(const struct ir_stage *stage);

// Return whether a statement does nothing with stages but such copies.
bool tma_copy_only(const struct ir_stmt *nest);

// Fill `out` from a stage.  Returns why it is no such copy, or NULL.
const char *tma_copy_find(const struct ir_stage *stage, struct tma_copy *out);

// Append what must hold, and is not known, for there to be a tensor map of an
// array; the facts learn it.  Returns why there is none, or NULL.
const char *tma_copy_conditions(struct arena *a, struct facts *f,
                                const struct ir_buffer *b,
                                struct ir_conditions *out);

// Append a condition unless it is known, and that neighbours are a multiple of
// 16 bytes apart; the facts learn it. Return false if it is known to be false.
bool tma_copy_demand(struct arena *a, struct facts *f,
                     struct ir_expr *condition, struct ir_conditions *out);
bool tma_copy_demand_stride(struct arena *a, struct facts *f,
                            struct ir_expr *stride, size_t bytes,
                            struct ir_conditions *out);

// Return how many elements neighbours in a dimension of an array lie apart.
struct ir_expr *tma_copy_stride(struct arena *a, const struct ir_buffer *b,
                                uint32_t d);

#endif
