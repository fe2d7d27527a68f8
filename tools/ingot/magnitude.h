// How large the numbers are that a result is added up from.

#ifndef TOOLS_INGOT_MAGNITUDE_H
#define TOOLS_INGOT_MAGNITUDE_H

#include "ir/ir.h"

// Return a kernel that computes, in place of the result that is parameter
// `parameter`, what it would be if nothing cancelled:
//
//     V[i] = q[i] / m - s[i] * s[i]    =>    V[i] = abs(q[i]) / abs(m) + abs(s[i]) * abs(s[i])
//
// Only stores to the result are changed: sums, products and quotients in them,
// and numbers added to what it holds. What other stages compute stays as it is.
struct ir_kernel *magnitude_of(struct arena *a, const struct ir_kernel *kernel,
                               size_t parameter);

#endif
