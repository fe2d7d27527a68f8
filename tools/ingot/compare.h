// Compares what a kernel computed with what it should have.

#ifndef TOOLS_INGOT_COMPARE_H
#define TOOLS_INGOT_COMPARE_H

#include "ir/ir.h"
#include "tools/ingot/work.h"

enum { COMPARE_EXAMPLES = 5 };

// One element that was compared.
struct compared {
    size_t at; // elements from the start of the array
    double got, want;
};

// The result for one array.
struct comparison {
    const struct ir_buffer *buffer;
    double tolerance; // relative to max(|want|, scale)
    double scale;     // the size of an element, see below
    size_t elements;  // compared
    size_t wrong;     // of these
    size_t poisoned;  // still hold what they held before the run
    double most_absolute, most_relative; // differences; relative as above
    struct compared worst;
    struct compared first[COMPARE_EXAMPLES]; // of the wrong ones
};

// Return the tolerance for an array: 0 for integers and bools; for floating
// types
//
//     8 sqrt(terms) e + 2 c        e spacing at 1 of the coarsest type of
//                                  arithmetic, c of conversions
//
// in which terms is the length of the longest reduction.  Approximate functions
// (fast_math) have 32 times the error.
//
// It is relative to the size of an element: what a sum of such terms usually
// is, not what is left where they cancel.  An error of e sum|x|, or
// sqrt(terms) e sum|x| for terms of one sign, is what rounding leaves of a sum
// (Higham and Mary, SIAM J. Sci. Comput. 41 (2019) A2815 and 42 (2020) A3427);
// sum|x| is about sqrt(terms) times the size of a sum whose terms have random
// signs, and that size if they have one sign.
double compare_tolerance(const struct work *work, const struct ir_buffer *b,
                         bool fast_math);

// A sum of squares of the finite elements of arrays.
struct compare_squares {
    double sum;
    size_t n; // how many
};

// Add those of an array.
void compare_add_squares(const struct ir_buffer *b, const void *elements,
                         size_t bytes, struct compare_squares *out);

// Return the root of the mean square, 0 if there are none.
double compare_root(const struct compare_squares *squares);

// Compare `bytes` bytes of elements of `c->buffer`, of which `c->tolerance` and
// `c->scale` are set, and set the rest of `c`.  NaN equals NaN.  `poison` is
// the byte that unwritten elements are made of, or -1.
void compare_arrays(struct comparison *c, const void *got, const void *want,
                    size_t bytes, int poison);

// Sort the first `n` elements.
void compare_sort(const struct ir_buffer *b, void *elements, size_t n);

#endif
