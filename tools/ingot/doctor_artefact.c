// Which GPUs and drivers run a fatbin, and how large it is for each.

#include "tools/ingot/doctor.h"

#include "nvptx/package/driver.h"
#include "nvptx/package/ladder.h"

#include <string.h>

// Append a driver: "R580, CUDA 13.0".
static void print_driver(int cuda, struct buf *out)
{
    int branch = ladder_branch(cuda);
    if (branch)
        buf_printf(out, "R%d, ", branch);
    buf_printf(out, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

// Append the row of a GPU.
static void print_gpu(const struct ladder_gpu *gpu,
                      const struct doctor_artefact *d, struct buf *out)
{
    struct ladder_step s = ladder_find(gpu, &d->what.fatbin, d->ptxas);
    char name[IMAGE_NAME_SIZE] = "-";
    buf_printf(out, "%2u.%u  %-31s ", gpu->sm / 10, gpu->sm % 10, gpu->names);
    if (!s.best) {
        buf_text(out, "none: it cannot run there\n");
        return;
    }
    image_name(s.best->kind, s.best->sm, s.best->suffix, name);
    buf_printf(out, "%-12s %-7s ", name, ladder_rung(gpu, s.best));
    print_driver(s.best_cuda, out);
    if (s.last_cuda < s.best_cuda) {
        image_name(s.last->kind, s.last->sm, s.last->suffix, name);
        buf_printf(out, "; %s from ", name);
        print_driver(s.last_cuda, out);
    }
    buf_char(out, '\n');
}

// Return the bytes of machine code of a kernel in an image; -1: it has none.
static int64_t code_of(struct arena *a, const struct fatbin_image *image,
                       const char *kernel)
{
    size_t n = 0;
    if (image->kind == IMAGE_PTX)
        return -1;
    return elf_code(a, image->bytes, image->size, kernel, &n) ? (int64_t)n : -1;
}

// All kernels of all images, each once.
struct names VEC(const char *);

// Collect the names of all kernels.
static void collect(struct arena *a, const struct doctor_artefact *d,
                    struct names *out)
{
    for (size_t i = 0; i < d->what.fatbin.images.n; i++)
        for (size_t k = 0; k < d->what.usage[i].n; k++) {
            const char *name = d->what.usage[i].at[k].name;
            bool is_new = true;
            for (size_t j = 0; j < out->n; j++)
                is_new = is_new && strcmp(out->at[j], name) != 0;
            if (is_new)
                vec_push(a, out, name);
        }
}

// Append the table of sizes: a column for each image.
static void print_sizes(struct arena *a, const struct doctor_artefact *d,
                        struct buf *out)
{
    struct names names = {0};
    size_t images = d->what.fatbin.images.n;
    const struct fatbin_image *at = d->what.fatbin.images.at;
    collect(a, d, &names);
    buf_printf(out, "%-24s", "bytes");
    for (size_t i = 0; i < images; i++) {
        char name[IMAGE_NAME_SIZE];
        image_name(at[i].kind, at[i].sm, at[i].suffix, name);
        buf_printf(out, " %12s", name);
    }
    for (size_t k = 0; k < names.n; k++) {
        buf_printf(out, "\n%-24s", names.at[k]);
        for (size_t i = 0; i < images; i++) {
            int64_t n = code_of(a, &at[i], names.at[k]);
            if (n < 0)
                buf_printf(out, " %12s", "-");
            else
                buf_printf(out, " %12lld", (long long)n);
        }
    }
    buf_printf(out, "\n%-24s", "whole image");
    for (size_t i = 0; i < images; i++)
        buf_printf(out, " %12zu", at[i].size);
    buf_char(out, '\n');
}

void doctor_print_artefact(struct arena *a, const struct doctor_artefact *d,
                           struct buf *out)
{
    buf_printf(out, "%s\n\n", d->path);
    buf_printf(out, "%-4s  %-31s %-12s %-7s %s\n", "GPU", "such as", "image",
               "how", "oldest driver");
    for (size_t i = 0; i < ladder_gpu_count; i++)
        print_gpu(&ladder_gpus[i], d, out);
    if (d->oldest)
        buf_printf(out,
                   "\nAll of it needs drivers for CUDA %s or newer, for %s.\n",
                   driver_release(a, d->oldest), d->needed_by);
    if (!d->ptxas)
        buf_text(out,
                 "\nWithout its manifest nothing says which ptxas made it: "
                 "drivers for machine code are\nthe first that know the "
                 "GPU, and need be those of that ptxas.\n");
    buf_char(out, '\n');
    print_sizes(a, d, out);
}

// Return an image's name as JSON, null for NULL.
static json_t *image_json(const struct fatbin_image *image)
{
    char name[IMAGE_NAME_SIZE];
    if (!image)
        return json_null();
    image_name(image->kind, image->sm, image->suffix, name);
    return json_string(name);
}

// Return what a GPU gets.
static json_t *gpu_json(const struct ladder_gpu *gpu,
                        const struct doctor_artefact *d)
{
    struct ladder_step s = ladder_find(gpu, &d->what.fatbin, d->ptxas);
    json_t *object = json_pack("{s:i, s:s, s:o}", "sm", (int)gpu->sm, "names",
                               gpu->names, "image", image_json(s.best));
    if (!s.best)
        return object;
    json_object_set_new(object, "how", json_string(ladder_rung(gpu, s.best)));
    json_object_set_new(object, "driver", json_integer(s.best_cuda));
    json_object_set_new(object, "oldest_image", image_json(s.last));
    json_object_set_new(object, "oldest_driver", json_integer(s.last_cuda));
    return object;
}

json_t *doctor_artefact_json(struct arena *a, const struct doctor_artefact *d)
{
    json_t *gpus = json_array(), *sizes = json_array();
    for (size_t i = 0; i < ladder_gpu_count; i++)
        json_array_append_new(gpus, gpu_json(&ladder_gpus[i], d));
    for (size_t i = 0; i < d->what.fatbin.images.n; i++) {
        const struct fatbin_image *image = &d->what.fatbin.images.at[i];
        json_t *kernels = json_object();
        for (size_t k = 0; k < d->what.usage[i].n; k++) {
            const char *name = d->what.usage[i].at[k].name;
            int64_t n = code_of(a, image, name);
            json_object_set_new(kernels, name,
                                n < 0 ? json_null() : json_integer(n));
        }
        json_array_append_new(sizes, json_pack("{s:o, s:I, s:o}", "image",
                                               image_json(image), "bytes",
                                               (json_int_t)image->size,
                                               "kernels", kernels));
    }
    json_t *oldest = d->oldest ? json_integer(d->oldest) : json_null();
    return json_pack("{s:o, s:o, s:s?, s:o}", "gpus", gpus, "oldest_driver",
                     oldest, "needed_by", d->needed_by, "sizes", sizes);
}
