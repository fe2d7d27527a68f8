// The validator: whether a kernel obeys the tables and its level.

#ifndef IR_CHECK_H
#define IR_CHECK_H

#include "ir/base/diag.h"
#include "ir/ir.h"

// Return a fault per line ("for i: step must be positive: `0`"), or NULL if
// there is none: every statement at its level, operand types as ops.def asks,
// every variable and array declared before and in scope, one declaration per
// variable and array, ranks, index types, spaces (nothing stored to constant
// or inputs), vector lanes, launches on top only.
// A fault is a bug of the pass before.
const char *ir_check(struct arena *a, const struct ir_kernel *kernel);

#endif
