// The defs and rules of the library, as text.

#include "tools/ingot/defs.h"

#include <string.h>

// Return where the line that begins at `at` ends: behind its newline.
static const char *line_end(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

// Return where the def at `at` ends: behind the line of its closing brace.
static const char *def_end(const char *at)
{
    const char *line = line_end(at), *brace = strstr(at, "\n}");
    if (line[-1] == '\n' && line[-2] == '}')
        return line;
    return brace ? line_end(brace + 1) : at + strlen(at);
}

// Return how long the keyword of a def or a rule is that begins a line, or 0.
static size_t keyword(const char *at)
{
    return strncmp(at, "def ", 4) == 0    ? 4
           : strncmp(at, "rule ", 5) == 0 ? 5
                                          : 0;
}

bool def_next(struct arena *a, const char *at, struct def *out)
{
    for (out->head = at; *at; at = line_end(at)) {
        if (keyword(at))
            break;
        if (strncmp(at, "//", 2) != 0)
            out->head = line_end(at);
    }
    if (!*at)
        return false;
    out->text = at;
    at += keyword(at);
    out->name = arena_copy(a, at, strcspn(at, "("));
    out->form = arena_copy(a, at, strcspn(at, "{") - 1);
    out->behind = def_end(out->text);
    return true;
}

const char *def_brief(struct arena *a, const struct def *def)
{
    const char *text = "";
    for (const char *at = def->head; at < def->text && strncmp(at, "//\n", 3);
         at = line_end(at))
        text = arena_printf(a, "%s%s%.*s", text, *text ? " " : "",
                            (int)strcspn(at + 3, "\n"), at + 3);
    return text;
}
