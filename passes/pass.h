// What a pass is and how passes run.

#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "ir/base/diag.h"
#include "ir/base/phases.h"
#include "ir/ir.h"

enum pass_result {
    PASS_SAME,    // nothing to do
    PASS_CHANGED, // the kernel was changed
    PASS_FAILED,  // only after an error went into `diags`
};

// An architecture that a kernel is built for.
struct pass_target {
    const char *name;
    int64_t shared; // most bytes of shared memory a block
};

struct pass_reading; // of the runner
struct sched_record; // of passes/schedule/record.h
struct sched_known;  // of passes/schedule/schedule.h

// What a pass works on.
struct pass {
    struct ir_kernel *kernel; // changed in place
    struct arena *arena;      // for new nodes: lives as long as the kernel
    struct arena *scratch;    // emptied after the pass
    struct str_table *names;
    struct diag_list *diags;
    const struct pass_target *targets; // what is known of them
    size_t n_targets;
    struct proof **proof; // where `proofs` leaves its result; NULL: nobody asks
    bool is_bounded;      // a kernel with the same statements passed `bounds`
    struct sched_record *record;  // of primitives that run; NULL: nobody asks
    struct sched_known *known;    // what cases of a rule share; NULL: nothing
    struct pass_reading *reading; // of checks after the passes of one run
    size_t *asked; // how often isl was asked of iterations; NULL: nobody counts
};

#define PASS(name, kind, on, leaves, doc)                                      \
    enum pass_result pass_##name(struct pass *p);
#include "passes/passes.def"
#undef PASS

enum pass_name {
#define PASS(name, kind, on, leaves, doc) PASS_##name,
#include "passes/passes.def"
#undef PASS
    PASS_COUNT
};

const char *pass_text(enum pass_name pass); // "guards"
const char *pass_doc(enum pass_name pass);
bool pass_find(const char *text, enum pass_name *out);
// Return whether the program is correct without it.
bool pass_is_optional(enum pass_name pass);

// How to run passes.
struct pass_options {
    bool checked; // ir_check and parse(print(x)) == x after every change
    const char *print_after; // comma-separated passes, "all", or NULL
    const char *stop_after;  // a pass or NULL
    const char *skip;        // comma-separated optional passes, or NULL
    struct phases *times;    // of each pass, as "lower/NAME"; or NULL
    struct buf *log;         // what print_after writes
};

// Return whether a comma-separated list, which may be NULL, holds a name.
bool pass_is_listed(const char *list, const char *name);

// Write the kernel to the log if print_after names `stage`, or all.
void pass_print_after(const struct pass_options *options, const char *stage,
                      const struct ir_kernel *kernel);

// Run the whole pipeline of passes.def in order.
// Returns false after errors.
bool passes_run(struct pass *p, const struct pass_options *options);

// Run one pass, with its checks.
bool passes_run_one(struct pass *p, enum pass_name pass,
                    const struct pass_options *options);

#endif
