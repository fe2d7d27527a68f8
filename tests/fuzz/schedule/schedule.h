// Random schedules.

#ifndef TESTS_FUZZ_SCHEDULE_SCHEDULE_H
#define TESTS_FUZZ_SCHEDULE_SCHEDULE_H

#include "ir/base/diag.h"
#include "passes/schedule/prim.h"
#include "tests/fuzz/schedule/inputs.h"

enum { FUZZ_DIRECTIVES = 18, FUZZ_WISHES = 6 };

// A directive that the kernel at that point accepts.
struct fuzz_directive {
    enum sched_prim prim;
    const char *text; // a line
    bool leaves_tail; // a factor that does not divide at some size
};

// Schedules for a kernel.
struct fuzz_schedule {
    struct arena *arena; // of the texts
    uint64_t *random;
    struct str_table *names;
    const struct ir_kernel *kernel;   // as it was written
    const struct fuzz_inputs *inputs; // values of its parameters, in sets
    size_t n_inputs;
    struct VEC(struct fuzz_directive) directives;
    size_t enough;          // so many of them reach the aim
    uint32_t *refused;      // D_COUNT counters of calls refused, by code
    uint64_t *accepted;     // calls
    enum sched_prim missed; // wanted and not reached; PRIM_COUNT: none
};

// What a schedule shall use, in this order; of those that are not wanted only
// what is found soon.
struct fuzz_wish {
    size_t n;
    enum sched_prim prims[FUZZ_WISHES];
    bool is_wanted[FUZZ_WISHES];
};

// Draw a schedule.  Returns whether it has what is wanted; directives there
// are in any case.
bool fuzz_schedule_draw(struct fuzz_schedule *s, const struct fuzz_wish *wish);

#endif
