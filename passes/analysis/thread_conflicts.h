// Whether two threads of a block may access the same element of an array.
//
// An access is a function from the position of the thread, and what else
// varies, to an element. Two accesses conflict if one thread accesses some
// element in the first, and another thread accesses the same element in the
// second.

#ifndef PASSES_ANALYSIS_THREAD_CONFLICTS_H
#define PASSES_ANALYSIS_THREAD_CONFLICTS_H

#include "ir/ir.h"

// Something around an access; the way from one up to the top is a list.
struct conflict_scope {
    const struct conflict_scope *up; // NULL at the top
    const struct ir_var *var;        // of a serial loop, or a value; or NULL
    struct ir_expr *from, *to;       // of a loop; NULL otherwise
    int64_t step;                    // of a loop
    struct ir_expr *condition;       // that holds, or does not; or NULL
    bool holds;
    bool is_single;             // the condition picks one thread out of many
    bool is_natural;            // the variable is known to be at least 0
    bool is_common;             // the variable is the same for all threads
    const struct ir_stmt *loop; // bound to threads; or NULL
};

// An access.  Its expressions are over positions, parameters and the
// variables of scopes.
struct conflict_access {
    const struct ir_buffer *buffer;
    struct ir_expr **index;     // one for each dimension
    uint64_t hash;              // of them
    const struct ir_stmt *stmt; // that makes it
    bool writes, is_atomic;
    bool is_wait;      // for a phase of an mbarrier
    bool is_of_warp;   // conditions that are not around both say nothing of it
    bool is_remote;    // maybe to elements of another block of the cluster
    bool is_parted;    // from others of its own block by a barrier
    uint32_t together; // threads that have met since, or until then, and are no
                       // different ones any more: 32 of a warp, 128 of a
                       // warpgroup; 0: none
    const struct conflict_scope *scope;
};

// Where two accesses stand to each other.
struct conflict_place {
    const struct conflict_scope *common; // around both, in the same iteration
    const struct conflict_scope
        *back;         // NULL, or the loop, `common` itself, that
                       // the second is a later iteration of ...
    bool is_next;      // ... and always the next
    uint32_t together; // as for accesses
    uint32_t within;   // only threads of the same so many next to
                       // each other can meet; 0: all can
};

struct thread_conflicts;

// Start to ask about the threads of a launch.
struct thread_conflicts *conflict_start(struct arena *a,
                                        const struct ir_launch *launch);
void conflict_end(struct thread_conflicts *m);

// Return whether different threads may access the same element in two accesses
// to one array, of which one writes.  Threads that are together at one of the
// accesses, or at the place, are not different.
bool conflict_test(struct thread_conflicts *m, const struct conflict_access *x,
                   const struct conflict_access *y,
                   const struct conflict_place *place);

#endif
