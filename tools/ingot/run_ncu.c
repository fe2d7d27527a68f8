// `ingot run --ncu`: the command line by which Nsight Compute profiles a run.
//
//   $ ingot run vadd.ing --size n=1000003 --ncu
//   ncu --set full ... ingot run vadd.ing --size n=1000003 --lineinfo --no-timing

#include "tools/ingot/ncu.h"
#include "tools/ingot/run.h"

#include <string.h>

// Append the words of the command line, but for --ncu.
static void append_command(struct buf *out, const struct run_options *o)
{
    vec_foreach_value(word, &o->words)
        if (strcmp(word, "--ncu") != 0)
            ncu_append_word(out, word);
    if (!o->targets.line_info)
        buf_text(out, " --lineinfo");
    if (!o->no_timing)
        buf_text(out, " --no-timing");
}

bool run_ncu(struct run *runs, size_t at, struct buf *out)
{
    struct run *r = &runs[at];
    const char *name = r->on->kernel->name;
    size_t skip = 0;
    if (!run_choose(r))
        return false;
    if (!ncu_count(&r->dispatch, &r->dispatch))
        return true;
    for (size_t i = 0; i < at; i++)
        skip += ncu_count(&runs[i].dispatch, &r->dispatch);
    if (at)
        name = arena_printf(&r->on->c->arena, "%s.%zu", name, at + 1);
    ncu_append(out, &r->dispatch, skip, name);
    buf_text(out, " run");
    append_command(out, r->on->options);
    buf_char(out, '\n');
    return true;
}
