// Runs the code that becomes PTX on this machine, one fiber for each thread
// of a block, and reports what a GPU would do wrong in silence.
//
//   struct simt_code *code = simt_compile(arena, kernel, &options, diags);
//   if (code && simt_run(code, arguments, &run, &result))
//       ... result.findings ...
//   simt_free(code);
//
// The input is the optimised LLVM module that the NVPTX backend would get.
// What is left untested is that backend, ptxas and the GPU.

#ifndef TOOLS_SIMT_SIMT_H
#define TOOLS_SIMT_SIMT_H

#include "ir/base/diag.h"
#include "ir/eval.h"
#include "ir/ir.h"
#include "nvptx/nvptx.h"

// In which order the threads of a block run: policies.def.
enum simt_policy {
#define POLICY(name, spelling, arrival, meaning) SIMT_##name,
#include "tools/simt/policies.def"
#undef POLICY
    SIMT_POLICIES
};

// What can be found: faults.def.
enum simt_fault {
#define FAULT(name, spelling, severity, text) SIMT_FAULT_##name,
#include "tools/simt/faults.def"
#undef FAULT
    SIMT_FAULTS
};

enum simt_severity { SIMT_NOTE, SIMT_ERROR };

// What of the code is counted when it runs: points.def.
enum simt_point_kind {
#define POINT(name, spelling, one, writes) SIMT_POINT_##name,
#include "tools/simt/points.def"
#undef POINT
    SIMT_POINTS
};

// What would have put two accesses in order that meet: missing.def.
enum simt_missing {
    SIMT_MISSING_nothing, // no fence alone
#define MISSING(name, is_wide, releases, acquires, text) SIMT_MISSING_##name,
#include "tools/simt/missing.def"
#undef MISSING
};

// What a trace tells of: events.def.
enum simt_event_kind {
#define EVENT(name, spelling, text) SIMT_EVENT_##name,
#include "tools/simt/events.def"
#undef EVENT
    SIMT_EVENTS
};

// How to compile.
struct simt_options {
    const struct nvptx_target *target;
    bool fast_math;
    unsigned opt_level;    // of the module, as for PTX
    const void *libdevice; // bitcode, or NULL
    size_t libdevice_size; // bytes
    bool is_unchecked;     // fast: finds nothing but hangs and divergence
    bool is_brief;         // runs of it are short: machine code comes quickly
    bool is_covered;       // what runs is counted, see simt_points
    const char *module;    // LLVM IR to run in the place of the kernel's, which
                           // has the same entries; NULL: none
};

// How to run.
struct simt_run {
    enum simt_policy policy;
    uint64_t seed;        // of the random decisions
    uint64_t most_steps;  // accesses and iterations of loops; 0: 10^10
    uint64_t most_blocks; // of each launch, spread over the grid; 0: all.
                          // What the others would write counts as written
    uint32_t resident;    // blocks of a launch at a time, where they may
                          // synchronise by atomics; 0: one
    size_t choice;        // of the orders of atomics that the last run without
                          // one has shown, from 1: turned round; 0: none is
    struct simt_trace *trace; // to be filled, or NULL
    struct buf *printed;      // what the kernel prints is appended; or NULL
};

// A place in the source; line 0: unknown, or none.
struct simt_place {
    const char *file; // lives as long as the code
    unsigned line, column;
};

// An instruction that is counted, one way of a branch, or a loop; the code has
// several where the compiler made copies.
struct simt_point {
    enum simt_point_kind kind;
    uint32_t bytes;             // of a load or store
    struct simt_place place;    // in the kernel
    struct simt_place schedule; // of the directive that made it
    uint64_t count;             // how often threads came by, in all runs
    uint64_t most;              // of a loop: iterations that one thread made
};

// A thread of a launch.
struct simt_thread {
    uint64_t block[3];
    uint32_t thread[3];
};

enum { SIMT_RANK_MOST = 8, SIMT_FINDINGS_MOST = 32 };

