// The only way to make nodes.  Builders fold the trivial cases (constants,
// x + 0, x * 1, true && x ...), so no pass has to; they never fold away an
// operation that reads or writes memory.  Operands must have the types that
// ir/ops.def asks for: see ir/type.h for the check.
//
// An expression made from others takes the span of its first operand that
// has one; the parser sets better ones with ir_at.

#ifndef IR_BUILD_H
#define IR_BUILD_H

#include "ir/ir.h"

// Declarations.
struct ir_var *ir_var_new(struct arena *a, const char *name, struct type type,
                          enum var_kind kind, struct span span);
// Row-major, global, ROLE_alloc; the caller sets what differs.
struct ir_buffer *ir_buffer_new(struct arena *a, const char *name,
                                struct type elem, uint32_t rank,
                                struct ir_expr **shape);

// Constants; an integer wraps to its type, a float is rounded to its type.
// There is one NaN: text does not tell them apart.
struct ir_expr *ir_const_int(struct arena *a, struct type type, int64_t value);
struct ir_expr *ir_const_float(struct arena *a, struct type type, double value);
struct ir_expr *ir_int(struct arena *a, int64_t value); // of type `int`
struct ir_expr *ir_bool(struct arena *a, bool value);
// The zero of a number type.
struct ir_expr *ir_zero(struct arena *a, struct type type);
// Return `value` rounded to the nearest number of a floating type.
double ir_round_float(struct type type, double value);
// Return `value` wrapped to an integer type.
int64_t ir_wrap_int(struct type type, int64_t value);

// Expressions.
struct ir_expr *ir_read(struct arena *a, struct ir_var *var);
struct ir_expr *ir_index_value(struct arena *a, enum axis axis);
struct ir_expr *ir_load(struct arena *a, struct ir_buffer *buffer, uint32_t n,
                        struct ir_expr *const *index);
struct ir_expr *ir_unary(struct arena *a, enum ir_op op, struct ir_expr *x);
struct ir_expr *ir_binary(struct arena *a, enum ir_op op, struct ir_expr *x,
                          struct ir_expr *y);
struct ir_expr *ir_call(struct arena *a, enum ir_op op, uint32_t n,
                        struct ir_expr *const *args);
struct ir_expr *ir_select(struct arena *a, struct ir_expr *c, struct ir_expr *x,
                          struct ir_expr *y);
struct ir_expr *ir_cast(struct arena *a, struct type type, struct ir_expr *x);
struct ir_expr *ir_atomic(struct arena *a, enum ir_op op,
                          struct ir_buffer *buffer, uint32_t n_index,
                          struct ir_expr *const *index, uint32_t n_operands,
                          struct ir_expr *const *operands);
// An operand of an instruction on matrices.
struct ir_expr *ir_place(struct arena *a, struct ir_buffer *buffer,
                         uint32_t n_index, struct ir_expr *const *index);
// Return an atomic that was just made, with a scope.
struct ir_expr *ir_scoped(struct ir_expr *atomic, enum ir_scope scope);
struct ir_expr *ir_ramp(struct arena *a, struct ir_expr *base, unsigned lanes);
struct ir_expr *ir_broadcast(struct arena *a, struct ir_expr *x,
                             unsigned lanes);
struct ir_expr *ir_lanes(struct arena *a, uint32_t n,
                         struct ir_expr *const *args);
struct ir_expr *ir_lane(struct arena *a, struct ir_expr *vector, unsigned k);
// Return a node like `x` with other operands, folded like a new one.
struct ir_expr *ir_with_args(struct arena *a, const struct ir_expr *x,
                             struct ir_expr *const *args);
// Return `x` itself or a copy of it, with that span.
struct ir_expr *ir_at(struct arena *a, struct ir_expr *x, struct span span);

// Short forms on `int`.
static inline struct ir_expr *ir_add(struct arena *a, struct ir_expr *x,
                                     struct ir_expr *y)
{
    return ir_binary(a, OP_add, x, y);
}
static inline struct ir_expr *ir_sub(struct arena *a, struct ir_expr *x,
                                     struct ir_expr *y)
{
    return ir_binary(a, OP_sub, x, y);
}
static inline struct ir_expr *ir_mul(struct arena *a, struct ir_expr *x,
                                     struct ir_expr *y)
{
    return ir_binary(a, OP_mul, x, y);
}

