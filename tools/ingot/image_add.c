// Adds images to an artefact: machine code that ptxas makes of its PTX, or the images of
// another build.

#include "tools/ingot/image.h"

#include "nvptx/package/ladder.h"
#include "nvptx/ptxas.h"
#include "tools/ingot/cli.h"
#include "tools/ingot/json.h"

#include <string.h>

enum {
    FIRST_THAT_WAITS = 90
}; // PTX from here on waits for the kernel before it

// Put an image behind those of its kind; PTX is last.
static void insert(struct arena *a, struct change *change,
                   struct fatbin_image image, struct usage_list usage)
{
    size_t at = change->images.n;
    while (image.kind == IMAGE_CUBIN && at > 0 &&
           change->images.at[at - 1].kind == IMAGE_PTX)
        at--;
    vec_push(a, &change->images, image);
    vec_push(a, &change->usage, usage);
    for (size_t i = change->images.n - 1; i > at; i--) {
        change->images.at[i] = change->images.at[i - 1];
        change->usage.at[i] = change->usage.at[i - 1];
    }
    change->images.at[at] = image;
    change->usage.at[at] = usage;
}

// Report an image that is there already.  Returns whether it is not.
static bool is_new(const struct artefact *artefact, const char *name,
                   struct diag_list *diags)
{
    if (artefact_find(artefact, name) == artefact->what.fatbin.images.n)
        return true;
    diag_error(diags, (struct span){0}, D_image_there, artefact->path, name);
    return false;
}

// ---- Of PTX ---------------------------------------------------------------

// Return whether ptxas makes code for a target of PTX: that of one architecture, or of
// one family, needs a target that is of it.
static bool takes(const struct nvptx_target *target,
                  const struct fatbin_image *image)
{
    if (image->kind != IMAGE_PTX)
        return false;
    if (image->suffix == 'a')
        return target->kind == 'a';
    return !image->suffix || target->kind;
}

// Return the PTX of an artefact that is best for a target, or NULL.
static const struct fatbin_image *ptx_for(struct arena *a,
                                          const struct artefact *artefact,
                                          const struct nvptx_target *target)
{
    const struct ladder_gpu gpu = {target->number, 0, ""};
    struct fatbin all = {0};
    for (size_t i = 0; i < artefact->what.fatbin.images.n; i++)
        if (takes(target, &artefact->what.fatbin.images.at[i]))
            vec_push(a, &all.images, artefact->what.fatbin.images.at[i]);
    return ladder_find(&gpu, &all, 0).best;
}

// Return what ptxas is to make of PTX.
static struct ptxas_job job_of(struct arena *a, const struct fatbin_image *ptx,
                               const struct nvptx_target *target)
{
    struct usage_list kernels = {0};
    fatbin_kernels(a, ptx, &kernels);
    const char **entries = arena_array(a, const char *, kernels.n);
    for (size_t i = 0; i < kernels.n; i++)
        entries[i] = kernels.at[i].name;
    return (struct ptxas_job){.target = target,
                              .ptx = ptx->bytes,
                              .ptx_size = ptx->size,
                              .entries = entries,
                              .n_entries = kernels.n};
}

// Find out what is to be made for the image of that name.
// Returns false after reporting.
static bool plan_job(struct image_request *r, const char *name,
                     struct diag_list *diags, struct ptxas_job *job)
{
    const struct inspect_file manifest = {
        r->artefact.beside, r->artefact.manifest.data, r->artefact.manifest.n};
    const struct nvptx_target *target = nvptx_target_find(name, diags);
    if (!target || !is_new(&r->artefact, name, diags))
        return false;
    const struct fatbin_image *ptx = ptx_for(r->arena, &r->artefact, target);
    if (!ptx) {
        diag_error(diags, (struct span){0}, D_image_no_ptx, r->artefact.path,
                   name);
        return false;
    }
    const char *waiting = change_waiting(r->arena, &manifest);
    if (waiting && ptx->sm < FIRST_THAT_WAITS &&
        target->number >= FIRST_THAT_WAITS) {
        diag_error(diags, (struct span){0}, D_image_waits, waiting, name);
        return false;
    }
    *job = job_of(r->arena, ptx, target);
    return true;
}

