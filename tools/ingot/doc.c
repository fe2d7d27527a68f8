// ingot doc [NAME]: the reference, made from the tables.
//
//   ingot doc              the sections, and the names in them
//   ingot doc split        what a name means, in every section that has it
//   ingot doc --markdown   all of it: docs/REFERENCE.md

#include "tools/ingot/doc.h"

#include "tools/ingot/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum layout { TABLE, ENTRIES, COUNTED };

// A row of doc_sections.def.
struct section {
    enum layout layout;
    const char *one, *title, *introduction;
    void (*add)(struct doc *d);
};

static const struct section sections[] = {
#define DOC_SECTION(name, layout, one, title, introduction)                    \
    {layout, one, title, introduction, doc_add_##name},
#include "tools/ingot/doc_sections.def"
#undef DOC_SECTION
};

enum { LINE = 79 };

struct doc_entry *doc_add(struct doc *d, const char *name, const char *form,
                          const char *brief)
{
    struct doc_entry e = {
        .section = d->section, .name = name, .form = form, .brief = brief};
    vec_push(d->arena, &d->entries, e);
    return &d->entries.at[d->entries.n - 1];
}

const char *doc_title(enum doc_section section)
{
    return sections[section].title;
}

void doc_code(struct buf *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        buf_printf(out, "%s%.*s\n", n ? "    " : "", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void doc_collect(struct doc *d)
{
    for (int i = 0; i < DOC_SECTIONS; i++) {
        d->section = (enum doc_section)i;
        sections[i].add(d);
    }
}

// Return whether a name is what was asked for, in any case of letters; `*`
// stands for digits.
static bool is_called(const char *name, const char *wanted)
{
    for (; *name; name++) {
        if (*name == '*' && isdigit((unsigned char)*wanted)) {
            wanted += strspn(wanted, "0123456789");
            continue;
        }
        if (tolower((unsigned char)*name) != tolower((unsigned char)*wanted))
            return false;
        wanted++;
    }
    return !*wanted;
}

// Append one entry as a page of its own.
static bool page(const struct doc_entry *e, struct buf *out)
{
    buf_printf(out, "%s: %s\n\n", e->name, sections[e->section].one);
    doc_code(out, e->form);
    if (sections[e->section].layout != COUNTED)
        buf_printf(out, "\n%s\n", e->brief);
    buf_text(out, e->more ? "\n" : "");
    return !e->more || e->more(e, out);
}

bool doc_pages(const struct doc *d, const char *wanted, size_t *n,
               struct buf *out)
{
    const char *bare = wanted + strspn(wanted, "-");
    wanted = *bare ? bare : wanted;
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct doc_entry *e = &d->entries.at[i];
        if (!is_called(e->name, wanted) &&
            !(e->also && is_called(e->also, wanted)))
            continue;
        buf_text(out, (*n)++ ? "\n" : "");
        if (!page(e, out))
            return false;
    }
    return true;
}

// Append the names of a section, in lines, from column `indent` on.
static void names(const struct doc *d, int section, struct buf *out)
{
    enum { INDENT = 4 };
    size_t column = 0, n = 0;
    const char *last = "";
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct doc_entry *e = &d->entries.at[i];
        if ((int)e->section != section || strcmp(e->name, last) == 0)
            continue;
        last = e->name;
        n++;
        if (sections[section].layout == COUNTED)
            continue;
        bool fits = column && column + 1 + strlen(last) <= LINE;
        buf_printf(out, "%s%s", fits ? " " : column ? "\n    " : "    ", last);
        column = (fits ? column + 1 : INDENT) + strlen(last);
    }
    if (sections[section].layout == COUNTED)
        buf_printf(out, "    %zu, such as %s", n, last);
    buf_char(out, '\n');
}

// Append the contents.
static void contents(const struct doc *d, struct buf *out)
{
    for (int i = 0; i < DOC_SECTIONS; i++) {
        buf_printf(out, "%s\n", sections[i].title);
        names(d, i, out);
    }
    buf_text(
        out,
        "\n`ingot doc NAME` says what a name means, `ingot doc --markdown` "
        "all of it.\n");
}

// Append a text for a cell of a table, as code if `is_code`: a `|` would end
// it.
static void cell(struct buf *out, const char *text, bool is_code)
{
    buf_text(out, is_code ? "| `" : " | ");
    for (; *text; text++)
        buf_printf(out, *text == '|' ? "\\%c" : "%c", *text);
    buf_text(out, is_code ? "`" : " |\n");
}

// Append an entry of a section, as its layout asks.
static bool item(const struct doc_entry *e, struct buf *out)
{
    if (sections[e->section].layout != ENTRIES) {
        cell(out, e->form, true);
        cell(out, e->brief, false);
        return true;
    }
    buf_printf(out, "\n### %s\n\n", e->name);
    doc_code(out, e->form);
    buf_printf(out, "\n%s\n", e->brief);
    buf_text(out, e->more ? "\n" : "");
    return !e->more || e->more(e, out);
}

// Append the anchor that Markdown gives a title.
static void anchor(struct buf *out, const char *title)
{
    for (; *title; title++)
        buf_char(out,
                 *title == ' ' ? '-' : (char)tolower((unsigned char)*title));
}

// Append the whole reference.
static bool markdown(const struct doc *d, struct buf *out)
{
    size_t at = 0;
    buf_text(out, "# Reference\n\nMade by `ingot doc --markdown` from the "
                  "tables of the compiler; `ingot doc NAME` prints one entry. "
                  "A first example is in [README.md](../README.md), the terms "
                  "of the field in [GLOSSARY.md](GLOSSARY.md).\n\n");
    for (int i = 0; i < DOC_SECTIONS; i++) {
        buf_printf(out, "- [%s](#", sections[i].title);
        anchor(out, sections[i].title);
        buf_text(out, ")\n");
    }
    for (int i = 0; i < DOC_SECTIONS; i++) {
        const struct section *s = &sections[i];
        buf_printf(out, "\n## %s\n\n%s\n", s->title, s->introduction);
        buf_text(out, s->layout == ENTRIES ? "" : "\n| | |\n|---|---|\n");
        for (; at < d->entries.n && (int)d->entries.at[at].section == i; at++)
            if (!item(&d->entries.at[at], out))
                return false;
    }
    return true;
}

// What the command line says.
struct request {
    const char *name;
    bool is_markdown;
};

// Report a name that no section has.
static int unknown(const struct doc *d, const char *name)
{
    struct diag_list diags = {.arena = d->arena};
    struct suggest near = {.wanted = name};
    for (size_t i = 0; i < d->entries.n; i++)
        suggest_offer(&near, d->entries.at[i].name);
    diag_error(&diags, (struct span){0}, D_no_entry, name);
    suggest_help(&diags, &near);
    cli_report(&diags);
    return EXIT_USAGE;
}

// Append a line of `n` characters, broken at spaces where it is longer than a
// line should be; items of a list go on below their text.
static void wrap_line(struct buf *out, const char *line, size_t n)
{
    size_t indent = strncmp(line, "- ", 2) == 0 ? 2 : 0, used = 0;
    while (n + used > LINE) {
        size_t at = LINE - used;
        while (at && line[at] != ' ')
            at--;
        if (at <= indent)
            break;
        size_t length = line[at - 1] == ' ' ? at - 1 : at;
        buf_printf(out, "%.*s\n", (int)length, line);
        buf_indent(out, (int)indent);
        used = indent;
        line += at + 1;
        n -= at + 1;
    }
    buf_bytes(out, line, n);
    buf_char(out, '\n');
}

// Append Markdown with its paragraphs and lists in lines of usual length; code
// and tables stay.
static void wrap(struct buf *out, const struct buf *text)
{
    for (const char *at = text->data; at && *at;) {
        size_t n = strcspn(at, "\n");
        if (*at == '|' || strncmp(at, "    ", 4) == 0)
            buf_printf(out, "%.*s\n", (int)n, at);
        else
            wrap_line(out, at, n);
        at += n + (at[n] == '\n');
    }
}

// Do what was asked.  Returns the exit code.
static int show(const struct request *r)
{
    struct arena arena = {0};
    struct doc d = {.arena = &arena};
    struct buf text = {0}, out = {0};
    size_t n = 0;
    int code = EXIT_DONE;
    bool ok = true;
    doc_collect(&d);
    if (r->is_markdown)
        ok = markdown(&d, &text);
    else if (r->name)
        ok = doc_pages(&d, r->name, &n, &text);
    else
        contents(&d, &text);
    wrap(&out, &text);
    if (ok && r->name && !n)
        code = unknown(&d, r->name);
    else if (!ok || !cli_print(&out))
        code = EXIT_TOOL;
    buf_free(&text);
    buf_free(&out);
    arena_reset(&arena);
    return code;
}

enum { KEY_MARKDOWN = 512 };

static const struct argp_option options[] = {
    {"markdown", KEY_MARKDOWN, 0, 0, "print everything, as Markdown", 0}, {0}};

// Take the name, or the option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;
    if (key == KEY_MARKDOWN) {
        r->is_markdown = true;
        return 0;
    }
    if (key == ARGP_KEY_END && r->name && r->is_markdown)
        argp_error(state, "NAME and --markdown exclude each other");
    if (key != ARGP_KEY_ARG || r->name)
        return ARGP_ERR_UNKNOWN;
    r->name = arg;
    return 0;
}

const struct argp doc_argp = {
    options,
    take,
    "[NAME]",
    "Say what a name means: a type, a function, a primitive, an option, a "
    "diagnostic ...; without one, list all names.",
    0,
    0,
    0};

int command_doc(int argc, char **argv)
{
    struct request r = {0};
    cli_parse(&doc_argp, argc, argv, &r);
    return show(&r);
}
