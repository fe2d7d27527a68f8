// What the files of the expression parser share.

#ifndef IR_TEXT_PARSE_EXPR_H
#define IR_TEXT_PARSE_EXPR_H

#include "ir/text/parse.h"

// The most operands that a call or a vector may have.
enum { OPERANDS_MOST = 16 };

// Return an open value as one of a type, or NULL after reporting that it
// cannot be one.
struct ir_expr *parse_close_as(struct parser *p, struct ir_expr *x,
                               struct type type);

// Return an operation on operands, checked; open if all of them are.
struct ir_expr *parse_operation(struct parser *p, enum ir_op op, uint32_t n,
                                struct ir_expr **x, struct span span);

// Return `x[0] ? x[1] : x[2]`, checked; open if both arms are.
struct ir_expr *parse_choice(struct parser *p, struct ir_expr **x,
                             struct span span);

// Return the array that the next token names, or NULL after reporting.
struct ir_buffer *parse_buffer_name(struct parser *p);

// Parse `[i, j]` behind the name of an array; check the rank.
// `first` is the token of the name.
bool parse_element(struct parser *p, const struct ir_buffer *buffer,
                   size_t first, struct ir_expr ***index, uint32_t *n);

// Return an atomic on an element of an array, checked; its `n` operands `x` are
// converted in place.
struct ir_expr *parse_atomic_on(struct parser *p, enum ir_op op,
                                struct ir_buffer *buffer, uint32_t n_index,
                                struct ir_expr *const *index, uint32_t n,
                                struct ir_expr **x, struct span span);

// Parse `name(operands)`: a function, a conversion, a vector or an atomic.
struct ir_expr *parse_call(struct parser *p);

#endif
