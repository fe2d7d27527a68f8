// Types of operations, as ops.def states them.

#ifndef IR_TYPE_H
#define IR_TYPE_H

#include "ir/ir.h"

// Return a type as text: "f32", or "f32x4" for a vector.
const char *ir_type_text(struct arena *a, struct type t);

// Return the type of an operation of forms PREFIX, INFIX and CALL on operands
// of these types, or false with a phrase that says what is wrong, such as
// "operands of `+` have types f32 and i32".
bool ir_result_type(struct arena *a, enum ir_op op, uint32_t n,
                    const struct type *operands, struct type *result,
                    const char **wrong);

// Return whether operands of a letter have one type, which literals take.
bool ir_letter_decides(char letter);

// Return which of the n operands of an operation has the result's type.
uint32_t ir_result_operand(enum ir_op op, uint32_t n);

// Return the type of the result of an operation on such an operand.
struct type ir_result_of(enum ir_op op, struct type operand);

#endif
