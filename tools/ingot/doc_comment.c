// Comments as Markdown: of the head of a primitive's file, above a def.
//
//   // NAME -- what it does.
//   //
//   //   before   =>   after         lines that are indented are code
//   //
//   // Prose.
//   //
//   // Requires:
//   //  1. the loop is serial       E0607
//
// What it requires becomes a list, with the codes of the diagnostics in
// brackets.

#include "tools/ingot/doc.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Where the reading of a comment is.
enum part { NOTHING, PROSE, CODE, LIST };

// Return whether a text begins with the code of a diagnostic.
static bool is_code(const char *at)
{
    return at[0] == 'E' && strspn(at + 1, "0123456789") == 4;
}

// Append the words of a line of the list, codes in brackets; `in_codes` says
// whether the line before ended with one, and whether this one does.
static void list_words(struct buf *out, const char *line, size_t n,
                       bool *in_codes)
{
    const char *end = line + n;
    while (line < end) {
        size_t blanks = strspn(line, " ");
        size_t length = strcspn(line + blanks, " \n");
        line += blanks;
        if (line >= end)
            break;
        bool code = is_code(line);
        buf_printf(out, "%s%.*s",
                   code && *in_codes ? ", "
                   : code            ? " ("
                   : *in_codes       ? "); "
                                     : " ",
                   (int)length, line);
        *in_codes = code;
        line += length;
    }
}

// Return whether a line begins an item: " 1. ".
static bool begins_item(const char *line)
{
    size_t blanks = strspn(line, " ");
    size_t digits = strspn(line + blanks, "0123456789");
    return digits && line[blanks + digits] == '.';
}

// Append a line of the list.
static void list_line(struct buf *out, const char *line, size_t n,
                      bool *in_codes)
{
    if (begins_item(line)) {
        size_t skipped = strcspn(line, ".") + 1;
        buf_text(out, *in_codes ? ")\n-" : "-");
        *in_codes = false;
        line += skipped;
        n -= skipped;
    }
    list_words(out, line, n, in_codes);
}

// Append a line of prose or code; `part` is what the line before was.  Prose
// becomes one line.
static void plain_line(struct buf *out, const char *line, size_t n,
                       enum part *part)
{
    enum part now = *line == ' ' ? CODE : PROSE;
    if (now == PROSE && *part == PROSE)
        out->data[out->n - 1] = ' ';
    buf_text(out, *part != NOTHING && now != *part ? "\n" : "");
    buf_printf(out, "%s%.*s\n", now == CODE ? "  " : "", (int)n, line);
    *part = now;
}

const char *doc_rest(const char *comment)
{
    const char *empty = strstr(comment, "\n//\n");
    return empty ? empty + 4 : comment + strlen(comment);
}

// Return how many characters a line of a comment begins with before its text.
static size_t margin(const char *line)
{
    return 2 + (line[2] == ' ');
}

void doc_comment(struct buf *out, const char *from, const char *to)
{
    bool in_codes = false;
    enum part part = NOTHING;
    for (const char *at = from; at < to;) {
        size_t skipped = margin(at), n = strcspn(at, "\n");
        const char *line = at + skipped;
        at += n + (at[n] == '\n');
        n -= skipped > n ? n : skipped;
        if (part == LIST && n) {
            list_line(out, line, n, &in_codes);
            continue;
        }
        if (part == LIST)
            buf_text(out, in_codes ? ")\n" : "\n");
        if (!n) {
            buf_char(out, '\n');
            part = NOTHING;
            in_codes = false;
            continue;
        }
        bool requires = strncmp(line, "Requires", 8) == 0;
        plain_line(out, line, n, &part);
        if (requires && line[n - 1] == ':') {
            buf_char(out, '\n');
            part = LIST;
        }
    }
    buf_text(out, part != LIST ? "" : in_codes ? ")\n" : "\n");
}
