// Matches sums of products of 8-bit integers with dp4a:
//
//   D = D + i32(a) * i32(b)
//
// D is a variable or an element of i32 or u32, and either side of the sum. A
// factor is a conversion of an i8 or a u8, of whichever sign the other one is,
// or a number that one of them has; a sum without products has the factor 1.

#ifndef PASSES_ANALYSIS_DOT_H
#define PASSES_ANALYSIS_DOT_H

#include "ir/ir.h"

enum { DOT_STEPS = 4 }; // of a dp4a

// A statement and what it does.
struct dot {
    struct ir_expr *old;   // D
    struct ir_expr *a, *b; // of i8 or u8
};

// Take apart a statement that adds a product.
// Returns NULL, or else what keeps it from being one, in words.
const char *dot_match(struct arena *a, const struct ir_stmt *s,
                      struct dot *out);

// Return whether nothing in a block but the sum itself reads what a statement
// writes, and nothing has an effect on other threads.
bool dot_is_read_once(const struct ir_stmt *s, const struct ir_block *body);

// Return NULL if the iterations of a loop around one statement, in a stage and
// under conditions or not, are a dp4a; or else what keeps them from being one.
const char *dot_loop(struct arena *a, const struct ir_stmt *loop);

#endif
