// Writes the comment above a launch function, and its checks.

#include "nvptx/package/launch.h"

#include "nvptx/package/c_names.h"

// Return what a launch does with an array.
static const char *role_text(enum buffer_role role)
{
    switch (role) {
    case ROLE_input: return "read";
    case ROLE_output: return "written";
    case ROLE_inout: return "read and written";
    case ROLE_alloc: return "scratch";
    }
    return "";
}

// Append what a parameter is.
static void write_comment_line(struct writer *w, size_t i)
{
    const struct ir_param *p = &w->kernel->source->params.at[i];
    buf_printf(w->out, " *   %s: ", w->kernel->names[i]);
    if (p->buffer)
        buf_printf(w->out, "%s, %s, aligned to %u bytes\n",
                   writer_shape(w, p->buffer), role_text(p->buffer->role),
                   w->kernel->aligns[i]);
    else
        buf_printf(w->out, "%s\n",
                   writer_is_size(p) ? "a number of elements, at least 0"
                                     : type_name(p->var->type));
}

void launch_comment(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    buf_printf(w->out, "/* Launches kernel `%s` on `stream`.\n *\n",
               source->name);
    for (size_t i = 0; i < source->params.n; i++)
        write_comment_line(w, i);
    buf_printf(w->out,
               " *   workspace: %s bytes, overwritten, aligned to "
               "%d bytes;\n *     NULL where that is 0\n",
               w->kernel->workspace, WORKSPACE_ALIGN);
    for (size_t i = 0; i < source->where.n; i++)
        buf_printf(w->out, "%s *   %s\n", i ? "" : " *\n * Requires\n *\n",
                   writer_text(w, source->where.at[i]));
    buf_text(w->out, " */\n");
}

// Append the checks of sizes and of `where`.
static void write_conditions(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    for (size_t i = 0; i < source->params.n; i++) {
        const char *name = w->kernel->names[i];
        if (!writer_is_size(&source->params.at[i]))
            continue;
        buf_printf(w->out, "    if (%s < 0)\n        ", name);
        writer_rejection(w, "BAD_SIZE",
                         arena_printf(w->arena, "%s >= 0", name));
    }
    for (size_t i = 0; i < source->where.n; i++) {
        buf_text(w->out, "    if (!(");
        bool has_checks = writer_expr(w, source, source->where.at[i]);
        buf_printf(w->out, ")%s)\n        ", has_checks ? " || overflow" : "");
        writer_rejection(w, "BAD_SIZE", writer_text(w, source->where.at[i]));
    }
}

// Append the check of an array of which `bytes` says how large it is.
static void write_array_check(struct writer *w, const char *name,
                              const char *text, uint32_t align)
{
    buf_printf(w->out, "    status = ingot_check_array(module, \"%s\",\n",
               w->kernel->source->name);
    buf_indent(w->out, 31);
    buf_printf(w->out, "\"%s: ", name);
    c_string(w->out, text);
    buf_printf(w->out, ", aligned to %u bytes\",\n", align);
    buf_indent(w->out, 31);
    buf_printf(w->out, "%s, bytes, overflow, %u);\n", name, align);
    buf_text(w->out, "    if (status)\n        return status;\n");
}

// Append the checks of the arrays.
static void write_array_checks(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    for (size_t i = 0; i < source->params.n; i++) {
        const struct ir_buffer *b = source->params.at[i].buffer;
        if (!b)
            continue;
        buf_text(w->out, "    bytes = ");
        writer_expr(w, source, writer_bytes(w->arena, b));
        buf_text(w->out, ";\n");
        write_array_check(w, w->kernel->names[i], writer_shape(w, b),
                          w->kernel->aligns[i]);
    }
    if (w->kernel->needs_workspace) {
        buf_printf(w->out, "    bytes = (int64_t)%s(", w->kernel->workspace);
        writer_sizes(w, false);
        buf_text(w->out, ");\n");
        write_array_check(w, "workspace", "scratch memory", WORKSPACE_ALIGN);
    }
}

// Append an array as the debug checks take it: `bytes` is the function that says
// how large it is, called with the number of the parameter, unless that is -1.
static void write_debug_array(struct writer *w, const char *name,
                              const char *bytes, int parameter, bool is_written)
{
    struct buf sizes = {0}, *out = w->out;
    w->out = &sizes;
    writer_sizes(w, false);
    w->out = out;
    buf_printf(out, "            {\"%s\", %s, (uint64_t)%s(", name, name,
               bytes);
    if (parameter >= 0)
        buf_printf(out, "%d%s", parameter, sizes.n ? ", " : "");
    buf_printf(out, "%s), %d},\n", sizes.n ? sizes.data : "", is_written);
    buf_free(&sizes);
}

// Append what a program with INGOT_DEBUG checks of the arrays, too.
static void write_debug_checks(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    buf_text(w->out, "#ifdef INGOT_DEBUG\n    {\n"
                     "        const struct ingot_debug_array arrays[] = {\n");
    for (size_t i = 0; i < source->params.n; i++) {
        const struct ir_buffer *b = source->params.at[i].buffer;
        if (b)
            write_debug_array(w, w->kernel->names[i], w->kernel->bytes, (int)i,
                              b->role != ROLE_input);
    }
    if (w->kernel->needs_workspace)
        write_debug_array(w, "workspace", w->kernel->workspace, -1, true);
    buf_printf(w->out,
               "        };\n\n"
               "        status = ingot_debug_arrays(module, \"%s\", arrays,\n"
               "                                    sizeof arrays / sizeof "
               "*arrays);\n"
               "        if (status)\n            return status;\n"
               "    }\n#endif\n",
               source->name);
}

void launch_checks(struct writer *w)
{
    write_conditions(w);
    write_array_checks(w);
    write_debug_checks(w);
}
