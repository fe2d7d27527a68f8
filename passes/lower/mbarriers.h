// The mbarriers of a ring: one for each slot.

#ifndef PASSES_LOWER_MBARRIERS_H
#define PASSES_LOWER_MBARRIERS_H

#include "passes/pass.h"

// Return an array in shared memory of an mbarrier for each of `n` slots.
struct ir_buffer *mbarriers_new(struct pass *p, const char *name, int64_t n,
                                struct span span);

// Append an operation on the mbarrier of a slot, with an operand or NULL; `from`
// is what made it.
void mbarriers_append(struct arena *a, struct ir_block *out, enum ir_op op,
                      struct ir_buffer *barriers, struct ir_expr *slot,
                      struct ir_expr *operand, const struct ir_stmt *from);

#endif
