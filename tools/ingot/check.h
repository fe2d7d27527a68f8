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

struct chooser;
struct equivalence;

// What to check.
struct check_request {
    struct problem_options problem; // sizes that are not set are chosen
    const char *schedule;           // number or variant; NULL: all
    unsigned policies;              // bit i: policy i
    size_t cases;                   // most sizes for each variant
    double seconds;                 // that one run may take, or INFINITY
    double work;                    // of all cases whose sizes are chosen
    uint64_t steps;    // of a file, shared by its variants, after which each
                       // further case has one policy; 0: never
    bool is_unchecked; // results are compared, accesses are not
    bool has_elements; // their kind is the user's choice
    bool is_strict;    // what was not checked, or not written, is an error
    bool has_notes;    // report what is no fault, too
    bool has_costs;    // report bank conflicts and sectors
    bool has_proofs;   // report what is proved of each access
    bool proves_nothing;
    bool has_trace; // report what led to a fault
};

// A kernel at certain sizes, with what its definition computes.
struct check_case {
    struct problem_request request; // that it was made from
    struct problem problem;
    struct work work;
    double own_steps;           // statements of its own text, where that says
                                // what threads do and another kernel defines it
    double threads_steps;       // statements that the threads which the kernel
                                // has as it was written ran; 0: not known
    struct eval_argument *want; // NULL: there is nothing to compare with
    const char *fault;          // of the definition itself, or NULL
    bool is_endless;            // so is it
    struct span fault_span;
    const struct eval_unwritten *unwritten; // that its results have come of
};

// In which order the threads of a run go.
struct check_order {
    enum simt_policy policy;
    size_t choice; // of orders of atomics, as a run takes it
    bool searches; // as many blocks as may be are resident
};

enum { CHECK_SIZES = 16 };

// What led to a fault, in memory shared with the child.
struct check_trace {
    uint64_t trials;            // runs to find it
    bool is_known;              // one of them shows the fault
    int64_t sizes[CHECK_SIZES]; // the smallest that do, in their order
    struct check_order order;   // of that run
    struct simt_finding at;     // the element
    double want;                // what it should hold, if that is wrong
    bool is_wrong;
    struct simt_event events[SIMT_TRACE_MOST];
    size_t n, left_out;
};

// Something that was found, in memory shared with the child.
struct check_finding {
    bool is_difference; // else a finding of the executor
    struct simt_finding simt;
    struct comparison difference;
    bool is_idle;             // a read of poison on which no result depends
    bool is_left;             // unwritten in the definition, too, which is the
                              // kernel, and that is no fault
    size_t at;                // the first case that shows it
    unsigned policies;        // under which it does
    struct check_order order; // of the first run that does
    const struct check_trace *trace; // NULL: there is none
};

enum {
    CHECK_FINDINGS = 64,
    CHECK_TRACES = 16,
    CHECK_DIAGS = 8,
    CHECK_TEXT = 1 << 16,
    CHECK_PRINTED = 1 << 16,
    CHECK_POINTS = 1 << 16
};

// What the child tells; texts that it made are in `text`.
struct check_shared {
    uint64_t runs; // begun
    size_t at;     // the case that runs
    enum simt_policy policy;
    uint64_t samples; // runs of some blocks only
    uint64_t accesses, steps, barriers, blocks, pairs;
    uint64_t left_out; // runs, as there had been so many steps
    struct check_finding findings[CHECK_FINDINGS];
    size_t n_findings, lost;
    struct check_trace traces[CHECK_TRACES];
    size_t n_traces;
    struct diag diags[CHECK_DIAGS];
    size_t n_diags;
    struct simt_point points[CHECK_POINTS]; // counts of all runs
    size_t n_points;
    char text[CHECK_TEXT];
    size_t used;
    char printed[CHECK_PRINTED]; // by the kernel, in the first run
    size_t printed_at;           // the case of that run
    bool is_printed_whole;
};

// One variant.
struct check_variant {
    const struct variant *variant;
    const struct nvptx_target *target;     // whose code runs
    struct VEC(struct check_case *) cases; // none: no sizes were found
    struct check_shared *shared;           // NULL: nothing ran
    struct VEC(struct chooser *) choosers; // of each set of sizes asked for
    struct isolated_result end;
    double seconds;
    bool is_refused; // an error about its sizes was reported
};

// Copies of what a place in the source says.
struct check_point {
    const struct simt_point *point; // the first
    size_t all, missed;             // copies, and those that never ran
};

// How much of the code ran, by kind.
struct check_coverage {
    size_t all[SIMT_POINTS], reached[SIMT_POINTS];
    size_t unwritten;       // places that write, of which no copy ran
    uint64_t most;          // iterations of a loop
    uint64_t left_out;      // runs
    uint64_t blocks, pairs; // of them that accessed common elements
};

