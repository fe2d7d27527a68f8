// Values that several guards of a launch function are about: computed once, in
// variables `ingot_v0` ... of C.
//
// Guards that compare the costs of tiles have the same sums in all variants.

#ifndef NVPTX_PACKAGE_C_VALUES_H
#define NVPTX_PACKAGE_C_VALUES_H

#include "ir/ir.h"

#include <stdbool.h>

// A value: an expression over the parameters of a kernel, how C computes it
// without these variables, and how often it is wanted, by guards or by values.
struct c_value {
    const struct ir_kernel *kernel;
    const struct ir_expr *x;
    const char *text;
    uint32_t uses;
};

// Those of a launch function; a value stands behind those that it is made of.
struct c_values {
    struct arena *arena;
    struct VEC(struct c_value) at;
};

// Note that a value that is known is wanted again. Returns whether it is known.
bool c_values_again(struct c_values *v, const char *text);

// Add a value that is wanted once so far.
void c_values_add(struct c_values *v, const struct ir_kernel *kernel,
                  const struct ir_expr *x, const char *text);

// Return the number of a value that is wanted more than once, or -1.
int c_values_find(const struct c_values *v, const char *text);

#endif