// Questions about one expression.
bool ir_is_const(const struct ir_expr *x); // scalar or vector const
bool ir_is_int_const(const struct ir_expr *x, int64_t value);
bool ir_is_true(const struct ir_expr *x);
bool ir_is_false(const struct ir_expr *x);
// Return whether it is an integer constant, and its value.
bool ir_int_value(const struct ir_expr *x, int64_t *value);
// Return how many of the operands of a load or an atomic are indices.
uint32_t ir_index_count(const struct ir_expr *x);
// Return how many indices an access to an array has at level flat: the offset,
// in an array of a cluster behind the rank of the block.
uint32_t ir_flat_rank(const struct ir_buffer *b);
// Return whether evaluating it neither writes nor, if `reads`, reads memory,
// nor needs other threads.
bool ir_is_pure(const struct ir_expr *x, bool reads);

// Statements; the span is that of the first operand with one, or none.
struct ir_stmt *ir_stmt_for(struct arena *a, struct ir_var *var,
                            struct ir_expr *from, struct ir_expr *to,
                            struct ir_expr *step, enum axis axis);
struct ir_stmt *ir_stmt_if(struct arena *a, struct ir_expr *cond);
struct ir_stmt *ir_stmt_let(struct arena *a, struct ir_var *var,
                            struct ir_expr *value); // let, or var if mutable
struct ir_stmt *ir_stmt_assign(struct arena *a, struct ir_var *var,
                               struct ir_expr *value);
struct ir_stmt *ir_stmt_store(struct arena *a, struct ir_buffer *buffer,
                              uint32_t n, struct ir_expr *const *index,
                              struct ir_expr *value);
struct ir_stmt *ir_stmt_copy(struct arena *a, const struct ir_copy *copy);
// Return the store that does at once what a copy by each thread does later:
// `S[i] = c ? A[j] : 0`; other statements are returned as they are.
struct ir_stmt *ir_at_once(struct arena *a, struct ir_stmt *s);
struct ir_stmt *ir_stmt_eval(struct arena *a, struct ir_expr *value);
struct ir_stmt *ir_stmt_alloc(struct arena *a, struct ir_buffer *buffer);
struct ir_stmt *ir_stmt_barrier(struct arena *a);
struct ir_stmt *ir_stmt_cluster_barrier(struct arena *a);
struct ir_stmt *ir_stmt_sync(struct arena *a, enum sync_kind kind);
struct ir_stmt *ir_stmt_wait(struct arena *a, enum sync_kind kind,
                             uint32_t n); // one that has a number
// A line of text with a value in each of its places.
struct ir_stmt *ir_stmt_print(struct arena *a, const char *text, uint32_t n,
                              struct ir_expr *const *values);
// An instruction on matrices without operands yet.
struct ir_stmt *ir_stmt_matrix(struct arena *a, struct ir_matrix op);
struct ir_stmt *ir_stmt_stage(struct arena *a, const char *name);
struct ir_stmt *ir_stmt_launch(struct arena *a, const char *name);

// Give a statement the places of the one that it was made of; returns it.
struct ir_stmt *ir_stmt_from(struct ir_stmt *s, const struct ir_stmt *from);

// Append a statement to a block.
void ir_append(struct arena *a, struct ir_block *block, struct ir_stmt *s);

// Append the statements of a block to another one.
void ir_append_all(struct arena *a, struct ir_block *to,
                   const struct ir_block *from);
// Move the statements of a block into `inside`, the body or a branch of a
// statement, which takes their place.
void ir_enclose(struct arena *a, struct ir_block *block, struct ir_stmt *s,
                struct ir_block *inside);

// Return the number of an array in global memory among the parameters of the
// launches: the kernel's own, then the arrays of its workspace.
size_t ir_launch_parameter(const struct ir_kernel *kernel,
                           const struct ir_buffer *b);
// Add a tensor map to a kernel, which declares its array: those of parameters
// come first, then those of allocs in the order of these.
void ir_add_map(struct arena *a, struct ir_kernel *kernel, struct ir_map *map);

// Return how many elements neighbours in dimension d of an array lie apart,
// which has no gaps but those of its strides.
struct ir_expr *ir_buffer_stride(struct arena *a, const struct ir_buffer *b,
                                 uint32_t d);
// Return the number of elements of an array, as an expression.
struct ir_expr *ir_buffer_elements(struct arena *a, const struct ir_buffer *b);
// Return how many blocks a cluster of a launch has.
uint32_t ir_cluster_blocks(const struct ir_launch *l);
// Return whether a launch says of an array that its threads own its elements.
bool ir_launch_owns(const struct ir_launch *l, const struct ir_buffer *b);
// Return how many iterations a loop has: ceildiv(to - from, step), at least 0.
struct ir_expr *ir_for_extent(struct arena *a, const struct ir_for *f);

#endif
