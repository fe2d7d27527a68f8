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
    double tolerance; // relative to max(|want|, the root mean square)
    double scale;     // that root mean square
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
// in which terms is the length of the longest reduction: rounding errors of a
// sum grow as the root of its length.  Approximate functions (fast_math) have
// 32 times the error.
double compare_tolerance(const struct work *work, const struct ir_buffer *b,
                         bool fast_math);

// Compare `bytes` bytes of elements.  NaN equals NaN.  `poison` is the byte
// that unwritten elements are made of, or -1.
void compare_arrays(const struct ir_buffer *b, const void *got,
                    const void *want, size_t bytes, double tolerance,
                    int poison, struct comparison *out);

// Sort the first `n` elements.
void compare_sort(const struct ir_buffer *b, void *elements, size_t n);

#endif
