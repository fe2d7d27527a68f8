// PTX to cubins: runs NVIDIA's assembler for several architectures at once.
//
//   struct ptxas tool = {.path = "/usr/local/cuda/bin/ptxas"};
//   struct ptxas_job jobs[] = {{.target = sm_80, .ptx = text, ...}, ...};
//   if (ptxas_run(arena, &tool, jobs, n, diags))
//       use(jobs[0].cubin, jobs[0].cubin_size, &jobs[0].usage);
//
// Nothing that ptxas says of itself is believed: a cubin counts only if it
// reads as one, is for the architecture asked for and holds every kernel.

#ifndef NVPTX_PTXAS_H
#define NVPTX_PTXAS_H

#include "ir/base/diag.h"
#include "nvptx/nvptx.h"
#include "nvptx/package/elf.h"

#include <stdbool.h>

// The assembler.
struct ptxas {
    const char *path;
    int64_t limit_ms;    // of each job, see process.h; 0: ten minutes
    const char *version; // "13.0.88", what ptxas_version returned, or NULL
};

// What ptxas says of a kernel by number: "(C7511) ...".
struct ptxas_remark {
    int number;        // 7511
    const char *text;  // what stands behind it
    const char *entry; // the kernel; NULL: not known
    int64_t line;      // of the PTX; 0: not known
};
struct ptxas_remarks VEC(struct ptxas_remark);

// One PTX text for one architecture.
struct ptxas_job {
    const struct nvptx_target *target;
    const char *ptx; // the text
    size_t ptx_size;
    const char *const *entries; // kernels that must be in the cubin
    const struct span *places;  // what made each of them, or NULL
    size_t n_entries;

    const void *cubin; // the result, in the arena
    size_t cubin_size;
    struct usage_list usage; // of every kernel of the cubin
    struct ptxas_remarks remarks;
    double ms; // that it took
};

// Assemble all jobs.  Returns false, after reporting, if any failed or if
// ptxas ignored what a schedule asks for; then the others, and those, have
// their results all the same.
bool ptxas_run(struct arena *a, const struct ptxas *tool,
               struct ptxas_job *jobs, size_t n, struct diag_list *diags);

// Ask for the version, such as "13.0.88"; NULL if it does not say.
const char *ptxas_version(struct arena *a, const struct ptxas *tool);

#endif
