// Makes the files of a package, and checks them before anybody sees them.

#include "nvptx/package/package.h"

#include "nvptx/package/driver.h"
#include "nvptx/package/fatbinary.h"
#include "nvptx/package/header.h"
#include "nvptx/package/manifest.h"
#include "nvptx/package/object.h"
#include "nvptx/package/plan.h"

#include <string.h>

// Return whether the parameters of an entry take as many bytes as planned.
// Where tensor maps lie depends on where the architecture puts the first.
static bool has_bytes(const struct plan_entry *entry, int64_t bytes)
{
    int64_t planned = entry->parameter_bytes;
    return bytes < 0 || bytes == planned ||
           (entry->has_maps && bytes > planned - MAP_ALIGN &&
            bytes < planned + MAP_ALIGN);
}

// Report that the launches of an image are not as planned.
// Returns false if one is not.
static bool check_kernels(const struct plan *plan, size_t i, const char *name,
                          struct diag_list *diags)
{
    for (size_t k = 0; k < plan->entries.n; k++) {
        const struct plan_entry *entry = &plan->entries.at[k];
        const char *launch = entry->launch->name;
        if (!plan_needs(&plan->package->images[i], launch))
            continue;
        const struct kernel_usage *u = usage_find(&plan->usage[i], launch);
        if (!u) {
            diag_error(diags, (struct span){0}, D_fatbin_lacks_kernel, launch,
                       name);
            return false;
        }
        if (!has_bytes(entry, u->parameter_bytes)) {
            diag_error(diags, (struct span){0}, D_parameters_differ, launch,
                       name, (long long)u->parameter_bytes,
                       (long long)entry->parameter_bytes);
            return false;
        }
    }
    return true;
}

// Report that an image of the fatbin is not the one that was put in.
// Returns false if it is not.
static bool check_image(const struct plan *plan, const struct fatbin *read,
                        size_t i, struct diag_list *diags)
{
    const struct fatbin_image *put = &plan->images[i];
    char name[IMAGE_NAME_SIZE];
    image_name(put->kind, put->sm, put->suffix, name);
    const struct fatbin_image *got =
        i < read->images.n ? &read->images.at[i] : NULL;
    if (!got || got->kind != put->kind || got->sm != put->sm ||
        got->suffix != put->suffix || got->hash != put->hash) {
        diag_error(diags, (struct span){0}, D_fatbin_lacks_image, name);
        return false;
    }
    return check_kernels(plan, i, name, diags);
}

// Add what ptxas said about the kernels of an image to what the image says.
static void merge_usage(struct usage_list *list, const struct usage_list *from)
{
    for (size_t i = 0; i < list->n; i++) {
        struct kernel_usage *u = &list->at[i];
        const struct kernel_usage *said = usage_find(from, u->name);
        if (said) {
            u->spill_stores = said->spill_stores;
            u->spill_loads = said->spill_loads;
        }
    }
}

// Read the fatbin again and compare it with what was asked for.
static bool check_fatbin(struct arena *a, struct plan *plan,
                         const struct buf *fatbin, struct diag_list *diags)
{
    struct fatbin read;
    const char *fault = fatbin_read(a, fatbin->data, fatbin->n, &read);
    if (!fault && read.images.n > plan->package->n_images)
        fault = "it holds an image that was not put in";
    if (fault) {
        diag_error(diags, (struct span){0}, D_fatbin_malformed, fault,
                   (long long)read.fault_at);
        return false;
    }
    plan->usage = arena_array(a, struct usage_list, plan->package->n_images);
    for (size_t i = 0; i < read.images.n; i++) {
        fatbin_kernels(a, &read.images.at[i], &plan->usage[i]);
        merge_usage(&plan->usage[i], &plan->package->images[i].usage);
    }
    for (size_t i = 0; i < plan->package->n_images; i++)
        if (!check_image(plan, &read, i, diags))
            return false;
    memcpy(plan->images, read.images.at,
           plan->package->n_images * sizeof *plan->images);
    plan->fatbin_size = fatbin->n;
    plan->fatbin_hash = fatbin_hash(fatbin->data, fatbin->n);
    return true;
}

// Pack the images, by ourselves or by the tool.
static bool make_fatbin(struct arena *a, struct plan *plan,
                        struct diag_list *diags, struct buf *out)
{
    const struct package *package = plan->package;
    fatbin_write(a, plan->images, package->n_images, out);
    if (package->fatbinary) {
        out->n = 0;
        if (!fatbinary_run(a, package->fatbinary, plan->images,
                           package->n_images, diags, out))
            return false;
    }
    return check_fatbin(a, plan, out, diags);
}

// Find which drivers the package needs; report that it needs newer ones than it may.
// Returns false then.
static bool check_driver(struct arena *a, struct plan *plan,
                         struct diag_list *diags, struct package_files *out)
{
    int floor = plan->package->driver_floor;
    plan->need = driver_need(a, plan);
    out->oldest_driver = plan->need.oldest;
    out->needed_by = plan->need.why;
    if (!floor || plan->need.beyond <= floor)
        return true;
    diag_error(diags, (struct span){0}, D_driver_floor, plan->package->name,
               driver_release(a, plan->need.beyond), driver_release(a, floor));
    diag_note(diags, (struct span){0}, "what needs them: %s", plan->need.why);
    diag_help(diags,
              "give PTX of an older version, `--ptx compute_75`, an older "
              "ptxas, `--cuda DIR`, or a higher `--driver-floor`");
    return false;
}

bool package_make(struct arena *a, const struct package *package,
                  struct diag_list *diags, struct package_files *out)
{
    struct plan plan;
    *out = (struct package_files){0};
    plan_make(a, package, &plan);
    if (!plan_check_names(a, &plan, diags) ||
        !make_fatbin(a, &plan, diags, &out->fatbin) ||
        !check_driver(a, &plan, diags, out) ||
        !header_write(a, &plan, &out->fatbin, diags, &out->header,
                      &out->source) ||
        (package->triple &&
         !object_write(a, package->triple,
                       arena_printf(a, "%s_fatbin", plan.name), &out->fatbin,
                       diags, &out->object))) {
        package_free(out);
        return false;
    }
    manifest_write(a, &plan, &out->manifest);
    return true;
}

void package_free(struct package_files *files)
{
    buf_free(&files->fatbin);
    buf_free(&files->header);
    buf_free(&files->manifest);
    buf_free(&files->source);
    buf_free(&files->object);
}
