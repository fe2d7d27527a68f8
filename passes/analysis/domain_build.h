// How sets of iterations are built: expressions as functions, conditions and
// loops as constraints.
//
// Every variable is a parameter of the sets.  Entering a loop again makes a
// second copy of its variable, which is what names mean from then on: so one
// set can hold pairs of iterations.

#ifndef PASSES_ANALYSIS_DOMAIN_BUILD_H
#define PASSES_ANALYSIS_DOMAIN_BUILD_H

#include "ir/base/map.h"
#include "passes/analysis/domain.h"

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/set.h>

// A variable or an expression of sizes, as a parameter of the sets; or a name
// for another value.
struct domain_symbol {
    const struct ir_var *var;   // NULL for an expression
    const struct ir_expr *expr; // NULL for a variable
    bool is_size;               // the caller of the kernel decides it
    bool is_fixed;              // a loop variable that has one copy only
    isl_id *id;                 // NULL for a name
    struct ir_expr *value;      // of a name; NULL: not affine
};

// A domain under construction.
struct domain {
    isl_ctx *ctx;
    struct arena *arena;
    isl_space *space;        // of every set: no dimensions but parameters
    const struct map *sizes; // sizes that are numbers here, or NULL
    isl_set *set;            // the iterations so far
    bool is_exact;           // no constraint was left out ...
    bool is_affine;          // ... but for conditions on data
    struct VEC(struct domain_symbol) symbols;
};

// Start with the sizes that a kernel accepts, whatever its guard.  Conditions
// on sizes that are not affine are left out; `is_exact` does not count them.
void domain_start(struct domain *d, isl_ctx *ctx, struct arena *a,
                  const struct ir_kernel *kernel, const struct map *sizes);

// Release what isl holds; the set included.
void domain_finish(struct domain *d);

// Keep the part of the set that is inside something.  What is not affine is
// left out, and the domain is no longer exact.
void domain_enter(struct domain *d, const struct domain_step *step);

// Keep the part of the set where two values are equal, likewise.  Takes both.
void domain_equate(struct domain *d, isl_pw_aff *x, isl_pw_aff *y);

// Return an index expression as a function, or the set where a condition
// holds; NULL if it is not affine.
isl_pw_aff *domain_value(struct domain *d, struct ir_expr *x);
isl_set *domain_condition(struct domain *d, struct ir_expr *c);

// Return a value in 0 .. extent - 1 of which nothing else is known.
isl_pw_aff *domain_unknown(struct domain *d, struct ir_expr *extent);

// Return the newest symbol of a loop variable that was entered, and its
// value.
size_t domain_find(const struct domain *d, const struct ir_var *var);
isl_pw_aff *domain_symbol_value(struct domain *d, size_t symbol);

// Return a set without the symbols from `first` on; sizes are kept.
isl_set *domain_project(const struct domain *d, isl_set *set, size_t first);

// Return values of all symbols at the first point of a set in their order,
// small sizes first; NULL if there is none.  Names have 0.
int64_t *domain_first_point(const struct domain *d, isl_set *set);

// Make a context that stops after `most` operations for one question.
isl_ctx *domain_context(unsigned long most);

#endif
