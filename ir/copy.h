// Copies and substitution.

#ifndef IR_COPY_H
#define IR_COPY_H

#include "ir/base/map.h"
#include "ir/ir.h"

// Replace variables by expressions (map: ir_var -> ir_expr) and arrays by
// arrays (map: ir_buffer -> ir_buffer) in an expression.
struct ir_expr *ir_substitute(struct arena *a, struct ir_expr *x,
                              const struct map *vars,
                              const struct map *buffers);

// Substitute in each of `n` expressions.  Returns a new array.
struct ir_expr **ir_substitute_all(struct arena *a, uint32_t n,
                                   struct ir_expr *const *x,
                                   const struct map *vars,
                                   const struct map *buffers);

// The same for one variable.
struct ir_expr *ir_replace_var(struct arena *a, struct ir_expr *x,
                               const struct ir_var *var, struct ir_expr *by);

// Substitute in every expression below a block, in place.
void ir_substitute_in(struct arena *a, struct ir_block *block,
                      const struct map *vars, const struct map *buffers);

// The same for one variable.
void ir_replace_in(struct arena *a, struct ir_block *block,
                   const struct ir_var *var, struct ir_expr *by);

// Take the `let` at a place out of a block, and put its value in place of its
// name there.
void ir_expand_let(struct arena *a, struct ir_block *block, size_t at);

// Copy a block: every statement is new, and so is every variable and array
// that it declares; what it only uses is shared, after substitution.
// Both maps may be NULL.
struct ir_block ir_copy_block(struct arena *a, const struct ir_block *block,
                              const struct map *vars,
                              const struct map *buffers);

// Copy one statement in the same way.
struct ir_stmt *ir_copy_stmt(struct arena *a, struct ir_stmt *s,
                             const struct map *vars, const struct map *buffers);

// Copy a kernel into an arena, parameters included.
struct ir_kernel *ir_copy_kernel(struct arena *a,
                                 const struct ir_kernel *kernel);

#endif
