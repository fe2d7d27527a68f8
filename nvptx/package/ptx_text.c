// Scans PTX: comments, strings and directives, nothing below.

#include "nvptx/package/ptx_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Return the index behind the comment that starts at `at`, or `at`.
static size_t skip_comment(const char *text, size_t size, size_t at)
{
    if (at + 1 >= size || text[at] != '/')
        return at;
    size_t i = at + 2;
    if (text[at + 1] == '/') {
        while (i < size && text[i] != '\n')
            i++;
        return i;
    }
    if (text[at + 1] != '*')
        return at;
    while (i + 1 < size && !(text[i] == '*' && text[i + 1] == '/'))
        i++;
    return i + 2 < size ? i + 2 : size;
}

// Return the index behind the string that starts at `at`.
static size_t skip_string(const char *text, size_t size, size_t at)
{
    size_t i = at + 1;
    while (i < size && text[i] != '"' && text[i] != '\n')
        i++;
    return i < size ? i + 1 : size;
}

void ptx_compact(const char *text, size_t size, struct buf *out)
{
    char last = '\n';
    for (size_t i = 0; i < size;) {
        size_t after = skip_comment(text, size, i);
        if (after != i) {
            last = last == '\n' ? '\n' : '/';
            i = after;
            continue;
        }
        bool is_blank = text[i] == ' ' || text[i] == '\t';
        bool is_dropped =
            (is_blank && last == '\n') || (text[i] == ' ' && last == ' ');
        after = text[i] == '"' ? skip_string(text, size, i) : i + 1;
        if (!is_dropped) {
            buf_bytes(out, text + i, after - i);
            last = text[i];
        }
        i = after;
    }
}

// Return the index behind the next `directive` and its blank, from `at` on, or
// `size`.
static size_t find_directive(const char *text, size_t size, size_t at,
                             const char *directive)
{
    size_t n = strlen(directive);
    while (at + n < size) {
        size_t after = skip_comment(text, size, at);
        if (after == at && text[at] == '"')
            after = skip_string(text, size, at);
        if (after == at && memcmp(text + at, directive, n) == 0)
            return at + n;
        at = after == at ? at + 1 : after;
    }
    return size;
}

unsigned ptx_version(const char *text, size_t size)
{
    unsigned major, minor;
    size_t at = find_directive(text, size, 0, ".version ");
    if (at == size || sscanf(text + at, "%2u.%1u", &major, &minor) != 2)
        return 0;
    return major * 10 + minor;
}

void ptx_kernels(struct arena *a, const char *text, size_t size,
                 struct usage_list *out)
{
    static const char entry[] = ".entry ";
    size_t at = find_directive(text, size, 0, entry);
    for (; at < size; at = find_directive(text, size, at, entry)) {
        at += strspn(text + at, " \t\n");
        size_t n = strcspn(text + at, " \t\n(");
        const char *name = arena_copy(a, text + at, n);
        vec_push(a, out, usage_unknown(name));
    }
}
