// What the files of own_parts have in common: an array in local memory that
// several loops over threads use, and which of its elements a thread holds.

#ifndef PASSES_LOWER_OWN_PARTS_H
#define PASSES_LOWER_OWN_PARTS_H

#include "passes/analysis/divergence.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

enum { OWN_AXES = 9 }; // axes of threads, and of the blocks of a cluster

// How the threads of an axis share an array: thread t holds the elements whose
// index in dimension `dim` is (any * threads + t) * run + (0 .. run - 1), or,
// if there is no such dimension, a copy of them all.
struct own_axis {
    enum axis axis;
    int64_t threads;
    bool is_split;    // there is one
    uint32_t dim;     // counted without those of positions
    int64_t run;      // at least 1
    struct span span; // of the access that says so
};

// An array on its way.
struct own {
    struct pass *p;
    struct ir_stmt *alloc;
    struct ir_block *block; // which declares it
    struct ir_buffer *buffer;
    struct own_axis axes[OWN_AXES];
    uint32_t n;       // axes
    uint32_t n_split; // of them, that are split; counted by the first walk
    struct divergence divergence;
    bool failed; // an error was reported
};

// Report, at a place, that threads of a block would share an array, and the loops
// over threads in a block that use it (E0720).  Returns false.
bool own_report_shared(struct pass *p, const struct ir_buffer *b,
                       const struct ir_block *block, struct span at);

// Check that what a kernel's text itself stores to arrays of threads differs
// between threads only where its element does.  Returns false after reporting
// E0720.
bool own_check_given(struct pass *p);

#endif
