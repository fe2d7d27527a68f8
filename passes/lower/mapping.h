// What the files of the pass `mapped` share: the launch that is being built.

#ifndef PASSES_LOWER_MAPPING_H
#define PASSES_LOWER_MAPPING_H

#include "ir/base/map.h"
#include "passes/analysis/divergence.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

struct mapping {
    struct pass *p;
    struct facts facts;
    struct facts top; // those of the kernel alone
    struct ir_launch *launch;
    struct ir_expr *extent[AXIS_COUNT]; // of each axis; NULL: no loop on it
    struct ir_stmt *around[AXIS_COUNT]; // the loop on the axis around, or NULL
    const char *name[AXIS_COUNT];       // of the loop that set the extent
    const struct ir_stmt *lone_warp;    // a loop over warps outside of all over
                                        // warpgroups, or NULL
    struct map loop_extents;            // of each bound loop
    struct divergence divergence;       // by thread
    struct map made;                    // branches that single out a thread
    bool has_barriers;                  // the program places them itself
    bool failed;
};

// Return whether a loop is bound to a position of the launch.
static inline bool is_bound(const struct ir_for *loop)
{
    enum axis_kind kind = axis_kind(loop->axis);
    return kind == AXIS_BLOCK || kind == AXIS_THREAD;
}

// Return the position of the thread or block on an axis: 0 where it has one.
struct ir_expr *mapping_position(const struct mapping *m, enum axis axis);

// Return the axes on which a block has several threads.
axis_set mapping_threads(const struct mapping *m);

// Check that blocks need not wait for each other; reports E0710.  The loops are
// still there.
void mapping_grid_hazards(struct mapping *m, struct ir_block *body);

// Check that blocks keep to their elements in all loops on an axis of the grid;
// reports E0710 and E0885.  The loops are still there.
void mapping_grid_hazards_loops(struct mapping *m, struct ir_block *body);

// Let only one thread execute each write that all threads of an axis would
// repeat.  The loops are still there.
void mapping_single_writer(struct mapping *m, struct ir_block *body);

// Insert the barriers that a block needs.  The loops are still
// there.
void mapping_barriers(struct mapping *m, struct ir_block *body);

// Insert barriers between arrays in shared memory that then share their bytes,
// if the launch has more of them than static shared memory holds.  The loops
// are gone.
void mapping_overlap(struct mapping *m);

#endif
