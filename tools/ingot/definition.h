// Computes what the results of a kernel should be: its definition, without any
// schedule.

#ifndef TOOLS_INGOT_DEFINITION_H
#define TOOLS_INGOT_DEFINITION_H

#include "tools/ingot/problem.h"
#include "tools/ingot/work.h"

// Who computes it.
enum definition_by {
    DEFINITION_AUTO, // the evaluator, or for more work the host
    DEFINITION_EVAL,
    DEFINITION_HOST,
    DEFINITION_NONE,
};

// How to compute it.
struct definition_request {
    enum definition_by by;
    uint64_t steps;           // most that the evaluator takes
    struct eval_watch *watch; // what the evaluator looks for, or NULL
    struct buf *printed;      // what the kernel prints is appended; or NULL
};

// Return the kernel that says what the results of a kernel are: one that its
// text names, or itself.
const struct ir_kernel *definition_of(const struct ir_kernel *kernel);

// Run the definition of the problem's kernel on the arguments.
// Sets `name` to what did it.  Returns false after reporting.
bool definition_run(const struct definition_request *request,
                    const struct problem *p, const struct work *work,
                    struct eval_argument *arguments, struct diag_list *diags,
                    const char **name);

// Evaluate a kernel, at any level, on arguments, up to `request->steps`.
// Returns false after reporting.
bool definition_evaluate(const struct definition_request *request,
                         const struct ir_kernel *kernel,
                         struct eval_argument *arguments,
                         struct diag_list *diags);

#endif
