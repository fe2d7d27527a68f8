// Several emissions at the same time, each in a thread of its own.

#ifndef TOOLS_LIBINGOT_EMISSIONS_H
#define TOOLS_LIBINGOT_EMISSIONS_H

#include "nvptx/nvptx.h"

// One emission: what is asked for, and what came of it.
struct emission {
    const struct ir_kernel *const *kernels;
    size_t n;
    struct nvptx_options options;
    struct diag_list diags; // its own, with an arena of its own
    struct phases times;    // in that arena
    struct buf text;        // the caller releases it
    bool ok;
};

// Run all emissions, until each has ended.
void emissions_run(struct emission *all, size_t n);

#endif
