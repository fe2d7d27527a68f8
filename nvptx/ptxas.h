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
    int64_t timeout_ms;  // of each job; 0: a minute
    const char *version; // "13.0.88", set by ptxas_run; NULL if it did not say
};

// One PTX text for one architecture.
struct ptxas_job {
    const struct nvptx_target *target;
    const char *ptx; // the text
    size_t ptx_size;
    const char *const *entries; // kernels that must be in the cubin
    size_t n_entries;

    const void *cubin; // the result, in the arena
    size_t cubin_size;
    struct usage_list usage; // of every kernel of the cubin
    double ms;               // that it took
};

// Assemble all jobs.
// Returns false, after reporting every job that failed, if any did.
bool ptxas_run(struct arena *a, struct ptxas *tool, struct ptxas_job *jobs,
               size_t n, struct diag_list *diags);

#endif
