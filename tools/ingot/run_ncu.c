// `ingot run --ncu`: the command line by which Nsight Compute profiles a run.
//
//   $ ingot run vadd.ing --size n=1000003 --ncu
//   ncu --set full --import-source yes --source-folders . --kernel-name 'regex:^(vadd)$'
//       --launch-skip 0 --launch-count 1 --export vadd --force-overwrite
//       ingot run vadd.ing --size n=1000003 --lineinfo --no-timing

#include "tools/ingot/run.h"

#include <string.h>

// Characters that mean nothing to a shell.
static const char plain[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "0123456789_-+=,./:@%";

// Append a word as a shell takes it, with a space in front.
static void append_word(struct buf *out, const char *word)
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

// Count the launches of a run that have the symbol of one of another run.
static size_t count(const struct run *r, const struct run *named)
{
    size_t n = 0;
    vec_foreach(l, &r->dispatch.launches) {
        bool is_named = false;
        vec_foreach(other, &named->dispatch.launches)
            is_named |= strcmp(l->launch->name, other->launch->name) == 0;
        n += is_named && is_launched(l);
    }
    return n;
}

// Append an expression that the symbols of the launches of a run match.
static void append_symbols(struct buf *out, const struct run *r)
{
    buf_text(out, " --kernel-name 'regex:^(");
    vec_foreach(l, &r->dispatch.launches)
        buf_printf(out, "%s%s", l == r->dispatch.launches.at ? "" : "|",
                   l->launch->name);
    buf_text(out, ")$'");
}

// Append the words of the command line, but for --ncu.
static void append_command(struct buf *out, const struct run_options *o)
{
    vec_foreach_value(word, &o->words)
        if (strcmp(word, "--ncu") != 0)
            append_word(out, word);
    if (!o->targets.line_info)
        buf_text(out, " --lineinfo");
    if (!o->no_timing)
        buf_text(out, " --no-timing");
}

bool run_ncu(struct run *runs, size_t at, struct buf *out)
{
    struct run *r = &runs[at];
    size_t skip = 0;
    if (!run_choose(r))
        return false;
    if (!count(r, r))
        return true;
    for (size_t i = 0; i < at; i++)
        skip += count(&runs[i], r);
    buf_text(out, "ncu --set full --import-source yes --source-folders .");
    append_symbols(out, r);
    buf_printf(out, " --launch-skip %zu --launch-count %zu --export", skip,
               count(r, r));
    append_word(out, at ? arena_printf(&r->on->c->arena, "%s.%zu",
                                       r->on->kernel->name, at + 1)
                        : r->on->kernel->name);
    buf_text(out, " --force-overwrite ingot run");
    append_command(out, r->on->options);
    buf_char(out, '\n');
    return true;
}
