// Directives as text: what primitives were run on a kernel, as a schedule that
// says so.

#ifndef PASSES_SCHEDULE_RECORD_H
#define PASSES_SCHEDULE_RECORD_H

#include "ir/base/buf.h"
#include "passes/schedule/prim.h"

// A loop or a stage that a directive returned, and what it is called.
struct sched_recorded {
    const struct ir_stmt *stmt;
    const char *name;
    bool is_used; // by a later directive
};

// A directive: names[first] to names[first + n - 1] = call.
struct sched_directive {
    const char *call; // "split(Y.i, _, 32)"
    size_t first, n;
};

// The directives of a kernel, in order.  All is in the arena of the pass.
struct sched_record {
    int depth; // of primitives that run inside others, which are not recorded
    struct VEC(struct sched_recorded) names;
    struct VEC(struct sched_directive) directives;
};

// Return the text of a call that is about to run; NULL if nobody asks for it.
const char *sched_record_begin(const struct sched_call *c);

// Note a call that has run, with its text from before; `ok`: it has changed the
// kernel.
void sched_record_end(const struct sched_call *c, const char *text, bool ok);

// Append the directives, a line each; results that nothing uses are `_`.
void sched_record_print(const struct sched_record *r, struct buf *out);

#endif
