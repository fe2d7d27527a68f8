// What a reduction starts from.

#ifndef IR_NEUTRAL_H
#define IR_NEUTRAL_H

#include "ir/ir.h"

// Return the value that an operation, or an atomic, combines with any other one
// without changing it, in a type; NULL if it is none that combines.
struct ir_expr *ir_neutral(struct arena *a, enum ir_op op, struct type type);

// The same in words.
const char *ir_neutral_text(enum ir_op op);

#endif
