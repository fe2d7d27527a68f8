// Which schedules a kernel has in a build, and for which architectures.

#ifndef TOOLS_LIBINGOT_CHOICE_H
#define TOOLS_LIBINGOT_CHOICE_H

#include "tools/libingot/compile.h"

// A schedule of a kernel, or the rule that stands for none.
struct choice {
    const struct sched_item *item; // NULL: scheduled by rule
    size_t number;   // among the schedules of its kernel, from 1; 0: a record's
    size_t recorded; // of the records for its kernel, from 1; 0: in the text
    struct ir_expr *guard; // over the kernel's parameters, or NULL
    struct ir_expr *sizes; // that it takes, if its directives require more
    target_set targets;    // of the build
    target_set taken;      // where schedules in front of it leave it no sizes
    struct sched_settings settings; // of its parameters and knobs
};
struct choices VEC(struct choice);

// Fill `out` with the schedules of a kernel that serve an architecture of the
// build, in the order of the text; the last is the rule for sizes or
// architectures that they leave open, unless there are none.
// Reports architectures that do not exist, schedules that are never chosen,
// and, as a remark, those that the build leaves out.
// Returns false after errors.
bool choices_make(struct compilation *c, const struct compile_options *o,
                  const struct ir_kernel *kernel, struct choices *out);

// Set `out` to the schedules of a kernel in the text, or else those of a rule that
// matches it, in order: number i + 1 is out[i].
void choices_items(struct compilation *c, const struct compile_options *o,
                   const struct ir_kernel *kernel, struct sched_items *out);

#endif
