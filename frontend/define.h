// Definitions of arrays and the reductions in them.

#ifndef FRONTEND_DEFINE_H
#define FRONTEND_DEFINE_H

#include "ir/base/map.h"
#include "ir/text/parse.h"

enum { REDUCER_MOST = 8 };

// A reduction that a file declares: how two partial results make one.
struct reducer {
    const char *name; // interned
    struct span span;
    uint32_t n;                             // values in a partial result
    struct ir_var *left[REDUCER_MOST];      // one partial result
    struct ir_var *right[REDUCER_MOST];     // the other
    struct ir_expr *identity[REDUCER_MOST]; // constants
    struct ir_block lets;                   // declarations before the result
    struct ir_expr *result[REDUCER_MOST];
    bool is_broken; // its declaration was in error: uses are not reported
};

// What the hooks of a parser of a file know.
struct frontend {
    struct VEC(struct reducer *) reducers;
    struct VEC(const struct ir_buffer *) defined; // in the current kernel
    struct VEC(const struct ir_buffer *) failed;  // defined with an error
};

// One element that a stage computes: an array at the iteration variables.
struct element {
    struct ir_buffer *buffer; // NULL while its type is not known
    const char *name;
    struct span span;
    uint32_t n;
    struct ir_expr **index;
};

// A stage in the making.
struct definition {
    bool is_let;       // it makes its arrays
    bool is_reduction; // its right side is one, or a scan
    bool is_scan;
    uint32_t n_elements;
    struct element elements[REDUCER_MOST];
    uint32_t scanned; // scan: which of the iteration variables counts it
    struct element running[REDUCER_MOST]; // scan: what it has so far
    struct VEC(struct ir_iter) iters;     // the spatial ones first
    struct map lows;                   // of iteration variables to what their
                                       // range begins with, unless 0
    struct VEC(struct ir_var *) loops; // one for each iteration variable
    struct ir_stmt *stage;
};

// Parse a definition, as the parser's hook `define`.
bool define_parse(struct parser *p, struct ir_block *block);

// Add an iteration variable for a loop called `name` and return it.  The extent
// may be NULL until it is known.
struct ir_var *define_iter(struct parser *p, struct definition *d,
                           const char *name, struct span span,
                           struct ir_expr *extent, bool is_reduce);
// The same; the name is one of the text, and visible from now on.
void define_add_iter(struct parser *p, struct definition *d, const char *name,
                     struct span span, struct ir_expr *extent, bool is_reduce);

// Return which dimension of an element's array its index number `i` is of.
uint32_t define_dimension_of(const struct parser *p, const struct element *e,
                             uint32_t i);

// Find the array that a definition without `let` writes, by the element's name.
bool define_find_target(struct parser *p, const struct definition *d,
                        struct element *e);

// Put the loops around the stage of `d`, and the nest into the block.
void define_close_nest(struct parser *p, struct definition *d,
                       struct ir_block *block);

// Return whether a token ends a line, or the text.
bool define_ends_line(const struct token *t);

// Return whether the next tokens begin a scatter reduction: an element with a
// new name in its subscripts, of which not all are such names.  One that is
// assigned to is none unless an array is in them.
bool scatter_is_next(const struct parser *p);
// Parse a scatter reduction, and append the nest that begins it, if any.
bool scatter_parse(struct parser *p, struct definition *d,
                   struct ir_block *block);

// Parts of it: return whether a token is a name that means nothing yet, but no
// function.
bool scatter_is_new(const struct parser *p, const struct token *t);
// Parse the left side, which declares the indices that it names first.
bool scatter_left(struct parser *p, struct definition *d);
// Append the nest that gives each element a value.
void scatter_start(struct parser *p, const struct definition *d,
                   struct ir_expr *value, struct ir_block *out);

// Return whether the next tokens are a conditional store: `A[..] = x if c`.
bool conditional_is_next(const struct parser *p);
// Parse it, and put the nest of its `else` into the block.
bool conditional_parse(struct parser *p, struct definition *d,
                       struct ir_block *block);

// Return whether the next tokens begin a reduction: `sum(k in`.
bool reduce_is_next(const struct parser *p);
// Parse the right side of a definition that is a reduction, and fill the
// stage's init and body.
bool reduce_parse(struct parser *p, struct definition *d);
// Parse the name and the operands of a reduction whose variables are declared,
// and fill the stage's init and body.
bool reduce_parse_operation(struct parser *p, struct definition *d);

// Return whether the next tokens begin a scan: `scan(j <`.
bool scan_is_next(const struct parser *p);
// Parse the right side of a definition that is a scan, and fill the stage's
// init and body.
bool scan_parse(struct parser *p, struct definition *d);
// Declare the arrays that hold what a scan has so far.
void scan_declare(struct parser *p, struct definition *d,
                  struct ir_block *block);

// Report a reduction inside an expression, as the hook `unknown_call`.
bool reduce_misplaced(struct parser *p);
// Parse `reduce name(a: t; b: t) identity x = e` behind its first word.
bool reduce_declare(struct parser *p);

// Parse the extent of the index `of`: the same for all iterations.
struct ir_expr *define_parse_extent(struct parser *p,
                                    const struct definition *d, const char *of);

// Parse the range of the variable `of` of a reduction: `n`, with `low` NULL, or
// `low..high`.  It may differ from element to element.
bool define_parse_range(struct parser *p, const struct definition *d,
                        const char *of, struct ir_expr **low,
                        struct ir_expr **extent);

// Find the extents that the left side of a definition leaves open.
bool define_infer_extents(struct parser *p, struct definition *d);

// Set the indices of the elements, and make the arrays of those that have
// none yet: `types[k]` is the element type of the k-th.
void define_arrays(struct parser *p, struct definition *d,
                   const struct type *types);

// Return the current value of the k-th element.
struct ir_expr *define_load(struct parser *p, const struct definition *d,
                            uint32_t k);

// Append a store to the k-th element to a block of the stage.
void define_store(struct parser *p, const struct definition *d, uint32_t k,
                  struct ir_block *block, struct ir_expr *value);

// Report a read in `x` of an array being defined, elsewhere than at the
// element itself, or of a result that has no value yet; false then.
bool define_check_reads(struct parser *p, const struct definition *d,
                        struct ir_expr *x);

#endif
