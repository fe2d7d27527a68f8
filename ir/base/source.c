// Lines and columns are counted when someone asks: only errors and the line
// table do.

#include "ir/base/source.h"

#include <stdbool.h>
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
    if (line.n && line.text[line.n - 1] == '\r')
        line.n--;
    line.column = (uint32_t)(where - line.text) + 1;
    return line;
}

size_t source_character(const char *text, size_t left)
{
    const unsigned char *p = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80             ? 1
               : (p[0] & 0xe0) == 0xc0 ? 2
               : (p[0] & 0xf0) == 0xe0 ? 3
               : (p[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    if (n == 0 || n > left)
        return 0;
    uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[n] || code > 0x10ffff || is_surrogate ? 0 : n;
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
