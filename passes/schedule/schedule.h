// Schedules run on kernels: the two ways into this folder.

#ifndef PASSES_SCHEDULE_SCHEDULE_H
#define PASSES_SCHEDULE_SCHEDULE_H

#include "ir/base/map.h"
#include "ir/schedule.h"
#include "passes/pass.h"

// What cases of a rule share: sizes that names in front of them stand for, and their
// guards, in the parameters of the kernel that they are for.
struct sched_known {
    const struct ir_kernel *kernel;
    struct map sizes; // a statement or a case -> an expression
};

// Run a schedule on p->kernel, which must be at level stages.  Settings that
// name one of its parameters or knobs replace the default; a later one
// replaces an earlier one.  The schedule's guard is appended to the kernel's.
// `outcome`, unless it is NULL, gets the knobs and the contracts.
// Returns false after errors; the kernel is then in no useful state.
bool schedule_apply(struct pass *p, const struct sched_program *program,
                    const struct sched_item *schedule,
                    const struct sched_setting *settings, size_t n,
                    struct sched_outcome *outcome);

// Find the guard of a schedule of p->kernel, over its parameters; NULL if it
// has none.  Nothing is changed.  Returns false after errors.
bool schedule_guard(struct pass *p, const struct sched_program *program,
                    const struct sched_item *schedule,
                    const struct sched_setting *settings, size_t n,
                    struct ir_expr **guard);

// Return whether a guard says that a schedule is not for this instance of a
// kernel, or a case of a rule not for this kernel, whatever the sizes.
bool schedule_excludes(const struct ir_kernel *kernel,
                       const struct sched_item *schedule,
                       const struct ir_expr *guard);

// Return the call of a rule with `matches`, with the first choice of stages of
// p->kernel that its pattern is true of; NULL if there is none.
struct sched_expr *schedule_match(struct pass *p,
                                  const struct sched_program *program,
                                  const struct sched_item *rule);

// What a kernel without a schedule gets where no other rule is for it: a case of
// the library's rule `default`, the first of `program` and its fallbacks that
// is no one's own.  Settings are for the case.  `long_rows`: the first case,
// for which rows of unknown length are long, with a guard that says so; else the
// second one.  Returns false after errors.
bool schedule_default(struct pass *p, const struct sched_program *program,
                      const struct sched_settings *settings, bool long_rows);

// Bind the loops of each outermost nest that has no bound loop yet, by the library's
// rule `rest`, so that every statement of the kernel is part of a grid.  To be
// called after schedule_apply: a schedule may leave stages out.
// Returns false after errors.
bool schedule_complete(struct pass *p, const struct sched_program *program);

#endif
