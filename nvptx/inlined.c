// Places of PTX that are inlined somewhere.
//
// LLVM says in a comment at which place a line is inlined:
//
//     .loc  1 5 9       // a.ing:5:9 @[ a.ing:2:5 ]
//
// PTX has a notation for it, which wants the place around before:
//
//     .loc  1 2 5
//     .loc  1 5 9, function_name $L__made, inlined_at 1 2 5

#include "nvptx/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// What stands for the name of all that is inlined.
static const char label[] = "$L__made";
static const char name[] = "schedule";

// A line of PTX, without the newline.
struct line {
    const char *at, *end;
};

// A place around.
struct outer {
    unsigned file, line, column;
};

// Return where a text begins in a line, or NULL.
static const char *find(struct line in, const char *text)
{
    size_t n = strlen(text);
    for (const char *p = in.at; (size_t)(in.end - p) >= n; p++) {
        if (memcmp(p, text, n) == 0)
            return p;
    }
    return NULL;
}

// Cut ":NUMBER" off the end of a line.
static bool cut_number(struct line *from, unsigned *out)
{
    const char *p = from->end;
    while (p > from->at && isdigit((unsigned char)p[-1]))
        p--;
    if (p == from->end || p == from->at || p[-1] != ':')
        return false;
    *out = (unsigned)strtoul(p, NULL, 10);
    from->end = p - 1;
    return true;
}

// Return the number of a file among lines `.file NUMBER "NAME"`, or 0.
static unsigned file_number(const char *files, struct line wanted)
{
    static const char key[] = "\t.file\t";
    size_t n = (size_t)(wanted.end - wanted.at);
    for (const char *p = files; p; p = strstr(p, key)) {
        char *rest;
        unsigned number = (unsigned)strtoul(p + sizeof key - 1, &rest, 10);
        if (strncmp(rest, " \"", 2) == 0 &&
            strncmp(rest + 2, wanted.at, n) == 0 && rest[n + 2] == '"')
            return number;
        p = rest;
    }
    return 0;
}

// Find the place around that a `.loc` line has in its comment.
static bool find_outer(struct line loc, const char *files, struct outer *out)
{
    static const char before[] = " @[ ", behind[] = " ]";
    const char *at = find(loc, before);
    struct line text = {at ? at + sizeof before - 1 : loc.end,
                        loc.end - (sizeof behind - 1)};
    if (!at || text.end < text.at || !cut_number(&text, &out->line))
        return false;
    unsigned last = out->line;
    out->column = cut_number(&text, &out->line) ? last : 0;
    out->file = file_number(files, text);
    return out->file && out->line;
}

// Append a `.loc` line that has a comment.
static void print_loc(struct line loc, const struct outer *outer,
                      struct buf *out)
{
    int n = (int)(find(loc, "//") - loc.at);
    while (n && loc.at[n - 1] == ' ')
        n--;
    buf_printf(out, "\t.loc\t%u %u %u\n", outer->file, outer->line,
               outer->column);
    buf_printf(out, "%.*s, function_name %s, inlined_at %u %u %u\n", n, loc.at,
               label, outer->file, outer->line, outer->column);
}

// Append the name of what is inlined.
static void print_name(struct buf *out)
{
    buf_printf(out, "\t.section\t.debug_str\n\t{\n%s:\n.b8 ", label);
    for (const char *c = name; *c; c++)
        buf_printf(out, "%d, ", *c);
    buf_text(out, "0\n\t}\n");
}

void ptx_inlined(const char *text, struct buf *out)
{
    static const char key[] = "\t.loc\t";
    const char *files = strstr(text, "\t.file\t");
    bool any = false;
    for (const char *at = text; *at;) {
        struct outer outer;
        struct line line = {at, at + strcspn(at, "\n")};
        at = line.end + (*line.end == '\n');
        if (strncmp(line.at, key, sizeof key - 1) == 0 &&
            find_outer(line, files, &outer)) {
            print_loc(line, &outer, out);
            any = true;
        } else {
            buf_bytes(out, line.at, (size_t)(at - line.at));
        }
    }
    if (any)
        print_name(out);
}
