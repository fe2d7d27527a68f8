// A part is closed once it is long enough to be worth a process.
//
// What LLVM writes of a module is a head of a few lines, declarations of one
// line each, and functions, which end at a brace at the beginning of a line.
// Names of the module begin with that of their entry, but for dynamic shared
// memory and for what libdevice brings along: these may be in several parts.

#include "nvptx/parts.h"

#include "ir/walk.h"

#include <string.h>

enum { PART_LEAST = 600 }; // statements

struct parts parts_of(struct arena *a, const struct ir_kernel *const *kernels,
                      size_t n, const struct nvptx_options *options)
{
    bool is_one = n < 2 || options->form != NVPTX_PTX || options->line_info;
    struct parts all = {0};
    struct part now = {kernels, is_one ? n : 0};
    size_t size = 0;
    for (size_t i = 0; i < n && !is_one; i++) {
        ir_foreach_stmt(s, &kernels[i]->body)
            size++;
        now.n++;
        if (size < PART_LEAST)
            continue;
        vec_push(a, &all, now);
        now = (struct part){kernels + i + 1, 0};
        size = 0;
    }
    if (now.n || !all.n)
        vec_push(a, &all, now);
    return all;
}

// Return the length of the first line, with its end.
static size_t line_length(const char *text)
{
    size_t n = strcspn(text, "\n");
    return n + (text[n] == '\n');
}

// Return whether an item is one line.
static bool is_line(const char *item)
{
    size_t n = line_length(item);
    return *item != '.' || (n > 1 && item[n - 2] == ';');
}

// Return the length of the first item: a line, or what a line begins that ends
// at a semicolon or a brace on a line of its own.
static size_t item_length(const char *text)
{
    size_t n = line_length(text);
    if (is_line(text))
        return n;
    while (text[n] && text[n] != ';' && text[n] != '}')
        n += line_length(text + n);
    return n + line_length(text + n);
}

// Return the name that a line declares, of *n bytes.
static const char *name_of(const char *line, size_t *n)
{
    const char *end = line + strcspn(line, "[=;\n");
    while (end > line && end[-1] == ' ')
        end--;
    const char *at = end;
    while (at > line && at[-1] != ' ')
        at--;
    *n = (size_t)(end - at);
    return at;
}

// Return whether two items are the same: variables of one name, functions that
// begin alike.
static bool is_same(const char *x, const char *y)
{
    size_t n = line_length(x), m = line_length(y);
    if (*x != '.' || *y != '.' || is_line(x) != is_line(y))
        return false;
    if (is_line(x)) {
        x = name_of(x, &n);
        y = name_of(y, &m);
    }
    return n == m && strncmp(x, y, n) == 0;
}

// Return what stands behind the first `words` of a text, or its end.
static const char *behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? at + strlen(words) : text + strlen(text);
}

// Return what stands behind the head.
static const char *items_of(const struct buf *text)
{
    return behind(text->data, "\n.address_size 64\n");
}

// Return the item of a text that is the same as another, or NULL.
static const char *find_same(const struct buf *text, const char *item)
{
    for (const char *at = items_of(text); *at; at += item_length(at)) {
        if (is_same(at, item))
            return at;
    }
    return NULL;
}

// Append an item of text `of` unless an earlier one has it: of variables the
// longest line, or the last of these, which is the one that is aligned most.
static void join_item(const struct buf *texts, size_t n, size_t of,
                      const char *item, struct buf *out)
{
    const char *best = item;
    for (size_t i = 0; i < n && *item == '.'; i++) {
        const char *other = i == of ? item : find_same(&texts[i], item);
        size_t length = line_length(best);
        if (other && i < of)
            return;
        if (other && is_line(item) &&
            (line_length(other) > length ||
             (line_length(other) == length && strcmp(other, best) > 0)))
            best = other;
    }
    buf_bytes(out, best, item_length(best));
}

void parts_join(const struct buf *texts, size_t n, struct buf *out)
{
    static const char version[] = "\n.version ";
    const struct buf *head = texts;
    for (size_t i = 1; i < n; i++) {
        if (strcmp(behind(texts[i].data, version),
                   behind(head->data, version)) > 0)
            head = &texts[i];
    }
    buf_bytes(out, head->data, (size_t)(items_of(head) - head->data));
    for (size_t i = 0; i < n; i++) {
        for (const char *at = items_of(&texts[i]); *at; at += item_length(at))
            join_item(texts, n, i, at, out);
    }
}
