// The inside of the reference printer, shared by reference*.c.

#ifndef TOOLS_LIBINGOT_REFERENCE_PRINT_H
#define TOOLS_LIBINGOT_REFERENCE_PRINT_H

#include "ir/base/buf.h"
#include "ir/base/map.h"
#include "ir/ir.h"

// How the C program holds the elements of an array.
enum cell_form {
    CELL_STORED, // as the caller does
    CELL_FLOAT,  // a copy as float: inputs of narrow types
    CELL_DOUBLE, // in double: arrays that are read again, all but inputs
};

// An array of the C program.
struct cell {
    const char *name;
    enum cell_form form;
};

// A program being printed.
struct reference {
    struct buf *out;
    struct arena arena;
    struct map names;                    // ir_var -> its C name
    struct map cells;                    // ir_buffer -> struct cell
    int declared;                        // how many names were given out
    struct VEC(const char *) reductions; // variables of the loops around that
                                         // go over a reduction
};

// The C type that holds a value of a type, its bits in memory, and that of an
// array's element.
const char *reference_value_type(struct type t);
const char *reference_stored_type(struct type t);
const char *reference_cell_type(const struct ir_buffer *b,
                                const struct cell *cell);

// Return the C name of a declaration, made on first use.
const char *reference_name(struct reference *r, const void *what,
                           const char *name);

// Return the cell of an array.
const struct cell *reference_cell(const struct reference *r,
                                  const struct ir_buffer *b);

// Append an expression, in brackets where it needs them.
void reference_expr(struct reference *r, const struct ir_expr *x);

// Append the element of an array as an lvalue.
void reference_element(struct reference *r, const struct ir_buffer *b,
                       uint32_t n, struct ir_expr *const *index);

// Loops around nothing but a stage, in the order to print them.
struct reference_nest {
    struct VEC(struct ir_for *) loops;
    size_t parallel; // so many of them, outermost, can run in parallel
    struct ir_stmt *stage;
};

// Order the loops of a statement; false if it is no such nest.
bool reference_nest(struct arena *a, struct ir_stmt *s,
                    struct reference_nest *nest);

// The helpers that every program starts with, in parts up to a NULL.
extern const char *const reference_prelude[];

#endif
