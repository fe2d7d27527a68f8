// The printer's inside: names and expressions.

#ifndef IR_TEXT_PRINT_H
#define IR_TEXT_PRINT_H

#include "ir/base/buf.h"
#include "ir/base/map.h"
#include "ir/ir.h"

// The state of a run over one kernel.
struct printer {
    struct buf *out;
    struct arena arena;
    struct map names;       // variable or array -> its printed name
    struct str_table texts; // of printed names
    struct map visible;     // printed name -> how many visible declarations
    struct VEC(const char *) scope; // the visible declarations, newest last
    const struct ir_kernel *kernel; // whose tensor maps are to be printed
    enum ir_level level;
    bool is_numbering; // whether clashing names get numbers
};

// Begin to print; the arena is the caller's to reset.
void print_start(struct printer *p, struct buf *out, bool is_numbering);
// Forget the declarations since there were `mark` of them.
void print_close(struct printer *p, size_t mark);

// Declare a variable or an array; returns the name to print.
const char *print_declare(struct printer *p, const void *what,
                          const char *name);
// Return the name under which it was declared.
const char *print_name(const struct printer *p, const void *what,
                       const char *name);

// Append an expression that may stand where operators of at least
// `precedence` are expected.  `is_decided` says that an open literal would
// get the right type there.
void print_expr(struct printer *p, const struct ir_expr *x, int precedence,
                bool is_decided);
// Append a comma-separated list; `are_decided` as above.
void print_list(struct printer *p, struct ir_expr *const *x, uint32_t n,
                bool are_decided);
// Append what a kernel says of its data and results, each on a line.
void print_terms(struct printer *p, const struct ir_kernel *k);
// Append the ring of a loop.
void print_ring(struct printer *p, struct ir_ring *ring);
// Append `: type[shape] strides [..] align n`.
void print_shape(struct printer *p, const struct ir_buffer *b);

#endif
