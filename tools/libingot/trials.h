// Sizes with which guards are tried before isl is asked.

#ifndef TOOLS_LIBINGOT_TRIALS_H
#define TOOLS_LIBINGOT_TRIALS_H

#include "ir/base/map.h"
#include "ir/eval.h"

enum { TRIALS = 256 };

// Numbers that conditions name.
struct trial_numbers VEC(int64_t);

// The sizes of one kernel, and which conditions hold with them.
struct trials {
    struct arena *arena;
    const struct ir_kernel *kernel;
    const struct eval_argument *sizes[TRIALS]; // as the parameters are
    struct trial_numbers numbers;
    struct map answers; // of a condition: its TRIALS `enum trial`s, as bytes
};

// Start with sizes made of powers of two and of numbers in conditions.
void trials_start(struct trials *t, struct arena *a,
                  const struct ir_kernel *kernel,
                  struct ir_expr *const *conditions, size_t n);

// Return whether one of the sizes shows that another condition does not hold wherever
// `own` does (NULL: always).  False says nothing.
bool trials_differ(struct trials *t, struct ir_expr *own,
                   struct ir_expr *other);

// Return whether one of the sizes is accepted by the kernel, and `own` holds (NULL:
// always), but none of the `n` conditions.  False says nothing.
bool trials_leave(struct trials *t, struct ir_expr *own,
                  struct ir_expr *const *others, size_t n);

#endif
