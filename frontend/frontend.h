// Text to kernels and schedules.

#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H

#include "ir/base/diag.h"
#include "ir/ir.h"
#include "ir/schedule.h"

// Instances of a kernel that the command asks for, in the place of those of the
// text: its name and a `for` clause.
struct instance_request {
    const struct source *source;
    bool is_taken; // there is such a kernel
};

// What one or several files say.
struct program {
    struct VEC(struct instance_request) requests;
    bool is_part; // the command has chosen some of the kernels or instances
    struct VEC(struct ir_kernel *) kernels; // at the level they were written
    struct sched_program schedules;
};

// Parse a file and add what it says to `out`.  `schedules_only` is for files
// that hold no kernel, such as a library of `def`s.
// Returns false after reporting errors; what parsed is in `out` all the same.
bool frontend_parse(struct arena *a, struct str_table *names,
                    const struct source *source, bool schedules_only,
                    struct diag_list *diags, struct program *out);

// Parse a file of defs and rules, but their blocks when somebody asks for them
// (sched_read): all arguments live as long as `out`.
bool frontend_parse_library(struct arena *a, struct str_table *names,
                            const struct source *source,
                            struct diag_list *diags, struct program *out);

// Report each of the requests that no kernel of any file has taken.
void instances_check(const struct program *program, struct diag_list *diags);

#endif
