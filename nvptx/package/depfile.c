// Writes rules of make.

#include "nvptx/package/depfile.h"

// Append a file name as make reads it.
static void write_name(const char *name, struct buf *out)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#' || *name == '\\' || *name == ':')
            buf_char(out, '\\');
        buf_printf(out, *name == '$' ? "$%c" : "%c", *name);
    }
}

void depfile_write(const char *const *targets, size_t n_targets,
                   const char *const *sources, size_t n_sources,
                   struct buf *out)
{
    for (size_t i = 0; i < n_targets; i++) {
        buf_text(out, i ? " " : "");
        write_name(targets[i], out);
    }
    buf_char(out, ':');
    for (size_t i = 0; i < n_sources; i++) {
        buf_text(out, " \\\n  ");
        write_name(sources[i], out);
    }
    buf_char(out, '\n');
    for (size_t i = 0; i < n_sources; i++) {
        buf_char(out, '\n');
        write_name(sources[i], out);
        buf_text(out, ":\n");
    }
}