// Add machine code for each architecture that was named.
// Returns false after reporting.
static bool add_assembled(struct image_request *r, struct diag_list *diags,
                          struct change *change)
{
    struct ptxas_job *jobs =
        arena_array(r->arena, struct ptxas_job, r->names.n);
    struct toolchain tools;
    struct ptxas tool = {.limit_ms = r->ptxas_limit_ms};
    for (size_t i = 0; i < r->names.n; i++)
        if (!plan_job(r, r->names.at[i], diags, &jobs[i]))
            return false;
    toolchain_start(&tools, r->cuda);
    tool.path = toolchain_find(&tools, r->arena, "ptxas", diags);
    if (!tool.path || !ptxas_run(r->arena, &tool, jobs, r->names.n, diags))
        return false;
    change->ptxas = ptxas_version(r->arena, &tool);
    for (size_t i = 0; i < r->names.n; i++)
        insert(r->arena, change,
               (struct fatbin_image){.kind = IMAGE_CUBIN,
                                     .sm = jobs[i].target->number,
                                     .suffix = jobs[i].target->kind,
                                     .bytes = jobs[i].cubin,
                                     .size = jobs[i].cubin_size},
               jobs[i].usage);
    return true;
}

// ---- Of another build -----------------------------------------------------

// Name all images of another build that the artefact lacks.
static void name_all(struct image_request *r, const struct artefact *other)
{
    for (size_t i = 0; i < other->what.fatbin.images.n; i++) {
        const struct fatbin_image *image = &other->what.fatbin.images.at[i];
        char name[IMAGE_NAME_SIZE];
        image_name(image->kind, image->sm, image->suffix, name);
        if (artefact_find(&r->artefact, name) ==
            r->artefact.what.fatbin.images.n)
            vec_push(r->arena, &r->names, arena_printf(r->arena, "%s", name));
    }
}

// Add an image of another build.  Returns false after reporting.
static bool add_other(struct image_request *r, const struct artefact *other,
                      const char *name, struct diag_list *diags,
                      struct change *change)
{
    const struct inspect_file ours = {
        r->artefact.beside, r->artefact.manifest.data, r->artefact.manifest.n};
    const struct inspect_file theirs = {other->beside, other->manifest.data,
                                        other->manifest.n};
    size_t i = artefact_find(other, name);
    if (i == other->what.fatbin.images.n) {
        artefact_lacks(other, name, diags);
        return false;
    }
    if (!is_new(&r->artefact, name, diags))
        return false;
    const char *fault =
        change_fault(r->arena, &ours, &theirs, &other->what.usage[i]);
    if (fault)
        diag_error(diags, (struct span){0}, D_image_foreign, other->path,
                   r->artefact.path, fault);
    else
        insert(r->arena, change, other->what.fatbin.images.at[i],
               other->what.usage[i]);
    return !fault;
}

// Return the ptxas that a manifest names, or NULL.
static const char *ptxas_of(struct arena *a, const struct buf *manifest)
{
    json_t *root = json_loadb(manifest->data, manifest->n, 0, NULL);
    const char *said = json_string_value(
        json_object_get(json_object_get(root, "tools"), "ptxas"));
    said = said ? arena_printf(a, "%s", said) : NULL;
    json_decref(root);
    return said;
}

// Return whether an artefact has a manifest; reports that there is none.
static bool has_manifest(struct artefact *artefact, struct diag_list *diags)
{
    return artefact->manifest.n ||
           cli_read(artefact->beside, &artefact->manifest, diags);
}

// Add those images of another build that were named, or all.
// Returns false after reporting.
static bool add_others(struct image_request *r, struct diag_list *diags,
                       struct change *change)
{
    struct artefact *other = &r->other;
    bool ok = artefact_read(r->arena, r->from, diags, other) &&
              has_manifest(other, diags);
    if (ok && !r->names.n)
        name_all(r, other);
    for (size_t i = 0; ok && i < r->names.n; i++)
        ok = add_other(r, other, r->names.at[i], diags, change);
    if (ok)
        change->ptxas = ptxas_of(r->arena, &other->manifest);
    return ok;
}

bool image_add(struct image_request *r, struct diag_list *diags,
               struct change *change)
{
    if (!has_manifest(&r->artefact, diags))
        return false;
    change->manifest = (struct inspect_file){
        r->artefact.beside, r->artefact.manifest.data, r->artefact.manifest.n};
    return r->from ? add_others(r, diags, change)
                   : add_assembled(r, diags, change);
}
