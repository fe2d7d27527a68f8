// Arithmetic on one lane: the meaning of the operations, which folding and
// evaluation share.
//
// An integer is held in int64_t, sign- or zero-extended from its type; u64 as
// its 64 bits; bool as 0 or 1.  A floating number is held in double, where
// every number of every floating type is exact.

#ifndef IR_ARITH_H
#define IR_ARITH_H

#include "ir/ir.h"

// A lane's value; which member counts follows from its type.
union number {
    int64_t i; // integers and bool
    double f;  // floating types
};

// How an operation computes; NULL where it is not defined.
struct arith {
    // Sets *fault to a phrase, such as "division by zero", if there is no
    // result; leaves it alone otherwise.
    int64_t (*on_int)(struct type t, int64_t a, int64_t b, int64_t c,
                      const char **fault);
    // The result is to be rounded to t.
    double (*on_float)(struct type t, double a, double b, double c);
    bool (*test)(double a, double b);
};

// Return how an operation computes.
const struct arith *ir_arith(enum ir_op op);

// Apply an operation to operands of type t; the result is of type t or bool.
// The operation is defined on t.  `x` holds three numbers, of which those
// beyond its operands do not count.  Sets *fault as on_int does.
union number ir_apply(enum ir_op op, struct type t, const union number *x,
                      const char **fault);

// Return a number rounded to the 10 bits of mantissa that tf32 has, to nearest,
// ties away from 0, as cvt.rna.tf32.f32 does.
float arith_tf32(float x);

// Convert a number.  Integers wrap to integers, but faults where an index
// type cannot hold the value; floating to integer truncates and saturates,
// NaN becoming 0; to floating rounds to nearest even.
union number ir_convert(struct type to, struct type from, union number x,
                        const char **fault);

#endif
