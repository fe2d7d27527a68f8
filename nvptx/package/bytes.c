// Writes the function that says how large the arrays of a kernel are:
//
//   size_t K_bytes(parameter, sizes)
//   {
//       the bytes that the parameter with this number spans
//   }
//
// Callers allocate by it, and check the arrays that they are given.

#include "nvptx/package/bytes.h"

#include <string.h>

// Append the comment above the function.
static void write_comment(struct writer *w)
{
    buf_printf(
        w->out,
        "/* The bytes that an array of `%s` spans, by its place among "
        "the kernel's\n * parameters, from 0; 0 for those that are no "
        "arrays, (size_t)-1 if they are\n * more than 64 bits hold. */\n",
        w->kernel->source->name);
}

// Append the name and parameters of the function.
static void write_signature(struct writer *w)
{
    struct buf sizes = {0}, *out = w->out;
    w->out = &sizes;
    writer_sizes(w, true);
    w->out = out;
    buf_printf(w->out, "size_t %s(int parameter", w->kernel->bytes);
    if (strcmp(sizes.data, "void") != 0)
        buf_printf(w->out, ", %s", sizes.data);
    buf_char(w->out, ')');
    buf_free(&sizes);
}

static const struct writer_function function = {write_comment, write_signature};

void bytes_declare(struct writer *w)
{
    writer_declare(w, &function);
}

void bytes_write(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    writer_begin(w, &function);
    buf_text(w->out, "    int64_t bytes = 0;\n    int overflow = 0;\n\n");
    writer_use_sizes(w);
    for (size_t i = 0; i < source->params.n; i++) {
        if (!source->params.at[i].buffer)
            continue;
        buf_printf(w->out, "    if (parameter == %zu)\n        bytes = ", i);
        writer_expr(w, source,
                    writer_bytes(w->arena, source->params.at[i].buffer));
        buf_text(w->out, ";\n");
    }
    buf_text(w->out, "    return overflow || bytes < 0 ? (size_t)-1 : "
                     "(size_t)bytes;\n}\n\n");
}
