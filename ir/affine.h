// Normal form of index expressions: a sum of products,
//
//   constant + factor * atom * atom ... + ...
//
// where an atom is an expression that is neither a sum nor a product: a
// variable, a quotient, an element of an array.  Two expressions of the index
// types that differ only by the laws of a ring have the same normal form.
//
// Terms keep the order in which they were met, so that results do not depend
// on addresses.  Arithmetic is exact: a form with a coefficient whose magnitude
// needs 64 bits is marked `failed`, and so is everything made from it.

#ifndef IR_AFFINE_H
#define IR_AFFINE_H

#include "ir/ir.h"

// A factor times a product of atoms.
struct affine_term {
    int64_t factor;         // not 0
    uint32_t n;             // atoms, at least 1
    struct ir_expr **atoms; // their product
};

// A normal form.
struct affine {
    int64_t constant;
    bool failed; // overflow: nothing else counts
    struct VEC(struct affine_term) terms;
};

// Return the normal form of an expression of an index type.
struct affine affine_of(struct arena *a, struct ir_expr *x);

// Return the form of a number, and of an expression taken as one atom.
struct affine affine_number(int64_t value);
struct affine affine_atom(struct arena *a, struct ir_expr *x);

// Return x + factor * y.
struct affine affine_add(struct arena *a, const struct affine *x,
                         int64_t factor, const struct affine *y);

// Add a number to a form.
void affine_offset(struct affine *x, int64_t number);

// Return x * y.
struct affine affine_mul(struct arena *a, const struct affine *x,
                         const struct affine *y);

// Return x times a term, which may have no atoms.
struct affine affine_scale(struct arena *a, const struct affine *x,
                           const struct affine_term *by);

// Return the normal form as an expression of type `type`: the terms in order,
// those with negative factors subtracted, the constant last.
struct ir_expr *affine_expr(struct arena *a, const struct affine *x,
                            struct type type);

// Return whether x is a number.
bool affine_is_number(const struct affine *x);

// Return whether every atom of `part` is one of `whole`, as often; the rest of
// `whole` goes to *rest with factor 1.
bool affine_atoms_divide(struct arena *a, const struct affine_term *part,
                         const struct affine_term *whole,
                         struct affine_term *rest);

// Split x into `divisor` * quotient + rest.  The divisor is a number or a
// single term; a term of x goes to the quotient if it is a multiple of it,
// and of a constant the largest such part with a rest in 0 .. |divisor| - 1.
// Returns false if the divisor has another form, or is 0.
bool affine_divide(struct arena *a, const struct affine *x,
                   const struct affine *divisor, struct affine *quotient,
                   struct affine *rest);

// Split x into factor * var + rest where the rest does not mention the
// variable; false if x is not linear in it.
bool affine_linear(struct arena *a, const struct affine *x,
                   const struct ir_var *var, int64_t *factor,
                   struct affine *rest);

#endif
