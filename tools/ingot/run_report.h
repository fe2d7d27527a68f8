// What `ingot run` tells.

#ifndef TOOLS_INGOT_RUN_REPORT_H
#define TOOLS_INGOT_RUN_REPORT_H

#include "tools/ingot/compare.h"
#include "tools/ingot/dispatch.h"
#include "tools/ingot/driver.h"
#include "tools/ingot/json.h"
#include "tools/ingot/loaded.h"
#include "tools/ingot/timing.h"

// One run, as far as it came.
struct run_report {
    const struct problem *problem;
    bool is_complete; // it ran to its end; else there are scalars alone
    const struct dispatch *dispatch;
    struct work work;
    const char *no_gpu;          // why the CPU evaluated it; NULL on a GPU
    const char *printed;         // by the kernel, then; or NULL
    const struct driver *driver; // of the GPU, else NULL
    const struct loaded *loaded; // on the GPU, else NULL
    const char *reference;       // "eval", "host" or "none"
    struct VEC(struct comparison) comparisons; // of the results
    bool has_timing;
    struct timing timing;
    size_t sets; // copies of the data that took turns
};

// Append the report as text.
void run_report_print(const struct run_report *r, struct buf *out);

// Return the report as JSON.
json_t *run_report_json(const struct run_report *r);

#endif
