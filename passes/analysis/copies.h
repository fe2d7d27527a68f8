// Stores that copy an element of another array as it is.

#ifndef PASSES_ANALYSIS_COPIES_H
#define PASSES_ANALYSIS_COPIES_H

#include "ir/ir.h"

// Return the load whose elements a store writes as they are, or, where a
// condition that reads no memory fails, zeros; NULL if it does anything else.
const struct ir_expr *copies_source(const struct ir_stmt *store);
// Return the same of a store that writes elements rounded to tf32.
const struct ir_expr *copies_rounded(const struct ir_stmt *store);

// Return the copy by cp.async that does later what a store of that kind does at
// once.
struct ir_stmt *copies_start(struct arena *a, const struct ir_stmt *store);
// Make a statement what has become of the store that does the same at once
// (ir_at_once): a copy again, if that still is one.
void copies_again(struct arena *a, struct ir_stmt *s, struct ir_stmt *once);

// Return whether a copy can be asynchronous: from global to shared memory, of
// 4, 8 or 16 bytes.
bool copies_can_be_async(const struct ir_stmt *store);

// Return whether a stage is marked to be such a copy, `@via(cp_async)`; take
// that mark, and have its last statement know who has made it.
bool copies_marked(const struct ir_stage *stage);
void copies_unmark(struct ir_stage *stage);

// Return whether a statement does nothing with stages but such copies, each of
// which can be made by itself: of 4 bytes or more, by its element or the lanes of
// a vector loop.
bool copies_only(struct ir_stmt *nest);

#endif
