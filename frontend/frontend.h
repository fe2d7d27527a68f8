// Text to kernels and schedules.

#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H

#include "ir/base/diag.h"
#include "ir/ir.h"
#include "ir/schedule.h"

// What one or several files say.
struct program {
    struct VEC(struct ir_kernel *) kernels; // at the level they were written
    struct sched_program schedules;
};

// Parse a file and add what it says to `out`.  `schedules_only` is for files
// that hold no kernel, such as a library of `def`s.
// Returns false after reporting errors; what parsed is in `out` all the same.
bool frontend_parse(struct arena *a, struct str_table *names,
                    const struct source *source, bool schedules_only,
                    struct diag_list *diags, struct program *out);

#endif
