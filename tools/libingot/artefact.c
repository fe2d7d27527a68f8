// Describes a compilation as a package.

#include "tools/libingot/artefact.h"

#include "tools/libingot/recorded.h"

#include <llvm/Config/llvm-config.h>

// Describe the kernel whose variants begin at `first`.
// Returns the number of its variants.
static size_t describe_kernel(struct compilation *c, size_t first,
                              struct package_kernel *out)
{
    const struct variant *v = &c->variants.at[first];
    size_t n = 0;
    while (first + n < c->variants.n && v[n].source == v->source)
        n++;
    const struct ir_kernel **variants =
        arena_array(&c->arena, const struct ir_kernel *, n);
    for (size_t i = 0; i < n; i++)
        variants[i] = v[i].kernel;
    *out = (struct package_kernel){v->source, variants, n,
                                   recorded_hash(v->source)};
    return n;
}

// Describe one image.
static struct package_image describe_image(struct compilation *c,
                                           const struct compiled_image *image)
{
    struct package_image out = {.kind = image->kind,
                                .sm = image->target->number,
                                .suffix = image->target->kind,
                                .bytes = image->bytes,
                                .size = image->size,
                                .usage = image->usage};
    out.entries = compile_entries(c, image->target, &out.n_entries);
    return out;
}

struct package artefact_package(struct compilation *c, const char *name,
                                const char *source, const struct ptxas *ptxas)
{
    struct package_kernel *kernels =
        arena_array(&c->arena, struct package_kernel, c->variants.n);
    struct package_image *images =
        arena_array(&c->arena, struct package_image, c->images.n);
    size_t n_kernels = 0;
    for (size_t i = 0; i < c->variants.n; n_kernels++)
        i += describe_kernel(c, i, &kernels[n_kernels]);
    for (size_t i = 0; i < c->images.n; i++)
        images[i] = describe_image(c, &c->images.at[i]);
    return (struct package){.name = name,
                            .source = source,
                            .kernels = kernels,
                            .n_kernels = n_kernels,
                            .images = images,
                            .n_images = c->images.n,
                            .ingot_version = INGOT_VERSION,
                            .llvm_version = LLVM_VERSION_STRING,
                            .ptxas_version = ptxas ? ptxas->version : NULL};
}
