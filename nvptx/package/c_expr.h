// Integer and simple floating point expressions over a kernel's parameters,
// as C that never overflows: conditions, extents and grids of a launch
// function.

#ifndef NVPTX_PACKAGE_C_EXPR_H
#define NVPTX_PACKAGE_C_EXPR_H

#include "ir/base/buf.h"
#include "ir/ir.h"
#include "nvptx/package/c_values.h"

#include <stdbool.h>

// What an expression is about.
struct c_scope {
    const struct ir_kernel *kernel; // whose parameters it reads
    const char *const *names;       // of the parameters in C
    bool knows_sms; // the variable `ingot_sms` is the device's number of SMs
    const struct c_values *values; // that have variables; may be NULL
    bool has_checks;  // set when an expression uses the variable `overflow`
    bool uses_values; // set when it uses one of `values`
};

// Append an expression as C, of type int64_t for extents and indices and of
// its own type otherwise.  Sums, products and quotients of extents set the
// variable `overflow` instead of overflowing.
// Returns false if C cannot compute it.
bool c_expr(struct c_scope *scope, const struct ir_expr *x, struct buf *out);

// Append what one of the values is computed from, itself no variable.
bool c_expr_value(struct c_scope *scope, const struct ir_expr *x,
                  struct buf *out);

// Note the values that an expression wants.
void c_expr_want(struct c_scope *scope, const struct ir_expr *x,
                 struct c_values *values);

#endif
