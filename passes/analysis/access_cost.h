// What every access of a kernel to shared or global memory costs, without
// running it: wavefronts (bank conflicts) and sectors of one access of a warp.
//
//   row = row + tile[thread.x * 32 + j]     32 wavefronts, where 1 is possible
//   ... = A[thread.x * n]                   32 sectors, where 4 hold the bytes
//
// Only how the addresses of a warp's lanes differ counts, and where the first
// of them lies in its sector.  All warps of a block are looked at, all places
// in a sector that what is known of the sizes allows, and all iterations of
// loops over numbers that matter.  What is the same for all lanes, such as
// where a block or an iteration begins, needs no assumption; the figures are
// then COST_PROVED.  Other sizes, blocks and iterations are assumed.
//
// Arrays in global memory begin at a multiple of 32 bytes.  All lanes take part
// but those that a condition on the thread's position excludes.  Accesses are
// those of the program: LLVM and ptxas may merge neighbours or drop doubles.

#ifndef PASSES_ANALYSIS_ACCESS_COST_H
#define PASSES_ANALYSIS_ACCESS_COST_H

#include "ir/ir.h"
#include "passes/analysis/warp_cost.h"

enum access_kind { ACCESS_read, ACCESS_write, ACCESS_atomic };

// What the figures of an access hold for.
enum cost_basis {
    COST_PROVED,  // every size, block and iteration
    COST_ASSUMED, // sizes that were assumed, the first blocks and iterations
    COST_UNKNOWN, // nothing: the index depends on data
};

// One access.
struct access_cost {
    struct span span;               // may be no place
    const struct ir_launch *launch; // around it
    const struct ir_buffer *buffer; // in shared or global memory
    enum access_kind kind;
    uint32_t bytes; // of each lane
    uint32_t depth; // serial loops around, within the launch
    bool is_copy;   // read: to shared memory, as it is
    enum cost_basis basis;
    struct warp_cost best, worst; // wavefronts of a warp if the array is
                                  // shared, else sectors; 0 if unknown
};
struct access_costs VEC(struct access_cost);

// Return the accesses of a kernel at level flat, in the order of the program.
// `sizes` has the value of each parameter that is a size, -1 for those that are
// open, in the order of kernel->params; NULL leaves all open.
// The list is in the arena and refers to the kernel.
struct access_costs access_costs(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 const int64_t *sizes);

// Return how many times the least an access takes at worst: in shared memory
// the degree of its bank conflicts; 1 if that is unknown.
double access_excess(const struct access_cost *cost);

// Return "read", "write" or "atomic"; "proved", "assumed" or "unknown".
const char *access_kind_name(enum access_kind kind);
const char *cost_basis_name(enum cost_basis basis);

#endif
