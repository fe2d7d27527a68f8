// Which loops carry a dependence.

#ifndef PASSES_SCHEDULE_DEPEND_H
#define PASSES_SCHEDULE_DEPEND_H

#include "passes/pass.h"

// Where two iterations of a loop meet in one element.
struct depend_meeting {
    const char *name;             // of the array or the scalar; NULL: nowhere
    const struct ir_stmt *first;  // writes it
    const struct ir_stmt *second; // reads or writes it; may be the same
};

// Say for each of `n` nested loops, outermost first, whether two iterations
// in which it has different values may meet.  The loops inside take any
// values in both iterations; those around take the same values in both,
// except that the serial ones may differ if `across`: iterations of a loop
// to be bound run at the same time whatever the serial loops around do.
void depend_test(struct pass *p, struct ir_stmt *const *loops, size_t n,
                 bool across, struct depend_meeting *out);

#endif
