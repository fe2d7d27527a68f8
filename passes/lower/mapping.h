// The loops of a launch over blocks and threads: which positions they stand for.
//
// A grid or thread axis is as long as the longest loop bound to it; shorter
// loops get a guard.  The blocks of a cluster are neighbours: a loop on
// cluster.x is block.x % n, and loops on block.x beside it are block.x / n.
// Two nested loops on the same thread axis both stand for the position of the
// thread: the threads of the outer one share the iterations of the inner one.
//
// Each pass on kernels of level grids asks anew, as loops are all there is.

#ifndef PASSES_LOWER_MAPPING_H
#define PASSES_LOWER_MAPPING_H

#include "ir/base/map.h"
#include "passes/analysis/divergence.h"
#include "passes/analysis/facts.h"
#include "passes/analysis/nested.h"
#include "passes/pass.h"

struct mapping {
    struct pass *p;
    struct facts facts;
    struct facts top; // those of the kernel alone
    struct ir_launch *launch;
    struct ir_expr *extent[AXIS_COUNT]; // of each axis; NULL: no loop on it
    struct ir_stmt *around[AXIS_COUNT]; // the loop on the axis around, or NULL
    struct nested nested[AXIS_COUNT];   // the last one that was asked about
    const char *name[AXIS_COUNT];       // of the loop that set the extent
    const struct ir_stmt *lone_warp;    // a loop over warps outside of all over
                                        // warpgroups, or NULL
    struct map loop_extents;            // of each bound loop
    struct divergence divergence;       // by thread; of mapping_diverge
    bool failed;
};

// Return whether a loop is bound to a position of the launch.
static inline bool is_bound(const struct ir_for *loop)
{
    enum axis_kind kind = axis_kind(loop->axis);
    return kind == AXIS_BLOCK || kind == AXIS_THREAD;
}

// Measure the loops of a launch.  Returns false after errors: E0703 to E0705,
// E0731 to E0733, E0846, E0849 or E0860.
bool mapping_start(struct mapping *m, struct pass *p, struct ir_launch *launch);

// Measure the launches of a kernel one after another, and call `step` with each.
// Returns false after errors, at once.
bool mapping_each(struct pass *p, void (*step)(struct mapping *m));

// Return the position of the thread or block on an axis: 0 where it has one.
struct ir_expr *mapping_position(const struct mapping *m, enum axis axis);

// Return the axes on which a block has several threads.
axis_set mapping_threads(const struct mapping *m);

// Find out on which of these axes the values of a launch depend.
void mapping_diverge(struct mapping *m);

// Return whether a branch leaves what is in it to one thread out of many: its
// condition asks for a position, as none does before single_writer.
bool mapping_is_single(const struct ir_stmt *s);

#endif
