// How an array that the program declares lies in memory: gaps behind its rows
// and swizzles, which become strides and index arithmetic at level flat.

#ifndef IR_LAYOUT_H
#define IR_LAYOUT_H

#include "ir/ir.h"

// Return the gaps of a dimension; none if it has none, or does not exist.
struct ir_pitch layout_pitch(const struct ir_buffer *b, uint32_t dimension);

// Return whether there may be a gap.
bool layout_has_gaps(struct ir_pitch pitch);

// Return what is wrong with such gaps in a dimension of the array, or NULL.
const char *layout_pitch_fault(const struct ir_buffer *b, uint32_t dimension,
                               struct ir_pitch pitch);

// Set the gaps of a dimension.
void layout_set_pitch(struct arena *a, struct ir_buffer *b, uint32_t dimension,
                      struct ir_pitch pitch);

// Put a dimension of `n` parts in front of the others, each of which keeps its
// gaps.  Only before level flat; accesses are the caller's.
void layout_stack(struct arena *a, struct ir_buffer *b, struct ir_expr *n);

// Return what is wrong with such a swizzle of the array whatever its extents
// are, or NULL.
const char *layout_swizzle_fault(const struct ir_buffer *b,
                                 struct ir_swizzle swizzle);

// Return whether rows are known to consist of whole periods of the swizzle.
bool layout_swizzle_fits(const struct ir_buffer *b);

// Return how far apart neighbours in each dimension lie, in elements; NULL for
// a row-major array without gaps.
struct ir_expr **layout_strides(struct arena *a, const struct ir_buffer *b);

// Return how many elements the storage of an array has, gaps included, if it
// has an element at all.
struct ir_expr *layout_elements(struct arena *a, const struct ir_buffer *b);

// Return the part of an array of a cluster that one of its blocks holds: all
// dimensions but the first.
struct ir_buffer layout_in_block(struct arena *a, const struct ir_buffer *b);

// Return the row that an element is in, counted over all dimensions but the
// last.
struct ir_expr *layout_row(struct arena *a, const struct ir_buffer *b,
                           struct ir_expr *const *index);

// Return the place of an element in the storage of an array, in elements, but for
// its swizzle.
struct ir_expr *layout_place(struct arena *a, const struct ir_buffer *b,
                             struct ir_expr *const *index);

// Return where the byte at an address lies if groups of 16 bytes of each row of
// `span` bytes (32, 64 or 128; 0: none) are exchanged as the hardware does it:
// bits 4 and up are changed by bits 7 and up.
uint64_t layout_exchanged(uint32_t span, uint64_t address);

#endif
