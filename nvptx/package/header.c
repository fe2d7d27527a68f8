// Writes the header: helpers, tables, launch functions; or declarations of
// them, and the C file with the rest.

#include "nvptx/package/header.h"

#include "nvptx/package/c_names.h"
#include "nvptx/package/helpers.h"
#include "nvptx/package/launch.h"
#include "nvptx/package/tables.h"

#include <string.h>

enum { ABI = 4 }; // INGOT_ABI of the runtime that the tables are made for

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
        " * aligned as said, or larger than 64 bits count.  INGOT_BAD_ARRAY, "
        "where\n"
        " * INGOT_DEBUG is defined: it is no memory of the GPU, too little, or "
        "overlaps\n"
        " * another; see ingot_debug.h.  Otherwise the status of "
        "ingot_launch.\n"
        " * ingot_error_text says more. */\n",
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

// What stands around launches, for profilers, unless the caller says.
static const char marks[] =
    "\n"
    "/* Called around each launch with the kernel's symbol, to mark ranges for\n"
    " * profilers, unless defined before. */\n"
    "#ifndef INGOT_BEFORE_LAUNCH\n"
    "#define INGOT_BEFORE_LAUNCH(symbol) ((void)0)\n"
    "#endif\n"
    "#ifndef INGOT_AFTER_LAUNCH\n"
    "#define INGOT_AFTER_LAUNCH(symbol) ((void)0)\n"
    "#endif\n\n";

// Append the lines that begin the header, and those that refuse what a C file
// cannot include beside it: another header has a function of its names.
static void write_guard(struct arena *a, const struct plan *plan,
                        struct buf *out)
{
    const char *guard = tables_upper(a, plan->name);
    buf_printf(out,
               "\n#ifndef INGOT_%s_H\n#define INGOT_%s_H 0x%016llxull\n\n"
               "#include \"ingot.h\"\n\n"
               "#ifdef INGOT_DEBUG\n"
               "#include \"ingot_debug.h\"\n"
               "#endif\n\n"
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
    buf_text(out, marks);
}

// Append the lines that end it: another header of this name is not taken for
// this one.
static void write_end(struct arena *a, const struct plan *plan, struct buf *out)
{
    const char *guard = tables_upper(a, plan->name);
    buf_printf(out,
               "#elif INGOT_%s_H != 0x%016llxull\n"
               "#error \"another header has the tables of %s, too; build this "
               "one with --prefix\"\n#endif\n",
               guard, (unsigned long long)plan->fatbin_hash, plan->name);
}

// Append the declaration of the fatbin's bytes, which are in another file.
static void write_bytes(const struct plan *plan, struct buf *out)
{
    buf_printf(out, "extern INGOT_API const unsigned char %s_fatbin[%llu];\n",
               plan->name, (unsigned long long)plan->fatbin_size);
}

// Append what the header declares and does not define, as C to C++, too.
static void write_declarations(struct arena *a, const struct plan *plan,
                               struct buf *out)
{
    const struct package *package = plan->package;
    if (!package->declarations && !package->triple)
        return;
    buf_text(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    if (package->triple || package->embed)
        write_bytes(plan, out);
    if (package->declarations) {
        buf_printf(out,
                   "extern INGOT_API const struct ingot_artifact "
                   "%s_artifact;\n\n",
                   plan->name);
        for (size_t i = 0; i < package->n_kernels; i++)
            launch_declare(a, plan, &plan->kernels[i], out);
    }
    buf_text(out, "\n#ifdef __cplusplus\n}\n#endif\n\n");
}

// Append the tables and the launch functions.
// Returns false after reporting an expression that C cannot compute.
static bool write_definitions(struct arena *a, const struct plan *plan,
                              const struct buf *fatbin, struct diag_list *diags,
                              struct buf *out)
{
    bool ok = true;
    write_helpers(out);
    tables_write(a, plan, fatbin, out);
    for (size_t i = 0; i < plan->package->n_kernels; i++) {
        ok = launch_write(a, plan, &plan->kernels[i], diags, out) && ok;
        buf_char(out, '\n');
    }
    return ok;
}

// Append what the C file begins with.  Not all use all helpers.
static void write_source_head(const struct plan *plan, struct buf *out)
{
    buf_printf(out,
               "/* What %s.h declares. Written by Ingot; do not edit. */\n\n"
               "#include \"%s.h\"\n\n"
               "#if defined(__GNUC__)\n"
               "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
               "#endif\n\n",
               plan->package->name, plan->package->name);
}

bool header_write(struct arena *a, const struct plan *plan,
                  const struct buf *fatbin, struct diag_list *diags,
                  struct buf *out, struct buf *source)
{
    bool ok = true;
    write_comment(plan, out);
    write_guard(a, plan, out);
    write_declarations(a, plan, out);
    if (plan->package->declarations)
        write_source_head(plan, source);
    else
        source = out;
    ok = write_definitions(a, plan, fatbin, diags, source);
    write_end(a, plan, out);
    return ok;
}
