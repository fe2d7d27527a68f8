// Lowers copies marked @via(cp_async) to asynchronous stores.

#ifndef PASSES_LOWER_ASYNC_COPIES_H
#define PASSES_LOWER_ASYNC_COPIES_H

#include "ir/ir.h"

// Let the marked copies of a block and below be asynchronous stores, and take
// their marks; returns whether there were any.  What other primitives made of a
// copy may be none: such a store stays as it is.
bool async_copies_start(struct ir_block *block);

#endif
