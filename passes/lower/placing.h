// Where an array of stages is declared, and which region of it is used there.

#ifndef PASSES_LOWER_PLACING_H
#define PASSES_LOWER_PLACING_H

#include "passes/analysis/facts.h"
#include "passes/analysis/region.h"
#include "passes/pass.h"

// The way down from the top of the kernel to the block that holds all
// accesses of an array.
struct common {
    struct VEC(struct ir_stmt *) stmts;   // loops and branches, outermost first
    struct VEC(struct ir_block *) blocks; // the top, then one in each of them
};

// An array on its way.
struct placing {
    struct pass *p;
    struct ir_stmt *alloc;
    struct ir_buffer *buffer;
    struct common common;
    struct map fixed; // variable -> what stands for it
    struct facts facts;
    struct region region;
};

// Return whether a loop is over threads, real or virtual ones.
bool placing_is_threads(const struct ir_stmt *s);

// Return whether the iterations of a loop run one after another.
bool placing_is_sequential(const struct ir_stmt *s);

// Find the innermost block that holds all accesses of the array.  pass and
// buffer are set.
void placing_find_common(struct placing *x);

// Find what is around all accesses of the array, which of it is fixed, and
// the region that is accessed meanwhile.  pass, alloc and buffer are set.
void placing_find(struct placing *x);

// Return whether the array may be declared anew in each iteration of a loop on
// the way down: no other iteration wrote what one reads.
bool placing_is_anew(const struct placing *x, const struct ir_stmt *s);

// Return the question that the region answers.
struct region_question placing_question(const struct placing *x);

// Return whether the base of a known dimension mentions a variable.
bool placing_base_mentions(const struct region_dim *dim,
                           const struct ir_var *var);

#endif
