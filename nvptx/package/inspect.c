// Reads a fatbin and its manifest.

#include "nvptx/package/inspect.h"

#include "nvptx/package/manifest.h"

bool inspect_read(struct arena *a, const struct inspect_file *fatbin,
                  const struct inspect_file *manifest, struct diag_list *diags,
                  struct inspection *out)
{
    const char *fault =
        fatbin_read(a, fatbin->bytes, fatbin->size, &out->fatbin);
    if (fault) {
        diag_error(diags, (struct span){0}, D_not_a_fatbin, fatbin->name, fault,
                   (long long)out->fatbin.fault_at);
        return false;
    }
    size_t n = out->fatbin.images.n;
    out->hash = fatbin_hash(fatbin->bytes, fatbin->size);
    out->usage = arena_array(a, struct usage_list, n);
    for (size_t i = 0; i < n; i++)
        fatbin_kernels(a, &out->fatbin.images.at[i], &out->usage[i]);
    if (!manifest)
        return true;
    fault = manifest_read(a, manifest->bytes, manifest->size, out->hash,
                          out->usage, n);
    if (fault)
        diag_error(diags, (struct span){0}, D_bad_manifest, manifest->name,
                   fault);
    return !fault;
}