// A check of all variants of a compilation.
struct check {
    const struct check_request *request;
    const struct compile_options *options;
    struct compilation *c;
    uint64_t steps; // the share of a variant in those of the request
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

// Return "`A[3, 17]`", or "element 4097 of `A`".
const char *check_element_text(struct arena *a, const struct simt_finding *f);

// Return "thread (5, 0, 0) of block (1, 0, 0)".
const char *check_thread_text(struct arena *a, const struct simt_thread *one);

// Return the values of the sizes of a case, "m=1,n=2"; "" if it has none.
const char *check_sizes_text(struct arena *a, const struct check_case *one);

// Choose the sizes at which a variant is run, of which the request sets some.
// NULL with `wrong` set.
struct check_sizes VEC(struct problem_request);
struct chooser *check_sizes_open(struct check *check, const struct variant *v,
                                 const struct problem_request *request);

// Append requests for at most `n` further sizes, which together need about so
// much work, those with least work first.
void check_sizes_next(struct chooser *c, size_t n, double work,
                      struct check_sizes *out);

// Return the sizes with blocks that took least work of all that were drawn, or
// NULL.
const char *check_sizes_far(const struct chooser *c);

// Return the case of a kernel with these sizes, with its results; NULL after
// reporting, or with `wrong` set.
struct check_case *check_case(struct check *check,
                              const struct ir_kernel *kernel,
                              const struct problem_request *sizes);

// Return whether the text of a kernel says what threads do, and whether it does
// while no other kernel defines it.
bool check_says_threads(const struct ir_kernel *kernel);
bool check_has_threads(const struct ir_kernel *kernel);

// Return the steps after which a run of a case hangs, its definition, too.
uint64_t check_most_steps(const struct check *check,
                          const struct check_case *one);

// Return how many blocks of a case are run, 0 for all.
uint64_t check_sample(const struct check *check, const struct variant *v,
                      const struct check_case *one);

// Return how to run a case of a variant in an order, but for the blocks that are
// resident, and how many of them there are to be, where they tell each other
// something: one, which waits for no block behind it, or as many as may be.
struct simt_run check_how(const struct check *check, const struct variant *v,
                          const struct check_case *one,
                          const struct check_order *order);
uint32_t check_resident(const struct simt_code *code,
                        const struct check_order *order);

// Return the code of a variant for the executor, in the child; NULL after
// reporting.
struct simt_code *check_compile(const struct check *check,
                                const struct check_variant *v, struct arena *a,
                                struct diag_list *diags);

// Return how the results of a case are compared.
struct equivalence check_equivalence(const struct check *check,
                                     const struct check_variant *v,
                                     const struct check_case *one);

// Fill in what blocks that did not run would have written; requires `want`.
void check_complete(const struct check_case *one, struct eval_argument *got);

// Compile a variant and run it on its cases from the given one on under the
// policies, in a child; what it finds joins what was found before.
void check_variant_run(struct check *check, struct check_variant *v,
                       size_t first);

// Find out what led to a fault, in a child.  Returns NULL if that is not known.
const struct check_trace *check_trace(struct check *check,
                                      const struct check_variant *v,
                                      const struct check_finding *f);

// Add the trace of a fault to the newest diagnostic.
void check_tell_trace(const struct check *check, const struct check_variant *v,
                      const struct check_trace *trace);

// Set what led to a fault.
void check_set_trace(json_t *object, const struct check_variant *v,
                     const struct check_trace *trace);

// Report what was found as diagnostics of the compilation.
// Returns whether there are faults.
bool check_tell(struct check *check);

// Keep what the kernel has printed in a run, as far as there is room for whole lines,
// and free it.
void check_keep_printed(struct check_shared *s, struct buf *printed);
// Append it, with a line in front that says at which sizes; nothing if there is none.
void check_print_printed(const struct check *check,
                         const struct check_variant *v, struct buf *out);

// Return a copy of a text in shared memory; "" if there is no room.
const char *check_share_text(struct check_shared *s, const char *text);

// Add what ran since the last call, in the child.
void check_cover(struct check_shared *s, const struct simt_code *code);

// Add how much of a variant ran.
void check_add_coverage(struct arena *a, const struct check_variant *v,
                        struct check_coverage *out);

// Append a line that says how much ran.
void check_print_coverage(const struct check_coverage *c, struct buf *out);

// Warn that stores of a variant never ran.  Returns whether that is an error.
bool check_tell_unreached(struct check *check, const struct check_variant *v);

// Return how much of a variant ran, and what did not.
json_t *check_coverage_json(struct arena *a, const struct check_variant *v);

// Return whether two places are the same.
bool check_same_place(const struct simt_place *a, const struct simt_place *b);

// Return a place in the source, no place if it is unknown.
struct span check_span(const struct compilation *c, const struct simt_place *p);

// Set the members that say where something is; none if that is unknown.
void check_set_place(json_t *object, const struct simt_place *p);

// Set the members that say which thread it was.
void check_set_thread(json_t *object, const struct simt_thread *t);

// Set the members that say which element it was.
void check_set_element(json_t *object, const struct simt_finding *f);

// Set the directive that made something, if one did.
void check_set_schedule(json_t *object, const struct simt_place *p);

// Return whether two findings tell the same of different runs.
bool check_same(const struct check_finding *a, const struct check_finding *b);

// Return whether an earlier variant of the kernel showed the same.
bool check_is_told(const struct check *check, const struct check_variant *v,
                   const struct check_finding *f);

// Return the variants of the kernel that show a finding, "variants a, b".
const char *check_variants_text(const struct check *check,
                                const struct check_variant *v,
                                const struct check_finding *f);

// Return whether a finding is no fault.
bool check_is_note(const struct check_finding *f);

// Append what the accesses of each variant cost, at its largest sizes.
void check_print_costs(const struct check *check, struct buf *out);

// Append what is proved of the accesses of each variant.
void check_print_proofs(const struct check *check, struct buf *out);

// Append a line for each kernel.
void check_print(const struct check *check, struct buf *out);

// Return what was checked and found.
json_t *check_json(const struct check *check);

#endif
