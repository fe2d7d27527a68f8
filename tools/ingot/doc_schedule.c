// Sections of the reference on schedules: functions, contracts, primitives,
// the defs of the library.

#include "tools/ingot/doc.h"

#include "ir/schedule.h"
#include "passes/schedule/prim.h"
#include "tools/ingot/defs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void doc_add_lookups(struct doc *d)
{
#define FUNCTION(name, arguments, run, form, returns)                          \
    doc_add(d, #name, form, returns);
#define NUMBERS(name, op, form, returns) doc_add(d, #name, form, returns);
#include "passes/schedule/interpret/functions.def"
#undef FUNCTION
#undef NUMBERS
}

void doc_add_contracts(struct doc *d)
{
    for (int i = 0; i < CONTRACT_COUNT; i++) {
        const struct sched_contract_info *c =
            sched_contract_info((enum sched_contract_kind)i);
        doc_add(
            d, c->name,
            arena_printf(d->arena, "%s%s", c->name, c->has_number ? " n" : ""),
            arena_printf(d->arena, "%s; judged on %s; broken: %s", c->meaning,
                         c->seen == CONTRACT_LOWERED ? "what is lowered"
                                                     : "each cubin",
                         diag_code_text(c->broken)));
    }
}

// Return the comment at the head of a primitive's file.
static const char *head_of(const char *primitive)
{
    char name[128];
    snprintf(name, sizeof name, "primitives/%s.c", primitive);
    for (const struct library_file *f = doc_heads; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->text;
    return "";
}

// Return the title of a comment, "NAME -- what it does.", without the name.
static const char *title_of(struct arena *a, const char *head)
{
    const char *title = "", *dashes = strstr(head, " -- ");
    const char *end = strstr(head, "\n//\n");
    if (!dashes)
        return title;
    for (const char *at = dashes + 4; at && (!end || at < end);) {
        size_t n = strcspn(at, "\n");
        title =
            arena_printf(a, "%s%s%.*s", title, *title ? " " : "", (int)n, at);
        at = strncmp(at + n, "\n// ", 4) == 0 ? at + n + 4 : NULL;
    }
    return arena_printf(a, "%c%s", toupper((unsigned char)*title), title + 1);
}

// Return the letter behind a signature's last: how often it may come.
static char mark_of(const char *letters)
{
    return letters[strcspn(letters, "+?*")];
}

// Return a call of a primitive with what its arguments are called.
static const char *call_of(struct arena *a, const struct sched_prim_info *p)
{
    char mark = mark_of(p->arguments);
    size_t letters = strcspn(p->arguments, "+?*"), i = 0;
    size_t open = letters - strspn(p->arguments + letters, "?*");
    const char *text = arena_printf(a, "%s(", p->name);
    for (const char *at = p->parameters; *at;) {
        size_t n = strcspn(at, " ");
        text = arena_printf(a, "%s%.*s%s%s", text, (int)n, at,
                            i++ < open ? "" : "?", at[n] ? ", " : "");
        at += n + (at[n] == ' ');
    }
    return arena_printf(a, "%s%s)", text,
                        mark == '+' || mark == '*' ? ", ..." : "");
}

// Where the names are that a parameter may have.
struct choice {
    const char *parameter;
    enum doc_section section;
};

static const struct choice choices[] = {
    {"axis", DOC_axes},   {"memory", DOC_spaces},      {"way", DOC_copies},
    {"hint", DOC_copies}, {"instruction", DOC_matrix}, {"order", DOC_orders},
};
enum { CHOICES = sizeof choices / sizeof *choices };

// Append which section has the names that a parameter may have.
static void see(const char *parameter, size_t n, struct buf *out)
{
    for (int i = 0; i < CHOICES; i++)
        if (strlen(choices[i].parameter) == n &&
            strncmp(choices[i].parameter, parameter, n) == 0)
            buf_printf(out, "; see \"%s\"", doc_title(choices[i].section));
}

// Append what the arguments are.
static void arguments(const struct sched_prim_info *p, struct buf *out)
{
    const char *at = p->parameters;
    for (size_t i = 0; *at; i++) {
        size_t n = strcspn(at, " ");
        buf_printf(out, "- `%.*s`: %s", (int)n, at,
                   sched_argument_text(p->arguments[i]));
        see(at, n, out);
        buf_char(out, '\n');
        at += n + (at[n] == ' ');
    }
}

// Append which knobs an argument may be.
static void knobs(const struct sched_prim_info *p, struct buf *out)
{
    if (strpbrk(p->arguments, "if"))
        buf_printf(out,
                   "\nKnobs: an integer may be one that `tune` declares "
                   "or `sample_categorical` makes%s.\n",
                   strchr(p->arguments, 'f')
                       ? "; `sample_perfect_tile` makes factors"
                       : "");
}

// Return whether a text has a call of that name.
static bool has_call(const char *from, const char *to, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = from; (at = strstr(at, name)) && at < to; at += n)
        if (at[n] == '(' && !isalnum((unsigned char)at[-1]) && at[-1] != '_')
            return true;
    return false;
}

// Append the defs of the library that call a primitive.
static void callers(const char *primitive, struct buf *out)
{
    struct arena a = {0};
    struct def def;
    bool any = false;
    for (const struct library_file *f = library_files; f->name; f++)
        for (const char *at = f->text; def_next(&a, at, &def);
             at = def.behind) {
            if (!has_call(def.text, def.behind, primitive))
                continue;
            buf_printf(
                out, "%s`%s`",
                any ? ", " : "\nDefs of the library that call it: ", def.name);
            any = true;
        }
    buf_text(out, any ? ".\n" : "");
    arena_reset(&a);
}

// Append the rest of the entry of a primitive.
static bool more_of_primitive(const struct doc_entry *e, struct buf *out)
{
    const struct sched_prim_info *p = e->of;
    const char *head = head_of(p->name);
    arguments(p, out);
    if (*p->results)
        buf_printf(out, "\nReturns %s.\n", p->results);
    buf_char(out, '\n');
    doc_comment(out, doc_rest(head), head + strlen(head));
    knobs(p, out);
    callers(p->name, out);
    return doc_example(p->name, out);
}

void doc_add_primitives(struct doc *d)
{
    for (int i = 0; i < PRIM_COUNT; i++) {
        const struct sched_prim_info *p = sched_prim_info((enum sched_prim)i);
        struct doc_entry *e = doc_add(d, p->name, call_of(d->arena, p),
                                      title_of(d->arena, head_of(p->name)));
        e->of = p;
        e->more = more_of_primitive;
    }
}

// Append what the comment above a def says behind its first paragraph.
static bool more_of_def(const struct doc_entry *e, struct buf *out)
{
    const struct def *def = e->of;
    doc_comment(out, doc_rest(def->head), def->text);
    return true;
}

void doc_add_defs(struct doc *d)
{
    struct def def;
    const char *brief = "";
    for (const struct library_file *f = library_files; f->name; f++)
        for (const char *at = f->text; def_next(d->arena, at, &def);
             at = def.behind) {
            struct def *kept = arena_new(d->arena, struct def);
            *kept = def;
            if (def.head < def.text)
                brief = def_brief(d->arena, &def);
            struct doc_entry *e = doc_add(d, def.name, def.form, brief);
            e->of = kept;
            e->more = doc_rest(def.head) < def.text ? more_of_def : NULL;
        }
}
