// Which image of a fatbin a GPU gets.

#include "nvptx/package/ladder.h"

#include "nvptx/package/ptx_text.h"

#include <limits.h>
#include <stdbool.h>

const struct ladder_gpu ladder_gpus[] = {
#define GPU(sm, cuda, names) {sm, cuda, names},
#include "nvptx/package/gpus.def"
#undef GPU
};
const size_t ladder_gpu_count = sizeof ladder_gpus / sizeof *ladder_gpus;

// A row of cuda.def.
struct release {
    int cuda;
    unsigned ptx;
    int branch;
};
static const struct release releases[] = {
#define CUDA(cuda, ptx, branch) {cuda, ptx, branch},
#include "nvptx/package/cuda.def"
#undef CUDA
};
enum { RELEASES = sizeof releases / sizeof *releases };

// Machine code is better than any PTX, whose architectures are below this.
enum { CODE = 1 << 16 };

// Return how well an image fits a GPU, 0 if it does not.
static unsigned fitness(unsigned sm, const struct fatbin_image *image)
{
    unsigned kind = image->suffix == 'a' ? 2 : image->suffix == 'f' ? 1 : 0;
    bool fits = image->sm == sm;
    if (image->sm < sm && image->suffix != 'a')
        fits = (image->kind == IMAGE_PTX && !image->suffix) ||
               image->sm / 10 == sm / 10;
    if (!fits)
        return 0;
    return (image->kind == IMAGE_CUBIN ? CODE : 0) + image->sm * 4 + kind;
}

// Return the first CUDA release whose driver takes an image.
static int oldest(const struct fatbin_image *image, int ptxas)
{
    if (image->kind == IMAGE_CUBIN)
        return ptxas * 1000;
    unsigned version = ptx_version(image->bytes, image->size);
    for (int i = 0; i < RELEASES; i++)
        if (releases[i].ptx >= version)
            return releases[i].cuda;
    return INT_MAX;
}

int ladder_cuda(const struct ladder_gpu *gpu, const struct fatbin_image *image,
                int ptxas)
{
    int cuda = oldest(image, ptxas);
    if (!fitness(gpu->sm, image))
        return 0;
    return cuda < gpu->cuda ? gpu->cuda : cuda;
}

struct ladder_step ladder_find(const struct ladder_gpu *gpu,
                               const struct fatbin *fatbin, int ptxas)
{
    struct ladder_step s = {.last_cuda = INT_MAX};
    unsigned best = 0;
    for (size_t i = 0; i < fatbin->images.n; i++) {
        const struct fatbin_image *image = &fatbin->images.at[i];
        unsigned fit = fitness(gpu->sm, image);
        int cuda = ladder_cuda(gpu, image, ptxas);
        if (!fit)
            continue;
        if (fit > best) {
            best = fit;
            s.best = image;
            s.best_cuda = cuda;
        }
        if (cuda < s.last_cuda) {
            s.last = image;
            s.last_cuda = cuda;
        }
    }
    return s;
}

const char *ladder_rung(const struct ladder_gpu *gpu,
                        const struct fatbin_image *image)
{
    if (image->kind == IMAGE_PTX)
        return "JIT";
    return image->sm == gpu->sm ? "exact" : "family";
}

int ladder_branch(int cuda)
{
    for (int i = 0; i < RELEASES; i++)
        if (releases[i].cuda == cuda)
            return releases[i].branch;
    return 0;
}
