// Makes the runtime's tables from a package.

#include "tools/ingot/loaded.h"

_Static_assert(INGOT_PROGRAMMATIC == 1 << ATTRIBUTE_programmatic &&
                   INGOT_COOPERATIVE == 1 << ATTRIBUTE_cooperative,
               "launch attributes have the same bits in the runtime");

// Return the table of images, as the fatbin has them.
static const struct ingot_image *images_of(struct arena *a,
                                           const struct fatbin *fatbin)
{
    struct ingot_image *images =
        arena_array(a, struct ingot_image, fatbin->images.n);
    for (size_t i = 0; i < fatbin->images.n; i++) {
        const struct fatbin_image *image = &fatbin->images.at[i];
        images[i] = (struct ingot_image){.kind = (uint32_t)image->kind,
                                         .sm = image->sm,
                                         .suffix = image->suffix,
                                         .offset = image->offset,
                                         .size = image->padded,
                                         .hash = image->hash};
    }
    return images;
}

// Return the table of entries.
static const struct ingot_entry *entries_of(struct arena *a,
                                            const struct plan *plan)
{
    struct ingot_entry *entries =
        arena_array(a, struct ingot_entry, plan->entries.n);
    for (size_t i = 0; i < plan->entries.n; i++) {
        const struct plan_entry *e = &plan->entries.at[i];
        entries[i] = (struct ingot_entry){
            .name = e->launch->name,
            .param_count = e->n_parameters,
            .param_sizes = plan->parameter_sizes.at + e->parameters_at,
            .static_shared = (uint32_t)e->shared,
            .max_dynamic_shared = (uint32_t)e->dynamic,
            .max_threads = e->threads,
            .optional = e->is_optional,
            .attributes = e->launch->attributes};
    }
    return entries;
}

// Fill the artefact.
static void set_artifact(struct arena *a, struct loaded *l,
                         const struct package *package)
{
    struct fatbin fatbin;
    fatbin_read(a, l->files.fatbin.data, l->files.fatbin.n, &fatbin);
    l->artifact = (struct ingot_artifact){
        .abi = INGOT_ABI,
        .name = package->name,
        .fatbin_size = l->files.fatbin.n,
        .fatbin_hash = fatbin_hash(l->files.fatbin.data, l->files.fatbin.n),
        .image_count = (uint32_t)fatbin.images.n,
        .images = images_of(a, &fatbin),
        .entry_count = (uint32_t)l->plan.entries.n,
        .entries = entries_of(a, &l->plan)};
}

bool loaded_open(struct arena *a, const struct package *package,
                 const char *driver, struct diag_list *diags,
                 struct loaded *out)
{
    struct ingot_options options = {.driver = driver};
    *out = (struct loaded){0};
    if (!package_make(a, package, diags, &out->files))
        return false;
    plan_make(a, package, &out->plan);
    set_artifact(a, out, package);
    if (ingot_open(&out->module, &out->artifact, out->files.fatbin.data,
                   out->files.fatbin.n, &options) == INGOT_OK &&
        ingot_preload(out->module) == INGOT_OK &&
        ingot_report(out->module, &out->load) == INGOT_OK)
        return true;
    char text[INGOT_TEXT_SIZE] = "out of host memory";
    if (out->module)
        ingot_error_text(out->module, text, sizeof text);
    diag_error(diags, (struct span){0}, D_launch_refused, package->name, text);
    return false;
}

void loaded_close(struct loaded *l)
{
    if (l->module)
        ingot_close(l->module);
    package_free(&l->files);
}

uint32_t loaded_entry(const struct loaded *l, const struct ir_launch *launch)
{
    uint32_t i = 0;
    while (l->plan.entries.at[i].launch != launch)
        i++;
    return i;
}
