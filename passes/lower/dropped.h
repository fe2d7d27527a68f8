// Warnings for directives without effect.

#ifndef PASSES_LOWER_DROPPED_H
#define PASSES_LOWER_DROPPED_H

#include "passes/pass.h"

// Warn that an array which a directive doubles has one part, and why.
void dropped_double(struct pass *p, const struct ir_buffer *b, const char *why);

// Warn if the swizzle that a directive gives an array changes nothing: it is in
// registers, or its rows are too few.
void dropped_swizzle(struct pass *p, const struct ir_buffer *b);

// Warn of directives none of whose copies is asynchronous, or has its hint, of
// a kernel at level flat. A copy to a ring with roles has to be asynchronous:
// false after an error.
bool dropped_copies(struct pass *p);

#endif
