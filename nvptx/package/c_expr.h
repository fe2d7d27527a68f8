// Integer and simple floating point expressions over a kernel's parameters,
// as C that never overflows: conditions, extents and grids of a launch
// function.

#ifndef NVPTX_PACKAGE_C_EXPR_H
#define NVPTX_PACKAGE_C_EXPR_H

#include "ir/base/buf.h"
#include "ir/ir.h"

#include <stdbool.h>

// What an expression is about.
struct c_scope {
    const struct ir_kernel *kernel; // whose parameters it reads
    const char *const *names;       // of the parameters in C
    bool knows_sms;  // the variable `ingot_sms` is the device's number of SMs
    bool has_checks; // set when an expression uses the variable `overflow`
};

// Append an expression as C, of type int64_t for extents and indices and of
// its own type otherwise.  Sums, products and quotients of extents set the
// variable `overflow` instead of overflowing.
// Returns false if C cannot compute it.
bool c_expr(struct c_scope *scope, const struct ir_expr *x, struct buf *out);

#endif
