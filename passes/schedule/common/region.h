// Regions: what the loops of a stage are to run over.

#ifndef PASSES_SCHEDULE_COMMON_REGION_H
#define PASSES_SCHEDULE_COMMON_REGION_H

#include "passes/analysis/region.h"
#include "passes/pass.h"

// The values base .. base + extent - 1 of an index.
struct sched_region_dim {
    struct ir_expr *base;   // over sizes and loops that stand still; NULL: 0
    struct ir_expr *extent; // over sizes and, rarely, these loops
    bool is_whole;          // the array's extent, for want of something better
    bool is_dense;          // each of these values occurs
    const char *loop; // what the loop over it is called, interned; NULL: ax0,
                      // ax1 ..., by its position
};

// The elements for which a stage is to run.
struct sched_region {
    bool any; // there is an access at all
    uint32_t n;
    struct sched_region_dim *dims;
};

// What is asked.
struct sched_region_query {
    struct pass *pass;
    struct ir_stmt *loop; // around the accesses
    struct ir_stmt *only; // in it, whose accesses count; NULL: all
    const struct ir_buffer *buffer;
    const struct ir_buffer *const *more; // arrays of the same rank whose
    size_t n_more;                       // accesses count as the buffer's
    enum region_access access;
    bool across_threads; // of all threads of a block together
};

// Return the smallest region that is easy to describe and holds every element
// accessed in one iteration of the loop: the loop and those around it stand
// still, but for those bound to threads if `across_threads`.  Tails count as
// full tiles.
struct sched_region sched_region_find(const struct sched_region_query *query);

// Return the region 0 .. extent - 1 of `n` dimensions, such as a whole array.
struct sched_region_dim *sched_region_over(struct pass *p, size_t n,
                                           struct ir_expr *const *extents);

#endif
