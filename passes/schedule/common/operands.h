// The two operands of a stage that reduces: the two places that it reads.

#ifndef PASSES_SCHEDULE_COMMON_OPERANDS_H
#define PASSES_SCHEDULE_COMMON_OPERANDS_H

#include "ir/ir.h"

// Return whether a stage adds up products of two elements, converted or not.
bool operands_are_factors(const struct ir_stmt *stage);

// Return the read that is operand 1 or 2 of a stage, in the order of its text; NULL for
// another number, or if it is no reduction that reads two places.
const struct ir_expr *operands_of(const struct ir_stmt *stage, int number);

// Return whether the operands are elements of one array, of which each varies with what the
// other one does not: rows and columns.
bool operands_are_alike(const struct ir_stmt *stage);

// Return whether a read is meant: with operand 0, or of a stage without operands, each is;
// else that of the operand.
bool operands_mean(const struct ir_stmt *stage, int operand,
                   const struct ir_expr *read);

// Let a stage read another array where it has a certain read.
void operands_replace(struct arena *a, struct ir_stmt *stage,
                      const struct ir_expr *read, struct ir_buffer *by);

#endif
