// Which kernels suit which primitives.

#ifndef TESTS_FUZZ_SCHEDULE_AIMS_H
#define TESTS_FUZZ_SCHEDULE_AIMS_H

#include "passes/schedule/prim.h"
#include "tests/fuzz/schedule/kernel.h"

enum { AIM_PREPARATIONS = 5 };

// A row of aims.def.
struct fuzz_aim {
    unsigned more;                             // share, against that of others
    unsigned kinds;                            // bits
    enum sched_prim prepare[AIM_PREPARATIONS]; // PRIM_COUNT ends them
};
const struct fuzz_aim *fuzz_aim_of(enum sched_prim prim);

// Draw one of the primitives that are seldom met.
enum sched_prim fuzz_aim_seldom(uint64_t *random);
// Draw a primitive that finds something to do on kernels of these kinds, often
// one that is seldom met.
enum sched_prim fuzz_aim_beside(uint64_t *random, unsigned kinds);

// Draw the kinds of a kernel on which both primitives find something to do:
// of one part, or of one for each.  The second may be KIND_COUNT.
void fuzz_aim_kinds(uint64_t *random, enum sched_prim a, enum sched_prim b,
                    enum fuzz_kind kinds[2]);

// Return a primitive that kernels of these kinds need, or PRIM_COUNT.
enum sched_prim fuzz_aim_need(unsigned kinds);

#endif
