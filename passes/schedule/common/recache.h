// Copies of arrays whose indices are a stage's iteration variables: what
// reindex, reindex_cache_read and reindex_cache_write share.

#ifndef PASSES_SCHEDULE_COMMON_RECACHE_H
#define PASSES_SCHEDULE_COMMON_RECACHE_H

#include "passes/schedule/prim.h"

// What is wanted.
struct recache {
    struct ir_stmt *stage;
    struct ir_buffer *array;
    enum space space;            // of the copy
    const struct sched_map *map; // of all iteration variables; NULL: those of
                                 // the array's index, in their order
    const char *suffix;          // of the copy's name
    bool writes;                 // the stage computes the array
};

// Make the copy, and its stage the result of the call.
// Requires:
//  - it is a stage                                           E0653
//  - it reads (writes) the array                             E0642
//  - in the same statement of the outermost block nothing
//    else writes it (uses it), and nothing anywhere else
//    computes it                                             E0643
//  - the memory is not constant                              E0644
//  - it reaches the array by one index, made of iteration
//    variables; no condition leaves accesses out             E0683
//  - the map has an index for each iteration variable        E0679
//  - it keeps those that it uses apart                       E0680
//  - where the init reads the array, it has no index for a
//    variable of the reduction                               E0683
bool recache(struct sched_call *c, const struct recache *r);

#endif
