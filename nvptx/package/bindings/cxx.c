// C++: an overload of each launch function that takes spans, and checks that
// they hold what the kernel reads and writes.

#include "nvptx/package/bindings/bindings.h"

#include <ctype.h>

static const char *const taken[] = {NULL};

// Append the parameters of an overload.
static void write_parameters(const struct bound_kernel *k, struct buf *out)
{
    buf_text(out, "    const ingot::unique_module &module, CUstream stream");
    for (size_t i = 0; i < k->parameters.n; i++) {
        const struct bound_parameter *p = &k->parameters.at[i];
        if (p->is_array)
            buf_printf(out, ",\n    ingot::span<%s%s> %s",
                       p->is_written ? "" : "const ", p->type->c, p->name);
        else
            buf_printf(out, ",\n    %s %s", p->type->c, p->name);
    }
    buf_text(out, ",\n    ingot::span<unsigned char> workspace = {})\n");
}

// Append the check of an array.
static void write_check(const struct bound_kernel *k, const char *name,
                        const char *bytes, const char *text, struct buf *out)
{
    buf_printf(out,
               "    if (!%s.holds(%s))\n"
               "        return ingot_reject(module.get(), INGOT_BAD_SIZE, "
               "\"%s\", \"%s: smaller than %s\");\n",
               name, bytes, k->name, name, text);
}

// Append the checks of a kernel's arrays.
static void write_checks(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    for (size_t i = 0; i < k->parameters.n; i++) {
        const struct bound_parameter *p = &k->parameters.at[i];
        if (p->is_array)
            write_check(k, p->name,
                        arena_printf(b->arena, "%s_bytes(%zu%s)", k->c_name, i,
                                     bound_sizes(b, k, ", ", ", ", taken)),
                        p->text, out);
    }
    write_check(k, "workspace",
                arena_printf(b->arena, "%s_workspace(%s)", k->c_name,
                             bound_sizes(b, k, "", ", ", taken)),
                "it must be", out);
}

// Append an overload.
static void write_kernel(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    buf_printf(out,
               "/* %s of arrays that know their size: INGOT_BAD_SIZE where one "
               "is too small. */\n"
               "inline enum ingot_status %s(\n",
               k->c_name, k->c_name);
    write_parameters(k, out);
    buf_text(out, "{\n");
    write_checks(b, k, out);
    buf_printf(out, "    return %s(module.get(), stream", k->c_name);
    for (size_t i = 0; i < k->parameters.n; i++)
        buf_printf(out, ", %s%s", k->parameters.at[i].name,
                   k->parameters.at[i].is_array ? ".data()" : "");
    buf_text(out, ", workspace.data());\n}\n\n");
}

void bindings_cxx(const struct bound *b, struct buf *out)
{
    char *guard = arena_printf(b->arena, "INGOT_%s_HPP", b->c_name);
    for (char *p = guard; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    buf_printf(
        out,
        "/* The kernels of %s.h for C++17.  Written by Ingot from %s; do "
        "not edit.\n"
        " *\n"
        " *   auto module = ingot::unique_module::open_file("
        "%s_artifact, \"%s.fatbin\");\n"
        " *   if (!module || module.preload())\n"
        " *       return complain(module.error()); */\n\n"
        "#ifndef %s\n#define %s\n\n"
        "#include \"%s.h\"\n\n#include \"ingot.hpp\"\n\n",
        b->name, b->source, b->c_name, b->name, guard, guard, b->name);
    vec_foreach(k, &b->kernels)
        write_kernel(b, k, out);
    buf_text(out, "#endif\n");
}
