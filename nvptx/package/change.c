// Writes the fatbin and the manifest of an artefact with other images.

#include "nvptx/package/change.h"

#include "nvptx/package/manifest.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// Set a member of an object to a number of 16 hexadecimal digits.
static void set_hash(json_t *object, const char *key, uint64_t hash)
{
    json_object_set_new(object, key,
                        json_sprintf("%016llx", (unsigned long long)hash));
}

// Say of the fatbin what has changed.
static void set_fatbin(json_t *object, uint64_t built, const struct buf *fatbin)
{
    uint64_t hash = fatbin_hash(fatbin->data, fatbin->n);
    json_object_set_new(object, "size", json_integer((json_int_t)fatbin->n));
    set_hash(object, "hash", hash);
    if (hash == built)
        json_object_del(object, "built");
    else
        set_hash(object, "built", built);
}

// Return whether a version is newer than another: 13.10 than 13.9.
static bool is_newer(const char *version, const char *than)
{
    while (*version && *than) {
        char *end, *than_end;
        unsigned long a = strtoul(version, &end, 10);
        unsigned long b = strtoul(than, &than_end, 10);
        if (a != b || end == version || than_end == than)
            return a > b;
        version = end + (*end == '.');
        than = than_end + (*than_end == '.');
    }
    return *version != '\0';
}

// Have the tools name the newest ptxas: by it, the doctor knows which drivers do.
static void set_ptxas(json_t *tools, const char *ptxas)
{
    const char *said = json_string_value(json_object_get(tools, "ptxas"));
    if (ptxas && (!said || is_newer(ptxas, said)))
        json_object_set_new(tools, "ptxas", json_string(ptxas));
}

// Append the manifest for the new fatbin.
static void write_manifest(const struct change *change,
                           const struct buf *fatbin, struct buf *out)
{
    json_t *root = json_loadb(change->manifest.bytes, change->manifest.size,
                              JSON_REJECT_DUPLICATES, NULL);
    json_t *images = json_array();
    for (size_t i = 0; i < change->images.n; i++)
        json_array_append_new(images, manifest_image(&change->images.at[i],
                                                     &change->usage.at[i]));
    set_fatbin(json_object_get(root, "fatbin"), change->built, fatbin);
    set_ptxas(json_object_get(root, "tools"), change->ptxas);
    json_object_set_new(root, "images", images);
    char *text = json_dumps(root, JSON_INDENT(2));
    buf_text(out, text ? text : "");
    buf_char(out, '\n');
    free(text);
    json_decref(root);
}

void change_write(struct arena *a, struct change *change, struct buf *fatbin,
                  struct buf *manifest)
{
    fatbin_write(a, change->images.at, change->images.n, fatbin);
    fatbin_stamp(change->built, fatbin);
    if (change->manifest.bytes)
        write_manifest(change, fatbin, manifest);
}
