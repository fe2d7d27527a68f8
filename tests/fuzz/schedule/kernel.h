// Random kernels.

#ifndef TESTS_FUZZ_SCHEDULE_KERNEL_H
#define TESTS_FUZZ_SCHEDULE_KERNEL_H

#include "ir/base/buf.h"
#include "ir/ir.h"

enum fuzz_kind {
#define KIND(name, stages, needs, meaning) KIND_##name,
#include "tests/fuzz/schedule/kinds.def"
#undef KIND
    KIND_COUNT
};

enum {
    FUZZ_AXES = 4,
    FUZZ_RANK = 4,
    FUZZ_ARRAYS = 24,
    FUZZ_SETS = 3,
    FUZZ_PARTS = 3
};

// What indices range over.
struct fuzz_axis {
    const char *extent; // as text: a number, or the name of a size
    bool is_open;       // a size
    struct type type;   // of the size
    int64_t values[FUZZ_SETS];
};

// A dimension: an axis, and so many elements more.
struct fuzz_dim {
    uint32_t axis, extra;
};

// An array that stages may read.
struct fuzz_array {
    const char *name;
    struct type type;
    uint32_t rank;
    struct fuzz_dim dims[FUZZ_RANK];
    double most; // no element is larger in magnitude
};

// Names of indices, and what they range over.
struct fuzz_scope {
    uint32_t n;
    const char *names[2 * FUZZ_RANK];
    struct fuzz_dim dims[2 * FUZZ_RANK];
};

// A kernel being drawn.
struct fuzz_kernel {
    struct arena *arena;
    uint64_t *random;
    struct type type; // of the part's elements
    bool is_mixed;    // integers: parameters and stages have types of their own
    uint32_t n_axes;
    struct fuzz_axis axes[FUZZ_AXES];
    uint32_t n_arrays, first; // arrays; the first of the part
    struct fuzz_array arrays[FUZZ_ARRAYS];
    uint32_t n_names; // given out
    bool is_strided;  // rows of a parameter lie billions of elements apart
    unsigned n_sets;  // of values for the sizes
    unsigned kinds;   // of the parts: bits
    bool is_rounded;  // not every order of its sums gives the same bits
    struct buf params, results, where, body;
};

// Draw the axes, then parts of these kinds, KIND_COUNT for none.  The result is
// the text of a kernel called f, in the arena, and the values of its sizes in
// k->axes.
const char *fuzz_kernel_draw(struct fuzz_kernel *k,
                             const enum fuzz_kind kinds[FUZZ_PARTS]);

// Append the part of a kind to a kernel.
void fuzz_part_draw(struct fuzz_kernel *k, enum fuzz_kind kind);
void fuzz_loops_draw(struct fuzz_kernel *k);
void fuzz_weights_draw(struct fuzz_kernel *k);
void fuzz_cluster_draw(struct fuzz_kernel *k);
void fuzz_fragments_draw(struct fuzz_kernel *k);
void fuzz_bytes_draw(struct fuzz_kernel *k);
void fuzz_streamed_draw(struct fuzz_kernel *k);
void fuzz_handed_draw(struct fuzz_kernel *k);
void fuzz_pingpong_draw(struct fuzz_kernel *k);
void fuzz_grid_draw(struct fuzz_kernel *k);
void fuzz_relay_draw(struct fuzz_kernel *k);

// Return a new name that begins with a letter.
const char *fuzz_name(struct fuzz_kernel *k, char letter);
// Declare a parameter (letter A), a result (C) or one in place (X).
struct fuzz_array *fuzz_parameter(struct fuzz_kernel *k, char letter,
                                  uint32_t rank, const struct fuzz_dim *dims);
// Return one of the integer types.
struct type fuzz_integer(struct fuzz_kernel *k);
// Declare a parameter that is an integer, and return its name.
const char *fuzz_number(struct fuzz_kernel *k);
// Append an element of an array, `A[` to `]`, converted to the part's type if
// it has another one.
void fuzz_element(struct fuzz_kernel *k, const struct fuzz_array *a,
                  const char *index, struct buf *out);
// Append `extent + extra`.
void fuzz_dim_print(const struct fuzz_kernel *k, struct fuzz_dim d,
                    struct buf *out);

// Append a random expression over the indices of a scope, and elements of
// arrays.  `must` is an array that it reads; or NULL.  Returns the largest
// magnitude that it may have.
double fuzz_expr(struct fuzz_kernel *k, const struct fuzz_scope *s,
                 const struct fuzz_array *must, unsigned depth,
                 struct buf *out);
// Append an element of an array, behind a guard where its indices ask for
// one.
void fuzz_access(struct fuzz_kernel *k, const struct fuzz_scope *s,
                 const struct fuzz_array *a, struct buf *out);
// Return the largest integer up to which a type holds all, 0 for integers.
double fuzz_exact(struct type t);

#endif
