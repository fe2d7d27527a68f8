// What --prefix puts in front of names in C.

#include "tools/ingot/prefix.h"

#include "nvptx/package/c_names.h"

#include <string.h>

const char *prefix_of(struct arena *a, const char *option, const char *file)
{
    const char *prefix = "", *rest = option, *at;
    for (; rest && (at = strchr(rest, '@')); rest = at + 1)
        prefix = arena_printf(a, "%s%.*s%s", prefix, (int)(at - rest), rest,
                              c_identifier(a, file));
    return rest ? arena_printf(a, "%s%s", prefix, rest) : "";
}

void prefix_note(struct built_kernels *known, struct arena *a,
                 struct compilation *c, const char *option,
                 const struct built *file)
{
    size_t before = known->n;
    const char *prefix = prefix_of(a, option, file->name);
    for (size_t i = 0; i < c->program.kernels.n; i++) {
        const struct ir_kernel *k = c->program.kernels.at[i];
        struct built new = {arena_printf(a, "%s%s", prefix, k->name),
                            file->path};
        for (size_t n = 0; n < before; n++)
            if (strcmp(known->at[n].name, new.name) == 0)
                diag_warning(&c->diags, k->span, D_name_in_two_files, k->name,
                             known->at[n].path);
        vec_push(a, known, new);
    }
}
