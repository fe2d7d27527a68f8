// Lowers copies marked @via(cp_async) to copies by cp.async.

#ifndef PASSES_LOWER_ASYNC_COPIES_H
#define PASSES_LOWER_ASYNC_COPIES_H

#include "passes/pass.h"

// Let the marked copies of a block and below be copies by cp.async, and take
// their marks; returns whether there were any.  What other primitives made of a
// copy may be none, and what the body of the kernel does not read nothing would
// wait for: such a store stays as it is.
bool async_copies_start(struct arena *a, struct ir_block *body,
                        struct ir_stmt *root);

// Return whether that would start some in a statement.
bool async_copies_in(const struct ir_block *body, const struct ir_stmt *s);

#endif
