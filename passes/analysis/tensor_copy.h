// Copies that the copy engine may do, box by box: between an array in global
// memory and one in shared memory.

#ifndef PASSES_ANALYSIS_TENSOR_COPY_H
#define PASSES_ANALYSIS_TENSOR_COPY_H

#include "passes/analysis/facts.h"

enum { TENSOR_RANK_MOST = 5, TENSOR_BOX_MOST = 256, TENSOR_GROUP_BYTES = 16 };

// A copy, as a stage has it.
struct tensor_copy {
    struct ir_buffer *far, *near; // in global, and in shared memory
    struct ir_expr **far_index, **near_index;
    struct ir_expr *condition; // where it fails, zeros are stored; or NULL
    bool is_load;              // to shared memory
    enum ir_hint hint;         // of its store
};

// Return whether a stage is marked to be copied so.
bool tensor_copy_marked(const struct ir_stage *stage);

// Fill `out` from a stage.  Returns why it is no such copy, or NULL.
const char *tensor_copy_find(const struct ir_stage *stage,
                             struct tensor_copy *out);

// Append what must hold, and is not known, for there to be a tensor map of an
// array; the facts learn it.  Returns why there is none, or NULL.
const char *tensor_copy_conditions(struct arena *a, struct facts *f,
                                   const struct ir_buffer *b,
                                   struct ir_conditions *out);

#endif
