// Places in sources, for tables.

#include "tools/ingot/place.h"

#include <string.h>

int place_compare(struct span x, struct span y)
{
    if (x.source != y.source)
        return !x.source   ? -1
               : !y.source ? 1
                           : strcmp(x.source->name, y.source->name);
    if (x.from != y.from)
        return x.from < y.from ? -1 : 1;
    return (x.to > y.to) - (x.to < y.to);
}

const char *place_text(struct arena *a, struct span span)
{
    if (!span.source)
        return "-";
    struct source_line line = source_line(span.source, span.from);
    const char *slash = strrchr(span.source->name, '/');
    return arena_printf(a, "%s:%u:%u", slash ? slash + 1 : span.source->name,
                        line.number, line.column);
}
