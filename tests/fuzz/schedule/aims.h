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

// What a case aims at: primitives in this order, PRIM_COUNT behind the last.
struct fuzz_target {
    size_t n; // 2 or 3
    enum sched_prim prims[FUZZ_PARTS];
};

// Draw the kinds of a kernel on which all of them find something to do: parts
// that suit several, or one for each.  KIND_COUNT stands for no part.
void fuzz_aim_kinds(uint64_t *random, const struct fuzz_target *t,
                    enum fuzz_kind kinds[FUZZ_PARTS]);

// Return a primitive that kernels of these kinds need, or PRIM_COUNT.
enum sched_prim fuzz_aim_need(unsigned kinds);

#endif
