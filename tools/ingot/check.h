// `ingot check`, in parts: sizes, the runs of a variant, findings, reports.
//
//   struct check check = {.request = &request, .c = &compilation};
//   check_run(&check)        all variants of a compilation that was lowered
//   check_tell(&check)       what was found, as diagnostics
//   check_free(&check)

#ifndef TOOLS_INGOT_CHECK_H
#define TOOLS_INGOT_CHECK_H

#include "tools/ingot/compare.h"
#include "tools/ingot/isolated.h"
#include "tools/ingot/json.h"
#include "tools/ingot/problem_options.h"
#include "tools/simt/simt.h"

// What to check.
struct check_request {
    struct problem_options problem; // sizes that are not set are chosen
    const char *schedule;           // number or variant; NULL: all
    unsigned policies;              // bit i: policy i
    size_t cases;                   // most sizes for each variant
    double seconds;                 // that one run may take
    double work;                    // most of one case whose sizes are chosen
    bool is_unchecked;              // results are compared, accesses are not
    bool has_notes;                 // report what is no fault, too
    bool has_costs;                 // report bank conflicts and sectors
};

// A kernel at certain sizes, with what its definition computes.
struct check_case {
    struct problem problem;
    struct work work;
    struct eval_argument *want; // NULL: there is nothing to compare with
    const char *fault;          // of the definition itself, or NULL
    struct span fault_span;
};

// Something that was found, in memory shared with the child.
struct check_finding {
    bool is_difference; // else a finding of the executor
    struct simt_finding simt;
    struct comparison difference;
    bool is_idle;      // a read of poison on which no result depends
    size_t at;         // the first case that shows it
    unsigned policies; // under which it does
};

enum { CHECK_FINDINGS = 64, CHECK_DIAGS = 8, CHECK_TEXT = 1 << 16 };

// What the child tells; texts that it made are in `text`.
struct check_shared {
    uint64_t runs; // begun
    size_t at;     // the case that runs
    enum simt_policy policy;
    uint64_t samples; // runs of some blocks only
    uint64_t accesses, barriers, blocks;
    struct check_finding findings[CHECK_FINDINGS];
    size_t n_findings, lost;
    struct diag diags[CHECK_DIAGS];
    size_t n_diags;
    char text[CHECK_TEXT];
    size_t used;
};

// One variant.
struct check_variant {
    const struct variant *variant;
    const struct nvptx_target *target;     // whose code runs
    struct VEC(struct check_case *) cases; // none: no sizes were found
    struct check_shared *shared;           // NULL: nothing ran
    struct isolated_result end;
    double seconds;
};

// A check of all variants of a compilation.
struct check {
    const struct check_request *request;
    const struct compile_options *options;
    struct compilation *c;
    struct VEC(struct check_case *) cases; // of all kernels
    struct VEC(struct check_variant) variants;
    const char *wrong; // what of the command line cannot be, or NULL
};

// Check the variants of a compilation.
// Returns false after reporting, or with `wrong` set, that it could not be
// done; findings are no reason.
bool check_run(struct check *check);
void check_free(struct check *check);

// Check what a build is about to write, at a few small sizes.
// Returns false after reporting faults, or that it could not be done.
bool check_build(struct compilation *c, const struct compile_options *o);

// Return the name of a variant in messages and options.
const char *check_name(const struct variant *v);

// Return the values of the sizes of a case, "m=1,n=2"; "" if it has none.
const char *check_sizes_text(struct arena *a, const struct check_case *one);

// Choose the sizes at which a variant is run, of which the request sets some:
// `out` gets a request for each, those that need least work first.
struct check_sizes VEC(struct problem_request);
void check_choose_sizes(struct check *check, const struct variant *v,
                        const struct problem_request *request,
                        struct check_sizes *out);

// Return the case of a kernel with these sizes, with its results; NULL after
// reporting, or with `wrong` set.
struct check_case *check_case(struct check *check,
                              const struct ir_kernel *kernel,
                              const struct problem_request *sizes);

// Return how many blocks of a case are run, 0 for all.
uint64_t check_sample(const struct check *check, const struct variant *v,
                      const struct check_case *one);

// Fill in what blocks that did not run would have written; requires `want`.
void check_complete(const struct check_case *one, struct eval_argument *got);

// Compile a variant and run it on its cases under the policies, in a child.
void check_variant_run(struct check *check, struct check_variant *v);

// Report what was found as diagnostics of the compilation.
// Returns whether there are faults.
bool check_tell(struct check *check);

// Return whether two findings tell the same of different runs.
bool check_same(const struct check_finding *a, const struct check_finding *b);

// Return whether a finding is no fault.
bool check_is_note(const struct check_finding *f);

// Append what the accesses of each variant cost, at its largest sizes.
void check_print_costs(const struct check *check, struct buf *out);

// Append a line for each kernel.
void check_print(const struct check *check, struct buf *out);

// Return what was checked and found.
json_t *check_json(const struct check *check);

#endif
