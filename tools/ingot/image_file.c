// Reads the artefact of `ingot image`.

#include "tools/ingot/image.h"

#include "tools/ingot/cli.h"
#include "tools/ingot/json.h"

#include <string.h>
#include <unistd.h>

// Return whether a name ends so.
static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

// Find the fatbin that a manifest is of, in its folder.
// Returns false after reporting.
static bool find_fatbin(struct arena *a, struct artefact *out,
                        struct diag_list *diags)
{
    json_error_t error;
    const char *slash = strrchr(out->beside, '/');
    int folder = slash ? (int)(slash - out->beside) + 1 : 0;
    json_t *root = json_loadb(out->manifest.data, out->manifest.n, 0, &error);
    const char *file = json_string_value(
        json_object_get(json_object_get(root, "fatbin"), "file"));
    if (file)
        out->path = arena_printf(a, "%.*s%s", folder, out->beside, file);
    else
        diag_error(diags, (struct span){0}, D_bad_manifest, out->beside,
                   root ? "it names no fatbin"
                        : arena_printf(a, "%s", error.text));
    json_decref(root);
    return file != NULL;
}

// Report an artefact whose images are not in a file of their own.
static void report_object(const struct artefact *artefact,
                          struct diag_list *diags)
{
    diag_error(diags, (struct span){0}, D_image_in_object, artefact->beside,
               artefact->path);
    diag_help(diags, "build without `--emit object`, and open the file: "
                     "ingot_open_file");
}

bool artefact_read(struct arena *a, const char *path, struct diag_list *diags,
                   struct artefact *out)
{
    bool is_manifest = ends_with(path, ".json");
    out->path = path;
    out->beside = is_manifest ? path : cli_manifest(a, path);
    if ((is_manifest || access(out->beside, F_OK) == 0) &&
        !cli_read(out->beside, &out->manifest, diags))
        return false;
    if (is_manifest && !find_fatbin(a, out, diags))
        return false;
    if (ends_with(out->path, ".o")) {
        report_object(out, diags);
        return false;
    }
    if (!cli_read(out->path, &out->fatbin, diags))
        return false;
    struct inspect_file fatbin = {out->path, out->fatbin.data, out->fatbin.n};
    struct inspect_file manifest = {out->beside, out->manifest.data,
                                    out->manifest.n};
    return inspect_read(a, &fatbin, out->manifest.n ? &manifest : NULL, diags,
                        &out->what);
}

size_t artefact_find(const struct artefact *artefact, const char *name)
{
    size_t i = 0, n = artefact->what.fatbin.images.n;
    for (; i < n; i++) {
        const struct fatbin_image *image = &artefact->what.fatbin.images.at[i];
        char its[IMAGE_NAME_SIZE];
        image_name(image->kind, image->sm, image->suffix, its);
        if (strcmp(its, name) == 0)
            break;
    }
    return i;
}

void artefact_lacks(const struct artefact *artefact, const char *name,
                    struct diag_list *diags)
{
    struct buf list = {0};
    for (size_t i = 0; i < artefact->what.fatbin.images.n; i++) {
        const struct fatbin_image *image = &artefact->what.fatbin.images.at[i];
        char its[IMAGE_NAME_SIZE];
        image_name(image->kind, image->sm, image->suffix, its);
        buf_printf(&list, "%s%s", i ? ", " : "", its);
    }
    diag_error(diags, (struct span){0}, D_image_unknown, artefact->path, name);
    diag_help(diags, "it has %s", list.data);
    buf_free(&list);
}

void artefact_free(struct artefact *artefact)
{
    buf_free(&artefact->fatbin);
    buf_free(&artefact->manifest);
}
