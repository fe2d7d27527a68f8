// Which iterations access the same elements, and so keep their order.
//
// The first try reads indices in mixed radix (radix.c) and is cheap;
// what it leaves open is asked of isl (exact.c).  What is not affine
// conflicts, unless mixed radix proves the contrary.

#ifndef PASSES_SCHEDULE_DEPEND_DEPEND_H
#define PASSES_SCHEDULE_DEPEND_DEPEND_H

#include "passes/pass.h"

// Something that accesses an element.
struct depend_end {
    const struct ir_stmt *stmt;
    struct span span;
    bool writes;
};

// Where two iterations conflict in one element.
struct depend_conflict {
    const char *name; // of the array or the scalar; NULL: nowhere
    struct depend_end first, second; // one writes; may be the same
    bool is_exact;         // affine; if not, it was not proved independent
    struct span uncovered; // the array would be private to an iteration, but
                           // for this read of what it has not written
    const char *example;   // "with n = 2, the iterations i = 0 and i = 1 both
                           // access `C[0]`", if one was asked for and found
};

// Return whether two iterations of a loop may conflict that would run at the same
// time if it ran on `axis`; the loops inside take any values.  Iterations on
// blocks run whatever the serial loops around do.  Threads wait for each other
// between the iterations of these, as barriers are derived; lanes of a vector
// do so anyway.  Where the program has barriers of its own, none are derived.
//
// Two iterations do not conflict in an array that each writes before it reads it,
// if it is private to them, or if all of them write the same values.  Of a loop
// that is on the axis already, only what is proved to conflict in global memory does.
bool depend_carried(struct pass *p, struct ir_stmt *loop, enum axis axis,
                    bool with_example, struct depend_conflict *out);

// Return whether iterations of nested loops that conflict change places if the
// loops run in another order (a permutation of them).  Reductions of a stage
// may combine their operands in any order, unless a branch chooses among
// them.
bool depend_reordered(struct pass *p, struct ir_stmt *const *loops, size_t n,
                      struct ir_stmt *const *order, bool with_example,
                      struct depend_conflict *out);

// Return whether blocks may conflict that run different loops of a nest, bound to
// the same axis: nothing lets them wait for each other.  The loops go to
// `loops`.
bool depend_between(struct pass *p, struct ir_stmt *nest,
                    struct depend_conflict *out, struct ir_stmt *loops[2]);

// A question about two arrays, of one shape as far as it matters.
struct depend_flow {
    const struct ir_buffer *written, *used; // may be the same
    bool rewrites;               // `used` is written, too; or else read
    const struct ir_stmt *aside; // a stage whose accesses do not count, or NULL
};

// Return whether an iteration of a loop uses an element that another one
// writes; the loops around stand still.  Nothing makes up for that: not even
// a reduction, or that an array could be private to an iteration.
bool depend_flows(struct pass *p, struct ir_stmt *loop,
                  const struct depend_flow *flow, struct depend_conflict *out);

// Return whether iterations of a loop may store different values to one element
// of an array, so that it matters in which of them the element is read.
bool depend_changes(struct pass *p, struct ir_stmt *loop,
                    const struct ir_buffer *buffer);

// Return whether a stage reads only those elements of an array that something
// before it has written.
bool depend_reads_written(struct pass *p, const struct ir_stmt *stage,
                          const struct ir_buffer *buffer);

// Return whether a stage reads an array in every iteration, and only elements
// that something before it has written.
bool depend_is_filled(struct pass *p, const struct ir_stmt *stage,
                      const struct ir_buffer *buffer);

// Look for an element of an array that one stage writes and another one
// reads, in any of their iterations; false if no example is found.
bool depend_conflicts(struct pass *p, const struct ir_stmt *writer,
                      const struct ir_stmt *reader,
                      const struct ir_buffer *buffer,
                      struct depend_conflict *out);

#endif
