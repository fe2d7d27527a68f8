// The text form: ir_print and ir_parse are inverse to each other at every
// level.

#ifndef IR_TEXT_H
#define IR_TEXT_H

#include "ir/base/buf.h"
#include "ir/base/diag.h"
#include "ir/ir.h"

// Append a kernel as text.
void ir_print_kernel(struct buf *out, const struct ir_kernel *kernel);

// Append an expression as it stands: names are not numbered.
void ir_print_expr(struct buf *out, const struct ir_expr *x);

// Append a loop nest in short, one loop or stage a line; those in `marked`
// (n of them) are followed by "  <-- note".
void ir_print_nest(struct buf *out, const struct ir_block *block,
                   const struct ir_stmt *const *marked, size_t n,
                   const char *note);

// Parse one kernel in loop form, at any level.
// Returns NULL after reporting errors to `diags`.
struct ir_kernel *ir_parse_kernel(struct arena *a, struct str_table *names,
                                  const struct source *source,
                                  struct diag_list *diags);

#endif
