// Parts of an emission: long kernels are emitted at the same time, each part by
// a process of its own, and their PTX is joined.

#ifndef NVPTX_PARTS_H
#define NVPTX_PARTS_H

#include "nvptx/nvptx.h"

// Some kernels in the order of the file.
struct part {
    const struct ir_kernel *const *kernels;
    size_t n;
};
struct parts VEC(struct part);

// Return what to emit apart from each other: it depends on the kernels and the
// options alone.
struct parts parts_of(struct arena *a, const struct ir_kernel *const *kernels,
                      size_t n, const struct nvptx_options *options);

// Append the one module that the PTX texts of `n` parts are: under the newest
// version, with what several of them declare once.
void parts_join(const struct buf *texts, size_t n, struct buf *out);

#endif
