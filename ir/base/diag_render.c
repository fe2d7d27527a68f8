// Prints diagnostics with an excerpt of the source:
//
//   error[E0301]: unknown variable `N`
//     --> matmul.ing:3:14
//      |
//    3 |     C[i] = A[N]
//      |              ^ not declared in this kernel
//   help: did you mean `n`?
//
// and below that its trace, a line for each step.

#include "ir/base/diag.h"

#include <string.h>

enum { LONGEST_LINE = 160 };

static const char *const red = "\033[1;31m", *const yellow = "\033[1;33m",
                         *const blue = "\033[1;34m", *const bold = "\033[1m",
                         *const plain = "\033[0m";

// Append text, in a colour if the style has colours.
static void painted(struct buf *out, struct diag_style style,
                    const char *colour, const char *text)
{
    buf_printf(out, "%s%s%s", style.colour ? colour : "", text,
               style.colour ? plain : "");
}

// Append `n` bytes of a line with tabs as one blank, and control characters
// and what is no UTF-8 as `?`.
static void excerpt(struct buf *out, const char *text, size_t n)
{
    for (size_t i = 0, size; i < n; i += size ? size : 1) {
        unsigned char c = (unsigned char)text[i];
        size = source_character(text + i, n - i);
        if (c == '\t')
            buf_char(out, ' ');
        else if (size == 0 || c < 32 || c == 127)
            buf_char(out, '?');
        else
            buf_bytes(out, text + i, size);
    }
}

// Return how many columns the excerpt of the bytes takes.
static int columns(const char *text, size_t n)
{
    int count = 0;
    for (size_t i = 0, size; i < n; i += size ? size : 1) {
        size = source_character(text + i, n - i);
        count++;
    }
    return count;
}

// Append the underline below the part of the line that the span covers.
static void underline(struct buf *out, struct diag_style style,
                      struct source_line line, struct span span,
                      const char *label)
{
    size_t before = line.column - 1;
    size_t n = span.to > span.from ? span.to - span.from : 1;
    if (before + n > line.n)
        n = line.n > before ? line.n - before : 1;
    int width = before < line.n ? columns(line.text + before, n) : 1;
    buf_indent(out, columns(line.text, before < line.n ? before : line.n));
    buf_text(out, style.colour ? red : "");
    for (int i = 0; i < (width > 0 ? width : 1); i++)
        buf_char(out, '^');
    if (label)
        buf_printf(out, " %s", label);
    buf_printf(out, "%s\n", style.colour ? plain : "");
}

// Append the place and the excerpt of a span that has a place.
static void place(struct buf *out, struct diag_style style, struct span span,
                  const char *label)
{
    struct source_line line = source_line(span.source, span.from);
    painted(out, style, blue, "  --> ");
    buf_printf(out, "%s:%u:%u\n", span.source->name, line.number, line.column);
    if (line.n > LONGEST_LINE || !line.n)
        return;
    painted(out, style, blue, "      |\n");
    buf_printf(out, "%s%5u |%s ", style.colour ? blue : "", line.number,
               style.colour ? plain : "");
    excerpt(out, line.text, line.n);
    buf_char(out, '\n');
    painted(out, style, blue, "      | ");
    underline(out, style, line, span, label);
}

// Append a note or a help; further lines of its text are indented.
static void remark(struct buf *out, struct diag_style style,
                   const struct diag_note *note)
{
    painted(out, style, bold, note->is_help ? "help" : "note");
    buf_text(out, ": ");
    for (const char *p = note->text; *p; p++) {
        buf_char(out, *p);
        if (*p == '\n' && p[1])
            buf_indent(out, 6);
    }
    if (out->data[out->n - 1] != '\n')
        buf_char(out, '\n');
    if (note->span.source)
        place(out, style, note->span, NULL);
}

// Append what led there.
static void trace(struct buf *out, struct diag_style style,
                  const struct diag *one)
{
    painted(out, style, bold, "trace");
    buf_printf(out, ": %s\n", one->trace);
    for (size_t i = 0; i < one->steps.n; i++) {
        const struct diag_step *step = &one->steps.at[i];
        struct span span = step->span;
        buf_indent(out, 6);
        if (span.source) {
            struct source_line line = source_line(span.source, span.from);
            buf_printf(out, "%s:%u:%u: ", span.source->name, line.number,
                       line.column);
        }
        buf_printf(out, "%s %s\n", step->who, step->what);
    }
}

// Append one diagnostic.
static void render(struct buf *out, struct diag_style style,
                   const struct diag *one)
{
    const char *const colours[] = {red, yellow, blue};
    painted(out, style, colours[one->severity],
            diag_severity_text(one->severity));
    buf_printf(out, "[%s]: %s\n", diag_code_text(one->code), one->text);
    if (one->span.source)
        place(out, style, one->span, one->label);
    for (size_t i = 0; i < one->notes.n; i++)
        remark(out, style, &one->notes.at[i]);
    if (one->trace)
        trace(out, style, one);
}

void diag_render(const struct diag_list *d, struct diag_style style,
                 struct buf *out)
{
    for (size_t i = 0; i < d->all.n; i++)
        render(out, style, &d->all.at[i]);
    if (d->more)
        buf_printf(out, "and %d more\n", d->more);
}
