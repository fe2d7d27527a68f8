// What names mean: by the reference, by the library, by the document itself.

#include "tools/lsp/lsp.h"

#include "tools/ingot/defs.h"
#include "tools/ingot/doc.h"

#include <ctype.h>
#include <string.h>

// Kinds of what completion offers, as the protocol numbers them.
enum { ITEM_FUNCTION = 3, ITEM_VARIABLE = 6, ITEM_KEYWORD = 14 };

// What declares the name behind it.
static const char *const declares[] = {
    "kernel", "def", "rule", "let", "alloc", "const", "var", "reduce", NULL};

// Return the text of a word.
static const char *text_of(struct arena *a, const struct lsp_document *d,
                           struct lsp_word w)
{
    return arena_copy(a, d->text.data + w.from, w.to - w.from);
}

// Append a def of a text, with its comment, if it has the name.
static void add_def(struct arena *a, const char *text, const char *name,
                    struct buf *out)
{
    struct def def;
    for (const char *at = text; def_next(a, at, &def); at = def.behind)
        if (strcmp(def.name, name) == 0) {
            buf_text(out, out->n ? "\n" : "");
            buf_printf(out, "```\n%.*s```\n", (int)(def.behind - def.head),
                       def.head);
        }
}

// Fill the sections that are about texts, not about the command.
static void collect_language(struct doc *d)
{
    doc_collect(d);
    while (d->entries.n &&
           d->entries.at[d->entries.n - 1].section > DOC_architectures)
        d->entries.n--;
}

// Append what a name means, as Markdown.
static void add_meaning(struct arena *a, const struct lsp_document *d,
                        const char *name, struct buf *out)
{
    struct doc doc = {.arena = a};
    size_t n = 0;
    collect_language(&doc);
    doc_pages(&doc, name, &n, out);
    if (!n)
        add_def(a, d->text.data, name, out);
    for (const struct library_file *f = library_files; !out->n && f->name; f++)
        add_def(a, f->text, name, out);
}

json_t *lsp_hover(const struct lsp_document *d, size_t at)
{
    struct arena a = {0};
    struct buf out = {0}, nest = {0};
    struct lsp_word w = lsp_word_at(d, at);
    if (w.to > w.from)
        add_meaning(&a, d, text_of(&a, d, w), &out);
    lsp_nest(d, at, &nest);
    if (nest.n)
        buf_printf(&out, "%sBehind this directive:\n\n```\n%.*s```\n",
                   out.n ? "\n" : "", (int)nest.n, nest.data);
    json_t *hover = out.n ? json_pack("{s:{s:s, s:s}}", "contents", "kind",
                                      "markdown", "value", out.data)
                          : json_null();
    buf_free(&nest);
    buf_free(&out);
    arena_reset(&a);
    return hover ? hover : json_null();
}

// What completion offers, each name once.
struct offers {
    json_t *list, *seen;
};

// Offer a name.
static void offer(struct offers *o, const char *name, int kind,
                  const char *detail)
{
    if (json_object_get(o->seen, name))
        return;
    json_object_set_new(o->seen, name, json_true());
    json_array_append_new(o->list,
                          json_pack("{s:s, s:i, s:s}", "label", name, "kind",
                                    kind, "detail", detail ? detail : ""));
}

// Return whether a name can stand in a text: options and codes of diagnostics cannot.
static bool is_name(const char *name)
{
    if (!isalpha((unsigned char)*name))
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

// Offer what the reference has.
static void offer_reference(struct arena *a, struct offers *o)
{
    struct doc doc = {.arena = a};
    collect_language(&doc);
    for (size_t i = 0; i < doc.entries.n; i++) {
        const struct doc_entry *e = &doc.entries.at[i];
        bool is_call = strchr(e->form, '(') != NULL;
        if (is_name(e->name))
            offer(o, e->name, is_call ? ITEM_FUNCTION : ITEM_KEYWORD, e->form);
    }
}

// Offer the names of the document, but for the one that is being written.
static void offer_document(struct arena *a, const struct lsp_document *d,
                           size_t at, struct offers *o)
{
    struct lsp_word here = lsp_word_at(d, at);
    for (size_t i = 0; i < d->text.n; i++) {
        struct lsp_word w = lsp_word_at(d, i);
        if (w.to > w.from && w.from != here.from &&
            isalpha((unsigned char)d->text.data[w.from]))
            offer(o, text_of(a, d, w), ITEM_VARIABLE, NULL);
        i = w.to > i ? w.to : i;
    }
}

json_t *lsp_complete(const struct lsp_document *d, size_t at)
{
    struct arena a = {0};
    struct offers o = {json_array(), json_object()};
    offer_reference(&a, &o);
    for (const struct library_file *f = library_files; f->name; f++) {
        struct def def;
        for (const char *t = f->text; def_next(&a, t, &def); t = def.behind)
            offer(&o, def.name, ITEM_FUNCTION, def.form);
    }
    offer_document(&a, d, at, &o);
    json_decref(o.seen);
    arena_reset(&a);
    return o.list;
}

// Return whether the word in front of a byte declares a name.
static bool is_declared_at(struct arena *a, const struct lsp_document *d,
                           size_t from)
{
    while (from && d->text.data[from - 1] == ' ')
        from--;
    const char *before = text_of(a, d, lsp_word_at(d, from));
    for (size_t i = 0; declares[i]; i++)
        if (strcmp(before, declares[i]) == 0)
            return true;
    return false;
}

// Return whether a word is one of the names in front of an assignment's `=`.
static bool is_assigned(const struct lsp_document *d, struct lsp_word w)
{
    static const char names[] = " ,_abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *from = d->text.data + w.from, *to = d->text.data + w.to;
    while (from > d->text.data && from[-1] != '\n')
        from--;
    from += strspn(from, names);
    to += strspn(to, names);
    return from == to && *to == '=' && to[1] != '=';
}

// Return how well a word declares its name: 2 by what stands in front, 1 as a parameter
// or by an assignment, else 0.
static int declaration(struct arena *a, const struct lsp_document *d,
                       struct lsp_word w)
{
    const char *behind = d->text.data + w.to;
    if (is_declared_at(a, d, w.from))
        return 2;
    return behind[strspn(behind, " ")] == ':' || is_assigned(d, w);
}

json_t *lsp_definition(const struct lsp_document *d, size_t at)
{
    struct arena a = {0};
    struct lsp_word here = lsp_word_at(d, at), found = {0, 0};
    const char *name = text_of(&a, d, here);
    int best = 0;
    for (size_t i = 0; here.to > here.from && i < d->text.n; i++) {
        struct lsp_word w = lsp_word_at(d, i);
        int how = 0;
        if (w.to - w.from == here.to - here.from &&
            strncmp(d->text.data + w.from, name, w.to - w.from) == 0)
            how = declaration(&a, d, w);
        if (how > best || (how == best && how && w.from <= here.from)) {
            best = how;
            found = w;
        }
        i = w.to > i ? w.to : i;
    }
    arena_reset(&a);
    if (!best)
        return json_null();
    return json_pack("{s:s, s:o}", "uri", d->uri, "range",
                     lsp_range(d->text.data, d->text.n, found.from, found.to));
}