// One fault; the same fault at the same places is counted, not repeated.
struct simt_finding {
    enum simt_fault fault;
    uint64_t count;             // how often
    const char *entry;          // the launch; lives as long as the code
    struct simt_place place;    // of the access or barrier, in the kernel
    struct simt_place schedule; // of the directive that made it
    struct simt_thread thread;  // that did it
    bool has_other;             // a second thread has a part in it
    struct simt_place other;    // its access or barrier
    struct simt_place other_schedule;
    struct simt_thread other_thread;
    enum simt_missing missing;      // of a race
    uint64_t unbegun;               // of a hang: blocks that had no room
    const char *array;              // NULL: no array is near, or none is meant
    const struct ir_buffer *buffer; // of the kernel, or NULL
    int64_t element;                // from the start of the array
    uint32_t rank;                  // of the indices, 0: `element` alone
    int64_t indices[SIMT_RANK_MOST];
    uint32_t bytes; // of the access
    bool is_write, other_is_write;
    enum space space;
};

enum { SIMT_TRACE_MOST = 20, SIMT_VALUE_BYTES = 16 };

// An access, or a meeting of threads.
struct simt_event {
    enum simt_event_kind kind;
    struct simt_finding at; // the thread, of a meeting one of them; the place;
                            // the element; how many after another are the same
    bool is_operand;        // of another element than the trace
    uint32_t bytes;         // of its values; 0: they are not known
    unsigned char before[SIMT_VALUE_BYTES], after[SIMT_VALUE_BYTES];
};

// The last accesses of one element in a run, in their order, and meetings of
// threads between them.
struct simt_trace {
    const struct simt_finding *of; // of an earlier run that was the same: the
                                   // trace ends there; NULL: with the run
    const char *array;             // by its name
    int64_t element;
    const struct simt_thread *reader; // what it reads before its last write of
                                      // the element is told, too; NULL: nobody
    struct simt_event events[SIMT_TRACE_MOST];
    size_t n, left_out;
};

// What came of a run.
struct simt_result {
    struct simt_finding findings[SIMT_FINDINGS_MOST];
    size_t n;
    size_t lost;       // findings beyond the most
    uint64_t accesses; // checked
    uint64_t steps;    // these, and elements that matrix multiplications move
    uint64_t barriers; // of blocks, each counted once
    uint64_t blocks;
    size_t choices; // orders of atomics that may be turned round
    uint64_t pairs; // of blocks of a launch that accessed a common element
    double seconds;
    bool is_stopped; // by a hang or a divergence: results are incomplete
};

// A kernel compiled for this machine.
struct simt_code;

// Emit a kernel at level flat and compile it for this machine.
// Returns NULL after reporting an error.  A fault inside LLVM may end the
// process: callers that must go on run it in a child.
struct simt_code *simt_compile(struct arena *a, const struct ir_kernel *kernel,
                               const struct simt_options *options,
                               struct diag_list *diags);
void simt_free(struct simt_code *code);

// Run all launches of the kernel, in order, on arguments as ir_eval takes
// them; arrays are changed.  Results must not hold what they should: they
// count as undefined.
// Returns false after reporting that it cannot be run: out of memory, or a
// grid that a GPU would not take.  Findings are in `out`, most severe first.
bool simt_run(struct simt_code *code, const struct eval_argument *arguments,
              const struct simt_run *run, struct simt_result *out,
              struct diag_list *diags);

// Return how many blocks of a launch may run at a time: one, unless they may
// synchronise by atomics.
uint32_t simt_resident_most(const struct simt_code *code);

// Return how many points the code has; `points` are theirs, whose counts the
// caller may set.
size_t simt_points(const struct simt_code *code,
                   struct simt_point *const **points);

// Names and texts of the tables.
const char *simt_policy_name(enum simt_policy p); // "warp-contiguous"
bool simt_policy_find(const char *name, enum simt_policy *out);
const char *simt_fault_name(enum simt_fault f); // "race-block"
const char *simt_fault_text(enum simt_fault f);
const char *simt_missing_name(enum simt_missing m); // "acquire"; NULL: nothing
const char *simt_missing_text(enum simt_missing m);
enum simt_severity simt_fault_severity(enum simt_fault f);
const char *simt_event_name(enum simt_event_kind kind); // "end-write"
const char *simt_event_text(enum simt_event_kind kind); // "has written"
const char *simt_point_name(enum simt_point_kind kind); // "stores"
const char *simt_point_one(enum simt_point_kind kind);  // "store"
bool simt_point_writes(enum simt_point_kind kind);

#endif
