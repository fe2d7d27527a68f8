// Which image of a fatbin a GPU gets, and how old its driver may be.
//
//   for (size_t i = 0; i < ladder_gpu_count; i++) {
//       struct ladder_step s = ladder_find(&ladder_gpus[i], &fatbin, 13);
//       use(s.best, s.best_cuda, s.last, s.last_cuda);
//   }

#ifndef NVPTX_PACKAGE_LADDER_H
#define NVPTX_PACKAGE_LADDER_H

#include "nvptx/package/fatbin.h"

// GPUs of one architecture.
struct ladder_gpu {
    unsigned sm;       // 90 for compute capability 9.0
    int cuda;          // the first release that knows them, 11080 for 11.8
    const char *names; // "H100, H200"
};
extern const struct ladder_gpu ladder_gpus[];
extern const size_t ladder_gpu_count;

// What a GPU gets.
struct ladder_step {
    const struct fatbin_image
        *best;     // the image that is tried first; NULL: none
    int best_cuda; // the oldest driver that takes it
    const struct fatbin_image *last; // what the oldest drivers get instead
    int last_cuda;                   // and how old these may be
};

// Find what a GPU gets of a fatbin whose machine code the ptxas of CUDA `ptxas` made:
// the major number, 0 if it is not known.  The order is the runtime's (runtime/ingot.c).
struct ladder_step ladder_find(const struct ladder_gpu *gpu,
                               const struct fatbin *fatbin, int ptxas);

// Return the first CUDA release whose driver runs an image on a GPU, 0 if it is for other
// GPUs, INT_MAX if it is newer than all of cuda.def.  `ptxas` is as above.
int ladder_cuda(const struct ladder_gpu *gpu, const struct fatbin_image *image,
                int ptxas);

// Return in a word how an image serves a GPU: "exact", "family" or "JIT".
const char *ladder_rung(const struct ladder_gpu *gpu,
                        const struct fatbin_image *image);

// Return the branch of drivers that a CUDA release began, 580 for 13000; 0 for one that
// is not known.
int ladder_branch(int cuda);

#endif
