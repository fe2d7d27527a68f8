// A reduction that threads of a block share, while it is lowered.

#ifndef PASSES_LOWER_CROSSTHREAD_H
#define PASSES_LOWER_CROSSTHREAD_H

#include "ir/walk.h"
#include "passes/analysis/reducer.h"

struct loops VEC(struct ir_stmt *);

// A reduction across threads.
struct crossing {
    struct pass *pass;
    struct ir_stmt *stage;
    struct ir_path path; // down to the stage
    uint32_t first;      // outermost loop of the reduction on the path
    struct reducer reducer;
    struct loops outer;      // loops of threads and virtual threads around
    struct loops threads;    // thread loops from there on, and those over the
                             // blocks of a cluster that share an element
    struct loops elements;   // other loops that select elements
    struct loops reductions; // other loops of the reduction
    int64_t blocks;          // of a cluster that share an element
    int64_t each;            // threads of one of them that do
    int64_t width;           // neighbours of them that exchange by shuffles
    int64_t parts;           // what remains of all: blocks * each / width
    struct ir_buffer *part[REDUCER_ARRAYS]; // the parts, in shared memory
};

// Return what a loop does for the stage.
unsigned crossthread_role(const struct crossing *c, const struct ir_stmt *loop);
// Return the extent of a loop over threads or the blocks of a cluster.
int64_t crossthread_threads(const struct ir_stmt *loop);

// Append what stands for the nest from `first` on, its loops over elements
// aside, and declare the arrays of the parts in the block that shares them.
void crossthread_phases(struct crossing *c, struct ir_block *to);

// Declare shared arrays in the body of the innermost loop over blocks of the
// first `n` statements of a path, or else in front of the nest; the path stays
// right.
void crossthread_share(struct pass *p, struct ir_path *path, uint32_t n,
                       const struct ir_block *arrays);

#endif
