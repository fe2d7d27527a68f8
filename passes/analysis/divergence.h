// On which axes a value depends: which threads of a block may see it differ.
//
// A value depends on an axis if it comes from a position on it, from an
// atomic, or from a variable or a local array that was given such a value, or
// was written where such a value decides.  An element of other memory is the
// same for all if its index is.

#ifndef PASSES_ANALYSIS_DIVERGENCE_H
#define PASSES_ANALYSIS_DIVERGENCE_H

#include "ir/base/map.h"
#include "ir/ir.h"

// A set of axes: bit 1 << AXIS_thread_x ...
typedef unsigned axis_set;

// What is known about a block of statements.
struct divergence {
    struct map axes;   // variables and local arrays -> their axes
    axis_set of_index; // the axes whose positions and loops count
    axis_set any;      // what an atomic depends on
    axis_set around;   // of the control around; while walking
    bool changed;      // something was added in this round
};

// Start with nothing but positions and loops bound to the axes of `of_index`.
struct divergence divergence_start(struct arena *a, axis_set of_index);

// Let a variable depend on axes.
void divergence_seed(struct divergence *d, const struct ir_var *var,
                     axis_set axes);

// Find out what the variables and local arrays of a block depend on.
void divergence_find(struct divergence *d, struct ir_block *block);

// Return what an expression depends on.
axis_set divergence_of(const struct divergence *d, const struct ir_expr *x);

// Return what the elements of an array depend on, apart from their index.
axis_set divergence_of_array(const struct divergence *d,
                             const struct ir_buffer *buffer);

// Return what decides which threads run the body of a loop or branch, and how
// often; nothing for other statements.
axis_set divergence_of_control(const struct divergence *d,
                               const struct ir_stmt *s);

#endif
