// What the files of the pass flatten share: widths of index values, and the
// offsets of elements.

#ifndef PASSES_LOWER_FLATTEN_H
#define PASSES_LOWER_FLATTEN_H

#include "ir/base/map.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// The state of the walk.
struct flatten {
    struct arena *arena;
    struct facts facts;
    struct map vars; // variables with a width, by those without
    bool is_bounded; // there is an upper bound for each size
    struct map lets; // names, to the innermost loops around, as of type `int`
    struct ir_stmt *loop; // the innermost one around, or NULL
};

// Return a converted value in another width; a leaf of type `int` is
// converted once.
struct ir_expr *flatten_in_width(struct flatten *f, struct ir_expr *x,
                                 enum type_kind width);

// Return whether a converted value is narrow.
bool flatten_is_narrow(const struct ir_expr *x);

// Return whether x <= INT32_MAX - room is proved, by ranges or facts; the
// latter have no chance if some size may be anything.
bool flatten_is_at_most(struct flatten *f, struct ir_expr *x, int64_t room);

// Return whether an operation on narrow operands has a narrow result, and
// computes it without leaving 32 bits.
bool flatten_stays_narrow(struct flatten *f, struct ir_expr *x);

// Convert an expression; an index value comes back as idx32 or idx64.
struct ir_expr *flatten_expr(struct flatten *f, struct ir_expr *x);

// Return the offset of an access at level flat; a vector's stays one.
struct ir_expr *flatten_index(struct flatten *f, const struct ir_buffer *b,
                              struct ir_expr *const *index);

// Return the indices of a load or a store at level flat: the offset; in an array
// of a cluster, behind the rank of the block.
struct ir_expr **flatten_indices(struct flatten *f, const struct ir_buffer *b,
                                 struct ir_expr *const *index);

// Return the offset of an element as a sum of what the loop around changes and what
// it does not; NULL if that does not pay. The offsets of a `small` array fit in 32
// bits, its parts need not.
struct ir_expr *flatten_parts(struct flatten *f, const struct ir_buffer *b,
                              struct ir_expr *const *index, bool is_small);

// Turn the gaps of arrays into strides.  Returns false after an error.
bool flatten_begin_arrays(struct pass *p);

// Return the type that an array's elements have at level flat.
struct type flatten_element(const struct ir_buffer *b);

// Give the elements of arrays that type, and forget swizzles: once all accesses
// are converted.
void flatten_end_arrays(struct pass *p);

#endif
