// Kernels for the executor: a text, lowered to level flat, and arguments in
// which no fault can hide.

#ifndef TESTS_UNIT_SUPPORT_SPECIMEN_H
#define TESTS_UNIT_SUPPORT_SPECIMEN_H

#include "tools/libingot/compile.h"
#include "tools/simt/simt.h"

// A compiled file.
struct specimen {
    struct compilation c;        // its variants are the kernels
    struct simt_options options; // for sm_80, level 2, checked
    struct buf libdevice;        // empty if it is not at hand
};

// Compile a file.  Returns false if the compiler refuses it; `c.diags` says
// why.  specimen_close releases it in either case.
bool specimen_open(struct specimen *s, const char *name, const char *text,
                   size_t size);
void specimen_close(struct specimen *s);

// Print what was reported.
void specimen_complain(const struct diag_list *diags);

// Append the bytes of a file.  Returns false if it cannot be read.
bool specimen_read(const char *path, struct buf *out);

// Return what stands behind `key` in the `n`th line, from 0, of a text that
// begins with it, in the arena; or NULL.
const char *specimen_header(struct arena *a, const char *text, const char *key,
                            size_t n);

// What an element of an input is, by its position and a number that no two
// arrays share.
typedef double (*specimen_fill)(size_t at, size_t array);
double specimen_counting(size_t at, size_t array); // 1, 2 ... 97, 1 ...
double specimen_scattered(size_t at,
                          size_t array);        // k / 8, k < 29, of either sign
double specimen_steep(size_t at, size_t array); // 64 times that, and a few 512

// Give every parameter a value: sizes as in "m=3 n=40", scalars 3, inputs by
// `fill`; results hold 0 if only atomics make them, else 0xcd in every byte.
// Returns NULL if a size is missing or an extent has no value.
struct eval_argument *specimen_arguments(struct arena *a,
                                         const struct ir_kernel *kernel,
                                         const char *sizes, specimen_fill fill);

// Return whether the arguments are inside `where` and the guard of a kernel.
bool specimen_fits(const struct ir_kernel *kernel,
                   const struct eval_argument *arguments);

#endif
