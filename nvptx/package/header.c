// Writes the header: helpers, tables, launch functions.

#include "nvptx/package/header.h"

#include "ir/launch_attribute.h"
#include "nvptx/package/c_names.h"
#include "nvptx/package/helpers.h"
#include "nvptx/package/launch.h"

#include <ctype.h>
#include <string.h>

enum {
    BYTES_PER_LINE = 16,
    ABI = 4, // INGOT_ABI of the runtime that the tables are made for
};

// Return an identifier in upper case.
static const char *upper(struct arena *a, const char *name)
{
    char *text = arena_printf(a, "%s", name);
    for (char *p = text; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return text;
}

// Append text inside a comment: what could end it or the line is replaced.
static void write_remark(struct buf *out, const char *text)
{
    for (; *text; text++)
        buf_char(out, *text < ' ' || *text > '~' || *text == '*' ? '_' : *text);
}

// Append the comment at the top.
static void write_comment(const struct plan *plan, struct buf *out)
{
    const struct package *package = plan->package;
    buf_text(out, "/* Launch functions for the kernels of ");
    write_remark(out, package->name);
    buf_text(out, ".fatbin.\n * Written by Ingot from ");
    write_remark(out, path_base(package->source));
    buf_printf(
        out,
        "; do not edit.\n"
        " *\n"
        " * Open a module with ingot_open_file(&module, &%s_artifact, ...), "
        "load it with\n"
        " * ingot_preload before there is work on the GPU, then call the "
        "launch functions\n"
        " * below.  Each returns once the launch is queued in `stream`; "
        "failures of the\n"
        " * kernel itself are reported by whatever waits for the stream.\n"
        " *\n"
        " * Arrays are memory that the GPU can address, row-major unless "
        "strides are\n"
        " * given; sizes count elements.  The caller owns all of it and keeps "
        "it until the\n"
        " * stream has done the work.  An array that is written overlaps no "
        "other array.\n"
        " * NULL is allowed for an array without elements.  A launch without "
        "elements\n"
        " * succeeds.\n"
        " *\n"
        " * INGOT_BAD_SIZE: a size is negative or a condition does not hold.\n"
        " * INGOT_NULL_ARRAY, INGOT_MISALIGNED, INGOT_OVERFLOW: an array is "
        "missing, not\n"
        " * aligned as said, or larger than 64 bits count.  Otherwise the "
        "status of\n"
        " * ingot_launch.  ingot_error_text says more. */\n",
        plan->name);
}

// Append the helper functions, which all generated headers share.
static void write_helpers(struct buf *out)
{
    buf_printf(out,
               "#ifndef INGOT_LAUNCH_HELPERS\n"
               "#define INGOT_LAUNCH_HELPERS\n\n%s\n"
               "#endif\n\n",
               helpers_text());
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
                   upper(a, attribute_name(attribute)));
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
               "static const struct ingot_artifact %s_artifact = {\n    "
               "INGOT_ABI, \"",
               plan->name);
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
    buf_printf(out, "static const unsigned char %s_fatbin[] = {", plan->name);
    for (size_t i = 0; i < fatbin->n; i++) {
        unsigned char byte = (unsigned char)fatbin->data[i];
        char text[] = {'0', 'x', digits[byte >> 4], digits[byte & 15], ','};
        buf_text(out, i % BYTES_PER_LINE ? "" : "\n    ");
        buf_bytes(out, text, sizeof text);
    }
    buf_text(out, "\n};\n\n");
}

// Append the lines that begin the header, and those that refuse what a C file
// cannot include beside it: another header has a function of its names.
static void write_guard(struct arena *a, const struct plan *plan,
                        struct buf *out)
{
    const char *guard = upper(a, plan->name);
    buf_printf(out,
               "\n#ifndef INGOT_%s_H\n#define INGOT_%s_H 0x%016llxull\n\n"
               "#include \"ingot.h\"\n\n"
               "#if INGOT_ABI != %d\n"
               "#error \"this header is for another ingot.h; build it again\"\n"
               "#endif\n",
               guard, guard, (unsigned long long)plan->fatbin_hash, ABI);
    for (size_t i = 0; i < plan->package->n_kernels; i++) {
        const char *name = plan->kernels[i].name;
        buf_printf(out,
                   "#ifdef INGOT_LAUNCHES_%s\n"
                   "#error \"another header has %s, too; build this one with "
                   "--prefix\"\n#endif\n#define INGOT_LAUNCHES_%s\n",
                   name, name, name);
    }
    buf_char(out, '\n');
}

// Append the lines that end it: another header of this name is not taken for
// this one.
static void write_end(struct arena *a, const struct plan *plan, struct buf *out)
{
    const char *guard = upper(a, plan->name);
    buf_printf(out,
               "#elif INGOT_%s_H != 0x%016llxull\n"
               "#error \"another header has the tables of %s, too; build this "
               "one with --prefix\"\n#endif\n",
               guard, (unsigned long long)plan->fatbin_hash, plan->name);
}

bool header_write(struct arena *a, const struct plan *plan,
                  const struct buf *fatbin, struct diag_list *diags,
                  struct buf *out)
{
    bool ok = true;
    write_comment(plan, out);
    write_guard(a, plan, out);
    write_helpers(out);
    write_images(plan, out);
    write_parameters(plan, out);
    write_entries(a, plan, out);
    write_artifact(plan, out);
    if (plan->package->embed)
        write_bytes(plan, fatbin, out);
    for (size_t i = 0; i < plan->package->n_kernels; i++) {
        ok = launch_write(a, plan, &plan->kernels[i], diags, out) && ok;
        buf_char(out, '\n');
    }
    write_end(a, plan, out);
    return ok;
}
