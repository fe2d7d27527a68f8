// Writes the tables that the runtime reads: images, parameters, entries, the
// artefact, and the bytes of the fatbin.

#include "nvptx/package/tables.h"

#include "ir/launch_attribute.h"
#include "nvptx/package/c_names.h"

#include <ctype.h>

enum { BYTES_PER_LINE = 16 };

const char *tables_upper(struct arena *a, const char *name)
{
    char *text = arena_printf(a, "%s", name);
    for (char *p = text; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return text;
}

// Append the table of images.
static void write_images(const struct plan *plan, struct buf *out)
{
    buf_printf(out, "static const struct ingot_image %s_images[] = {\n",
               plan->name);
    for (size_t i = 0; i < plan->package->n_images; i++) {
        const struct fatbin_image *image = &plan->images[i];
        buf_printf(out, "    {INGOT_%s, %u, ",
                   image->kind == IMAGE_PTX ? "PTX" : "CUBIN", image->sm);
        buf_printf(out, image->suffix ? "'%c'" : "%d", image->suffix);
        buf_printf(out, ", %llu, %llu, UINT64_C(0x%016llx)},\n",
                   (unsigned long long)image->offset,
                   (unsigned long long)image->padded,
                   (unsigned long long)image->hash);
    }
    buf_text(out, "};\n\n");
}

// Append the sizes of all parameters.
static void write_parameters(const struct plan *plan, struct buf *out)
{
    buf_printf(out, "static const uint16_t %s_parameters[] = {", plan->name);
    for (size_t i = 0; i < plan->parameter_sizes.n; i++)
        buf_printf(out, "%s%u,", i % BYTES_PER_LINE ? " " : "\n    ",
                   plan->parameter_sizes.at[i]);
    buf_text(out, "\n};\n\n");
}

// Append the attributes of a launch: `INGOT_PROGRAMMATIC | ...`, or 0.
static void write_attributes(struct arena *a, uint32_t set, struct buf *out)
{
    const char *before = "";
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        enum launch_attribute attribute = (enum launch_attribute)i;
        if (!attribute_in(set, attribute))
            continue;
        buf_printf(out, "%sINGOT_%s", before,
                   tables_upper(a, attribute_name(attribute)));
        before = " | ";
    }
    buf_text(out, set ? "" : "0");
}

// Append the table of entries.
static void write_entries(struct arena *a, const struct plan *plan,
                          struct buf *out)
{
    buf_printf(out, "static const struct ingot_entry %s_entries[] = {\n",
               plan->name);
    for (size_t i = 0; i < plan->entries.n; i++) {
        const struct plan_entry *e = &plan->entries.at[i];
        buf_printf(out,
                   "    {\"%s\", %u, %s_parameters + %u, %lld, %lld, %u, %d, ",
                   e->launch->name, e->n_parameters, plan->name,
                   e->parameters_at, (long long)e->shared,
                   (long long)e->dynamic, e->threads, e->is_optional);
        write_attributes(a, e->launch->attributes, out);
        buf_text(out, "},\n");
    }
    buf_text(out, "};\n\n");
}

// Append the artefact, which holds all tables.
static void write_artifact(const struct plan *plan, struct buf *out)
{
    buf_printf(out,
               "%sconst struct ingot_artifact %s_artifact = {\n    "
               "INGOT_ABI, \"",
               plan->package->declarations ? "" : "static ", plan->name);
    c_string(out, plan->package->name);
    buf_printf(out, "\", %llu, UINT64_C(0x%016llx),\n",
               (unsigned long long)plan->fatbin_size,
               (unsigned long long)plan->fatbin_hash);
    buf_printf(out, "    %zu, %s_images, %zu, %s_entries,\n};\n\n",
               plan->package->n_images, plan->name, plan->entries.n,
               plan->name);
}

// Append the bytes of the fatbin.
static void write_bytes(const struct plan *plan, const struct buf *fatbin,
                        struct buf *out)
{
    static const char digits[] = "0123456789abcdef";
    buf_printf(out, "%sconst unsigned char %s_fatbin[] = {",
               plan->package->declarations ? "" : "static ", plan->name);
    for (size_t i = 0; i < fatbin->n; i++) {
        unsigned char byte = (unsigned char)fatbin->data[i];
        char text[] = {'0', 'x', digits[byte >> 4], digits[byte & 15], ','};
        buf_text(out, i % BYTES_PER_LINE ? "" : "\n    ");
        buf_bytes(out, text, sizeof text);
    }
    buf_text(out, "\n};\n\n");
}

void tables_write(struct arena *a, const struct plan *plan,
                  const struct buf *fatbin, struct buf *out)
{
    write_images(plan, out);
    write_parameters(plan, out);
    write_entries(a, plan, out);
    write_artifact(plan, out);
    if (plan->package->embed)
        write_bytes(plan, fatbin, out);
}
