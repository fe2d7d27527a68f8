// Open documents, and places in them.

#include "tools/lsp/lsp.h"

#include "ir/base/source.h"

#include <ctype.h>
#include <string.h>

struct lsp_document *lsp_find(struct lsp *l, const char *uri)
{
    for (size_t i = 0; uri && i < l->documents.n; i++)
        if (l->documents.at[i].is_open &&
            strcmp(l->documents.at[i].uri, uri) == 0)
            return &l->documents.at[i];
    return NULL;
}

// Return the value of a hexadecimal digit, -1 for what is none.
static int digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Return the path of a URI: `file://` gone, %41 read as `A`.
static const char *path_of(struct arena *a, const char *uri)
{
    struct buf path = {0};
    if (strncmp(uri, "file://", 7) == 0)
        uri += 7;
    for (; *uri; uri++) {
        int high = *uri == '%' ? digit(uri[1]) : -1;
        int low = high >= 0 ? digit(uri[2]) : -1;
        buf_char(&path, low < 0 ? *uri : (char)(high * 16 + low));
        uri += low < 0 ? 0 : 2;
    }
    const char *copy = arena_copy(a, path.n ? path.data : "", path.n);
    buf_free(&path);
    return copy;
}

struct lsp_document *lsp_set(struct lsp *l, const char *uri, const char *text)
{
    struct lsp_document *d = lsp_find(l, uri);
    if (!d) {
        struct lsp_document new = {.is_open = true};
        new.uri = arena_copy(&l->arena, uri, strlen(uri));
        new.name = path_of(&l->arena, uri);
        vec_push(&l->arena, &l->documents, new);
        d = &l->documents.at[l->documents.n - 1];
    }
    buf_free(&d->text);
    d->text = (struct buf){0};
    buf_text(&d->text, text);
    return d;
}

// Return how many UTF-16 code units a character of so many bytes is.
static size_t units(size_t bytes)
{
    return bytes == 4 ? 2 : 1;
}

// Return the number of a member, 0 if it is none.
static size_t number(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? (size_t)n : 0;
}

// Return how many bytes of the text are the next character.
static size_t step(const char *text, size_t size, size_t at)
{
    size_t n = source_character(text + at, size - at);
    return n ? n : 1;
}

size_t lsp_offset(const struct lsp_document *d, const json_t *position)
{
    size_t line = number(position, "line"),
           unit = number(position, "character");
    const char *text = d->text.n ? d->text.data : "";
    size_t at = 0, n = d->text.n;
    for (; line && at < n; at++)
        line -= text[at] == '\n';
    for (size_t u = 0; u < unit && at < n && text[at] != '\n';) {
        size_t bytes = step(text, n, at);
        u += units(bytes);
        at += bytes;
    }
    return at;
}

json_t *lsp_position(const char *text, size_t size, size_t at)
{
    json_int_t line = 0, unit = 0;
    for (size_t i = 0; i < at && i < size;) {
        size_t bytes = step(text, size, i);
        unit = text[i] == '\n' ? 0 : unit + (json_int_t)units(bytes);
        line += text[i] == '\n';
        i += bytes;
    }
    return json_pack("{s:I, s:I}", "line", line, "character", unit);
}

json_t *lsp_range(const char *text, size_t size, size_t from, size_t to)
{
    return json_pack("{s:o, s:o}", "start", lsp_position(text, size, from),
                     "end", lsp_position(text, size, to));
}

// Return whether a byte may be part of a name.
static bool is_of_name(const struct lsp_document *d, size_t at)
{
    return at < d->text.n && (isalnum((unsigned char)d->text.data[at]) ||
                              d->text.data[at] == '_');
}

struct lsp_word lsp_word_at(const struct lsp_document *d, size_t at)
{
    struct lsp_word w = {at, at};
    while (w.from && is_of_name(d, w.from - 1))
        w.from--;
    while (is_of_name(d, w.to))
        w.to++;
    return w;
}
