// Iteration domains as integer sets (isl): exact, for questions that are
// asked once, not in every expression.
//
// Every size, loop variable and product of sizes is a parameter of the sets;
// the set of a place are the values with which it is reached.

#ifndef PASSES_ANALYSIS_DOMAIN_H
#define PASSES_ANALYSIS_DOMAIN_H

#include "ir/ir.h"

#include <isl/ctx.h>

// Something around a place: a statement whose variables are in scope, or a
// condition.
struct domain_step {
    const struct ir_stmt *stmt; // a loop, `let` or stage; or NULL
    struct ir_expr *condition;  // that holds, or does not; or NULL
    bool holds;
};

// Everything around a place, outermost first.
struct domain_path VEC(struct domain_step);

// A question about one index of an access.
struct domain_access {
    const struct ir_kernel *kernel;
    const struct domain_path *path;
    struct ir_expr *index, *extent;
};

// The value of a variable in an example.
struct domain_value {
    const struct ir_var *var;
    int64_t value;
};
struct domain_example VEC(struct domain_value);

// Return whether, for all sizes with which the place is reached at all, there
// is an iteration in which the index is not in 0 .. extent - 1.  False too if
// something is not affine.  The example, made of small sizes first, names
// sizes and loop variables, in the order of their declaration.
bool domain_leaves(isl_ctx *ctx, struct arena *a,
                   const struct domain_access *access,
                   struct domain_example *example);

// Return whether one of the `n` conditions holds for all sizes that the kernel
// accepts and for which `own` holds (NULL: for all that it accepts).  What is
// not affine counts as holding in `own` and as not holding in `others`.
bool domain_covers(isl_ctx *ctx, struct arena *a,
                   const struct ir_kernel *kernel, struct ir_expr *own,
                   struct ir_expr *const *others, size_t n);

#endif
