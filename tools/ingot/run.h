// `ingot run`, in parts: options, a kernel that is ready, the run at one set of
// sizes, the command.

#ifndef TOOLS_INGOT_RUN_H
#define TOOLS_INGOT_RUN_H

#include "tools/ingot/problem_options.h"
#include "tools/ingot/run_report.h"
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
    size_t sets;    // copies of the data; 0: as many as are useful
    int64_t memory; // most bytes to take, on the host and on the GPU
    bool is_jit, is_json, no_timing;
    bool is_ncu;                    // print how to profile, run nothing
    struct VEC(const char *) words; // of the command line
    struct arena arena;             // theirs
};

// Read the command line; usage errors end the process.
void run_parse(int argc, char **argv, struct run_options *out);

// The kernel, ready to run at any sizes.
struct run_kernel {
    struct run_options *options;
    struct compilation *c;
    const struct ir_kernel *kernel; // as it was written
    const char *fault;              // why there is no GPU to run on, or NULL
    struct driver driver;
    struct toolchain tools;
    struct loaded loaded;                    // on the GPU
    const struct ir_kernel *const *variants; // lowered, in order
    size_t n_variants;
};

// Look for the GPU, compile, and load; requires options, c and kernel.
// Returns false after reporting; run_kernel_close releases it in any case.
bool run_kernel_open(struct run_kernel *k);
void run_kernel_close(struct run_kernel *k);

// A run at one set of sizes.
struct run {
    struct run_kernel *on;
    struct problem problem;
    bool is_ready; // the problem is made
    struct dispatch dispatch;
    struct run_report report;
    struct diag_list diags;     // of this run alone
    struct eval_argument *want; // what the definition computes, or NULL
    struct eval_argument *got;  // what the kernel computed
    const struct eval_argument
        *room; // memory for that from the GPU, which stays; or NULL
};

// Make the problem of a run; `diags` says what of it is refused.
// Returns false with `wrong` set to what of the command line cannot be.
bool run_make(struct run *r, struct run_kernel *on,
              const struct problem_request *request, const char **wrong);

// Run and compare; requires that the run and its kernel are ready.  The report
// and `diags` say what came of it.
void run_once(struct run *r);

// Append the command line by which Nsight Compute profiles run number `at`, nothing if
// it launches no block; those
// in front of which have been chosen; requires what run_once does.  Returns false
// after reporting.
bool run_ncu(struct run *runs, size_t at, struct buf *out);

// The steps of run_once, for those that keep a kernel on the GPU.  Those that return
// false have reported.

// Choose the variant and the grids.
bool run_choose(struct run *r);

// Compute what the results should be: r->want.
bool run_reference(struct run *r);

// Set `out` to the GPU's side of the run, which holds nothing yet.
void run_device(struct run *r, struct device *out);

// Bring data to the GPU in `sets` copies, 0 for as many as are useful, run once on
// poisoned results, check the zones around the arrays, and read the results: r->got.
bool run_on_device(struct run *r, struct device *d, size_t sets);

// Compare all results, if there is a reference.
void run_compare(struct run *r);

#endif
