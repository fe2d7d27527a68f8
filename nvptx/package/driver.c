// Finds which drivers an artefact needs.
//
// On a GPU it needs a driver that takes one of its images, and that can do what the launches
// in it ask for; never an older one than the first that knows the GPU.

#include "nvptx/package/driver.h"

#include "ir/launch_attribute.h"
#include "nvptx/package/ladder.h"
#include "nvptx/package/ptx_text.h"

#include <limits.h>
#include <stdlib.h>

// The rows of needs.def.
enum need {
#define NEED(name, cuda, what) NEED_##name,
#include "nvptx/package/needs.def"
#undef NEED
};
static const struct {
    int cuda;
    const char *what;
} needs[] = {
#define NEED(name, cuda, what) {cuda, what},
#include "nvptx/package/needs.def"
#undef NEED
};

// Return the newest that the launches of an image need.
static enum need launches_need(const struct plan *plan, size_t image)
{
    enum need most = NEED_runtime;
    vec_foreach(entry, &plan->entries) {
        const struct ir_launch *launch = entry->launch;
        if (!plan_needs(&plan->package->images[image], launch->name))
            continue;
        if (attribute_in(launch->attributes, ATTRIBUTE_cooperative) &&
            most < NEED_cooperative)
            most = NEED_cooperative;
        if (entry->has_maps)
            most = NEED_tensor_maps;
    }
    return most;
}

// Return why an image needs a driver, in words.
static const char *image_why(struct arena *a, const struct fatbin_image *image,
                             int ptxas)
{
    char name[IMAGE_NAME_SIZE];
    unsigned version = ptx_version(image->bytes, image->size);
    image_name(image->kind, image->sm, image->suffix, name);
    return image->kind == IMAGE_PTX
               ? arena_printf(a, "%s, PTX of version %u.%u", name, version / 10,
                              version % 10)
               : arena_printf(a, "%s, made by the ptxas of CUDA %d", name,
                              ptxas);
}

// Return what a GPU needs to run one image; `oldest` is 0 if it cannot.
static struct driver_need on_image(struct arena *a, const struct plan *plan,
                                   const struct ladder_gpu *gpu, size_t i,
                                   int ptxas)
{
    const struct fatbin_image *image = &plan->images[i];
    enum need need = launches_need(plan, i);
    int cuda = ladder_cuda(gpu, image, ptxas);
    if (!cuda)
        return (struct driver_need){0};
    if (needs[need].cuda >= cuda && needs[need].cuda > gpu->cuda)
        return (struct driver_need){needs[need].cuda, needs[need].cuda,
                                    needs[need].what};
    if (cuda > gpu->cuda)
        return (struct driver_need){cuda, cuda, image_why(a, image, ptxas)};
    return (struct driver_need){cuda, 0,
                                arena_printf(a, "compute capability %u.%u",
                                             gpu->sm / 10, gpu->sm % 10)};
}

// Return what a GPU needs: that of the image that needs least.
static struct driver_need on_gpu(struct arena *a, const struct plan *plan,
                                 const struct ladder_gpu *gpu, int ptxas)
{
    struct driver_need least = {0};
    for (size_t i = 0; i < plan->package->n_images; i++) {
        struct driver_need one = on_image(a, plan, gpu, i, ptxas);
        if (one.oldest && (!least.oldest || one.oldest < least.oldest))
            least = one;
    }
    return least;
}

struct driver_need driver_need(struct arena *a, const struct plan *plan)
{
    const char *version = plan->package->ptxas_version;
    int ptxas = version ? atoi(version) : 0;
    struct driver_need least = {.oldest = INT_MAX}, most = {0};
    for (size_t i = 0; i < ladder_gpu_count; i++) {
        struct driver_need one = on_gpu(a, plan, &ladder_gpus[i], ptxas);
        if (one.beyond > most.beyond)
            most = one;
        if (one.oldest && one.oldest < least.oldest)
            least = one;
    }
    if (most.beyond)
        return most;
    return least.oldest < INT_MAX ? least : (struct driver_need){0};
}

const char *driver_release(struct arena *a, int cuda)
{
    int branch = ladder_branch(cuda);
    if (cuda == INT_MAX)
        return "that is newer than those that Ingot knows";
    return branch ? arena_printf(a, "%d.%d (R%d)", cuda / 1000,
                                 cuda % 1000 / 10, branch)
                  : arena_printf(a, "%d.%d", cuda / 1000, cuda % 1000 / 10);
}
