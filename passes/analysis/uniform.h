// Conditions that hold in all iterations of some loops if one holds outside of
// them:
//
//   for t in 0..64 @thread.x { for v in 0..4 { if b * 256 + t * 4 + v < n {
//
// is always true in a block with b * 256 + 255 < n.  What may occur in such a
// condition is `uniform`: sizes, and the variables of chosen loops around.

#ifndef PASSES_ANALYSIS_UNIFORM_H
#define PASSES_ANALYSIS_UNIFORM_H

#include "ir/base/map.h"
#include "passes/analysis/facts.h"

// The variables of loops.
struct uniform_vars VEC(const struct ir_var *);

// Bounds: if each is at least 0, the guards inside are always true.
struct uniform_bounds VEC(struct affine);

// What is known at a place.
struct uniform {
    struct arena *arena;         // of expressions
    struct arena *scratch;       // of forms
    struct facts *facts;         // at the place
    struct map values;           // `let`s -> their values
    struct uniform_vars vars;    // uniform ones, sizes apart
    struct uniform_vars counted; // of loops over numbers
};

// How much was known at some point.
struct uniform_mark {
    struct facts_mark facts;
    size_t vars, counted;
};

// Return whether an expression is uniform, and evaluates without a fault.
bool uniform_is(const struct uniform *u, const struct ir_expr *x);

// Learn what holds inside a statement, or behind a `let`.
void uniform_enter(struct uniform *u, const struct ir_stmt *s);

// Forget what was learnt since the mark.
struct uniform_mark uniform_mark(const struct uniform *u);
void uniform_leave(struct uniform *u, struct uniform_mark mark);

// Find the bounds that conditions below a block put on uniform values: all, or,
// if `var` is not NULL, those whose bound falls with this variable. *repeats:
// in how many serial iterations inside such a condition is tested, INT64_MAX if
// that is not known.
struct uniform_bounds uniform_find(struct uniform *u, struct ir_block *block,
                                   const struct ir_var *var, int64_t *repeats);

// Drop the conditions below a block that follow from bounds.
void uniform_drop(struct uniform *u, struct ir_block *block,
                  const struct uniform_bounds *bounds);

#endif
