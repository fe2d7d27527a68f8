// `ingot run`, in parts: options, and the run itself.

#ifndef TOOLS_INGOT_RUN_H
#define TOOLS_INGOT_RUN_H

#include "tools/ingot/problem_options.h"
#include "tools/ingot/report.h"
#include "tools/ingot/targets.h"

// Where to run.
enum run_device { RUN_AUTO, RUN_GPU, RUN_CPU };

// The command line.
struct run_options {
    struct cli_compile compile;
    struct cli_targets targets;
    struct problem_options problem;
    struct timing_request timing;
    const char *file;
    const char *variant; // NULL: as the guards say
    const char *driver;  // path of libcuda; NULL: the system's
    enum run_device device;
    size_t sets; // copies of the data; 0: as many as are useful
    bool is_jit, is_json, no_timing;
};

// Read the command line; usage errors end the process.
void run_parse(int argc, char **argv, struct run_options *out);

#endif
