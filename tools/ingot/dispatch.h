// Chooses the variant of a kernel and its grids, as the launch function of the
// generated header does.

#ifndef TOOLS_INGOT_DISPATCH_H
#define TOOLS_INGOT_DISPATCH_H

#include "tools/ingot/problem.h"

// One launch.
struct dispatch_launch {
    const struct ir_launch *launch;
    uint64_t grid[3];
};

enum { DISPATCH_RANK_MOST = 5 };

// A tensor map of the variant; dimensions count from the innermost one.
struct dispatch_map {
    const struct ir_map *map;
    size_t parameter; // its array, of the kernel or its workspace
    int64_t sizes[DISPATCH_RANK_MOST], strides[DISPATCH_RANK_MOST]; // elements
};

// What a call runs.
struct dispatch {
    const struct ir_kernel *variant;
    struct VEC(struct dispatch_launch) launches; // in order
    struct VEC(size_t) workspace;                // bytes of each array
    struct VEC(struct dispatch_map) maps;        // behind the workspace
};

// Return the part of the guard of a variant that does not hold for the problem; NULL
// if all do.
struct ir_expr *dispatch_refusal(struct arena *a, const struct problem *p,
                                 const struct ir_kernel *variant);

// Return the value of an expression over the parameters of a variant; false if it
// has none.
bool dispatch_value(struct arena *a, const struct problem *p,
                    const struct ir_kernel *variant, struct ir_expr *x,
                    int64_t *out);

// Choose among `n` variants of the problem's kernel the first whose guard
// holds; `wanted` unless NULL names the only one.
// Returns false after reporting that there is none.
bool dispatch_make(struct arena *a, const struct problem *p,
                   const struct ir_kernel *const *variants, size_t n,
                   const char *wanted, struct diag_list *diags,
                   struct dispatch *out);

#endif
