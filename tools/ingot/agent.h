// `ingot agent`, in parts: the kernel that is measured, and what is asked of it.

#ifndef TOOLS_INGOT_AGENT_H
#define TOOLS_INGOT_AGENT_H

#include "tools/ingot/agent_opening.h"
#include "tools/ingot/agent_phases.h"
#include "tools/ingot/run.h"
#include "tools/ingot/way.h"
#include "tools/ingot/wire.h"

// A kernel on the GPU, with its data.
struct agent_kernel {
    struct run_options options;
    struct compilation c;
    struct run_kernel kernel;
    struct run run;
    struct device device;
    bool is_open;
};

// What the agent knows.
struct agent {
    struct wire wire;
    struct agent_opening opening; // of the driver, which is there behind it
    struct driver driver;
    const char *driver_path; // NULL: the system's
    struct arena arena;      // of the problem
    struct way_source source;
    struct problem_options problem;
    bool has_problem;
    double most_work;           // operations that a reference may take
    struct agent_kernel first;  // what the others are timed beside
    struct agent_kernel model;  // has computed `want`, if `first` has not
    struct eval_argument *want; // what results are compared with, or NULL
    struct eval_argument *room; // for results that are compared, one after the
                                // other; NULL: there is none yet
    struct agent_phases phases; // of the request
};

// How measuring ended; as text in agent_end_text.
enum agent_end {
    AGENT_MEASURED, // it is right, and timed
    AGENT_REFUSED,  // it cannot be compiled or launched
    AGENT_WRONG,    // its results differ, or it wrote beside its arrays
    AGENT_FAULT,    // the GPU gave up on it, and on the process
};

// What came of measuring.
struct agent_result {
    enum agent_end end;
    const char *why; // in the arena of the agent; NULL if it was measured
    double us, base; // of it and of the first, in the same turns
    double ratio, spread;
    size_t turns;
    const char *checked; // of a reference: "right", "unknown"; NULL
};

// Take a problem.  Returns NULL, or why not; `reference` becomes who has computed
// the results: "eval", "host", or "none" where that takes too long.
const char *agent_problem(struct agent *a, const json_t *request,
                          const char **reference);

// Take a kernel whose results are those that others are compared with.
struct agent_result agent_reference(struct agent *a, const struct way *w,
                                    const struct wire_message *m);

// Take the kernel that others are timed beside.
struct agent_result agent_first(struct agent *a, const struct way *w,
                                const struct wire_message *m);

// Compare and time a kernel in turns with the first.
struct agent_result agent_measure(struct agent *a, const struct way *w,
                                  const struct wire_message *m);

// Release all of a problem.
void agent_forget(struct agent *a);

#endif
