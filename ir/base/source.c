// Lines and columns are counted when someone asks: only errors and the line
// table do.

#include "ir/base/source.h"

#include <string.h>

struct source_line source_line(const struct source *s, uint32_t at)
{
    struct source_line line = {s->text, 0, 1, 1};
    const char *where = s->text + (at < s->size ? at : s->size);
    for (const char *p = s->text; p < where; p++) {
        if (*p == '\n') {
            line.text = p + 1;
            line.number++;
        }
    }
    const char *end =
        memchr(line.text, '\n', s->size - (size_t)(line.text - s->text));
    line.n = (size_t)((end ? end : s->text + s->size) - line.text);
    line.column = (uint32_t)(where - line.text) + 1;
    return line;
}

struct span span_join(struct span a, struct span b)
{
    if (!a.source || a.source != b.source)
        return a.source ? a : b;
    if (b.from < a.from)
        a.from = b.from;
    if (b.to > a.to)
        a.to = b.to;
    return a;
}
