// `ingot run`, in parts: options, the reference, the run itself.

#ifndef TOOLS_INGOT_RUN_H
#define TOOLS_INGOT_RUN_H

#include "tools/ingot/report.h"
#include "tools/ingot/targets.h"

// Where to run, and what to compare with.
enum run_device { RUN_AUTO, RUN_GPU, RUN_CPU };
enum run_reference {
    REFERENCE_AUTO,
    REFERENCE_EVAL,
    REFERENCE_HOST,
    REFERENCE_NONE
};

// The command line.
struct run_options {
    struct cli_compile compile;
    struct cli_targets targets;
    struct arena arena;
    struct problem_request request;
    struct timing_request timing;
    const char *file;
    const char *kernel;    // NULL: the only one
    const char *variant;   // NULL: as the guards say
    const char *driver;    // path of libcuda; NULL: the system's
    const char *unordered; // "ARRAY" or "ARRAY COUNT", or NULL
    enum run_device device;
    enum run_reference reference;
    double tolerance; // below 0: by rule
    uint64_t steps;   // most that the evaluator takes
    size_t sets;      // copies of the data; 0: as many as are useful
    bool is_jit, is_json, no_timing;
};

// Read the command line; usage errors end the process.
void run_parse(int argc, char **argv, struct run_options *out);

// Run the definition of the problem's kernel on the arguments.
// Sets `name` to what did it.  Returns false after reporting.
bool run_reference(const struct run_options *o, const struct problem *p,
                   const struct work *work, struct eval_argument *arguments,
                   struct diag_list *diags, const char **name);

// Evaluate a kernel on arguments.  Returns false after reporting.
bool run_evaluate(const struct run_options *o, const struct ir_kernel *kernel,
                  struct eval_argument *arguments, struct diag_list *diags);

#endif
