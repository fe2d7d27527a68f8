// Places of the code in the sources of a compilation.

#include "tools/ingot/check.h"

#include <ctype.h>
#include <string.h>

bool check_same_place(const struct simt_place *a, const struct simt_place *b)
{
    bool same_file = a->file == b->file ||
                     (a->file && b->file && strcmp(a->file, b->file) == 0);
    return same_file && a->line == b->line && a->column == b->column;
}

// Return a source if lines call it by that name, else NULL.
static const struct source *if_named(const struct source *s, const char *name)
{
    struct arena arena = {0};
    bool is_it = s && (strcmp(s->name, name) == 0 ||
                       strcmp(nvptx_line_path(&arena, s->name), name) == 0);
    arena_reset(&arena);
    return is_it ? s : NULL;
}

// Return the source of that name among those of schedules and defs, or NULL.
static const struct source *schedule_named(const struct sched_program *p,
                                           const char *name)
{
    const struct source *s = NULL;
    for (size_t i = 0; i < p->schedules.n && !s; i++)
        s = if_named(p->schedules.at[i]->span.source, name);
    for (size_t i = 0; i < p->defs.n && !s; i++)
        s = if_named(p->defs.at[i]->span.source, name);
    return s;
}

// Return the source of that name, or NULL.
static const struct source *source_named(const struct compilation *c,
                                         const char *name)
{
    const struct source *s = NULL;
    for (size_t i = 0; i < c->program.kernels.n && !s; i++)
        s = if_named(c->program.kernels.at[i]->span.source, name);
    if (!s)
        s = schedule_named(&c->program.schedules, name);
    return s ? s : schedule_named(&c->library.schedules, name);
}

// Return the end of what begins at a byte: a name with its indices, or one
// character.
static uint32_t end_of(const struct source *s, uint32_t from)
{
    const char *p = s->text + from;
    int depth = 0;
    while (isalnum((unsigned char)*p) || *p == '_')
        p++;
    if (*p == '[')
        do {
            depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
            p++;
        } while (depth && *p && *p != '\n');
    uint32_t end = (uint32_t)(p - s->text);
    return end > from ? end : from + 1;
}

struct span check_span(const struct compilation *c, const struct simt_place *p)
{
    const struct source *s =
        p->file && p->line ? source_named(c, p->file) : NULL;
    if (!s)
        return (struct span){0};
    const char *at = s->text;
    for (unsigned line = 1; line < p->line && at; line++)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    uint32_t from = at ? (uint32_t)(at - s->text) : 0;
    from += p->column ? p->column - 1 : 0;
    if (!at || from >= s->size)
        return (struct span){0};
    return (struct span){s, from, end_of(s, from)};
}
