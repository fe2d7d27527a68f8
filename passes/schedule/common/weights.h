// Weights: what grows and shrinks with the greatest element of its row.
//
//   M[i] = max(j) X[i, j]
//   P[i, j] = exp((X[i, j] - M[i]) * 0.5)     a weight: with M' in the place of M
//   O[i, d] = sum(j) P[i, j] * V[j, d]        it is P * exp((M[i] - M') * 0.5),
//                                             and O changes likewise
//
// A weight is an exponential of how far an element is below the greatest one, or
// such a number times what does not depend on it; so are elements of stages that
// compute weights, and what converts them.  No exponential is greater than with the
// greatest element of the row: not greater than 1, unless a parameter makes distances
// grow the other way.

#ifndef PASSES_SCHEDULE_COMMON_WEIGHTS_H
#define PASSES_SCHEDULE_COMMON_WEIGHTS_H

#include "passes/analysis/reducer.h"
#include "passes/schedule/prim.h"

// What distances are multiplied by: a number above 0, and what depends on parameters
// alone, or NULL.
struct weight_scale {
    double number;
    struct ir_expr *of;
};

// An array whose elements are weights.
struct weight {
    const struct ir_buffer *array;
    const struct ir_stage *stage; // that stores them
    struct ir_expr **index;       // at which it does: its iteration variables
    struct ir_expr **row;         // of M, in terms of these
    struct ir_expr *column;       // of X, likewise
    bool is_at_most_one;
};

// The weights of one greatest element.
struct weights {
    struct pass *pass;
    const struct ir_buffer *greatest; // M
    const struct ir_stage *stage;     // that finds it, ...
    struct ir_expr **index;           // ... stores it there ...
    const struct ir_iter *column;     // ... and reduces over this
    struct ir_expr *element;          // X[i, j]
    enum ir_op op; // exp or exp2; OP_COUNT: none was found yet
    struct weight_scale scale;
    struct VEC(struct weight) arrays;
};

// What a stage does with weights.
struct weight_use {
    struct ir_expr **row;   // of M, in terms of the stage's variables
    struct ir_expr *column; // of X, likewise
    bool is_at_most_one;
};

// Begin with a stage that takes the greatest of numbers; false if it does
// anything else.
bool weights_start(struct weights *w, struct pass *p,
                   const struct ir_stmt *greatest);

// Return whether a statement reads the greatest elements or weights.
bool weights_read(const struct weights *w, const struct ir_stmt *s);

// Find what a stage computes with that: a sum of weights, or, of a stage that just
// stores them, weights, which are noted.  Returns NULL, or why it is neither.
const char *weights_take(struct weights *w, const struct ir_stmt *s,
                         struct weight_use *out);

// Return by which factor weights change if the greatest element does.
struct ir_expr *weights_factor(const struct weights *w, struct ir_expr *from,
                               struct ir_expr *to);

// Return the least greatest element that is not below that of a row of which all
// elements are minus infinity, and whose distance from these is known.
struct ir_expr *weights_lowest(const struct weights *w);

#endif
