// Keeps the elements that a reduction accumulates in variables while it runs.

#ifndef PASSES_LOWER_ACCUMULATE_H
#define PASSES_LOWER_ACCUMULATE_H

#include "passes/pass.h"

// An element that lives in a variable.
struct accumulator {
    struct ir_buffer *buffer;
    uint32_t n;
    struct ir_expr **index;
    struct ir_var *var;
    const struct ir_stmt *from; // the first that stores it
};
struct accumulators VEC(struct accumulator);

// Find the elements that a block stores, at an index that `is_invariant`
// accepts throughout, that are all it accesses of their arrays, and that it or
// `init` in front of it stores whatever holds.
void accumulate_find(struct pass *p, struct ir_block *block,
                     const struct ir_block *init,
                     bool (*is_invariant)(const struct ir_expr *x,
                                          const void *context),
                     const void *context, struct accumulators *out);

// Read and assign variables where a block loads and stores the elements.
void accumulate_replace(struct arena *a, struct ir_block *block,
                        struct accumulators *of);

// Append the declaration of each variable: its first value is what `init`
// stores to the element, if that is plain to see, and its store is taken out
// of `init`; otherwise the element itself.
void accumulate_begin(struct pass *p, struct ir_block *init,
                      const struct accumulators *of, struct ir_block *out);

// Append the stores of the variables to their elements.
void accumulate_end(struct pass *p, const struct accumulators *of,
                    struct ir_block *out);

#endif
