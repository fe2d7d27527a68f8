// Writes the command line of Nsight Compute.
//
//   ncu --set full --import-source yes --source-folders . --kernel-name 'regex:^(vadd)$'
//       --launch-skip 0 --launch-count 1 --export vadd --force-overwrite ingot

#include "tools/ingot/ncu.h"

#include <string.h>

// Characters that mean nothing to a shell.
static const char plain[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "0123456789_-+=,./:@%";

void ncu_append_word(struct buf *out, const char *word)
{
    if (*word && !word[strspn(word, plain)]) {
        buf_printf(out, " %s", word);
        return;
    }
    buf_text(out, " '");
    for (; *word; word++)
        if (*word == '\'')
            buf_text(out, "'\\''");
        else
            buf_char(out, *word);
    buf_char(out, '\'');
}

// Return whether a launch has any block.
static bool is_launched(const struct dispatch_launch *l)
{
    return l->grid[0] && l->grid[1] && l->grid[2];
}

size_t ncu_count(const struct dispatch *d, const struct dispatch *named)
{
    size_t n = 0;
    vec_foreach(l, &d->launches) {
        bool is_named = false;
        vec_foreach(other, &named->launches)
            is_named |= strcmp(l->launch->name, other->launch->name) == 0;
        n += is_named && is_launched(l);
    }
    return n;
}

// Append an expression that the symbols of the launches match.
static void append_symbols(struct buf *out, const struct dispatch *d)
{
    buf_text(out, " --kernel-name 'regex:^(");
    vec_foreach(l, &d->launches)
        buf_printf(out, "%s%s", l == d->launches.at ? "" : "|",
                   l->launch->name);
    buf_text(out, ")$'");
}

void ncu_append(struct buf *out, const struct dispatch *d, size_t skip,
                const char *name)
{
    buf_text(out, "ncu --set full --import-source yes --source-folders .");
    append_symbols(out, d);
    buf_printf(out, " --launch-skip %zu --launch-count %zu --export", skip,
               ncu_count(d, d));
    ncu_append_word(out, name);
    buf_text(out, " --force-overwrite ingot");
}
