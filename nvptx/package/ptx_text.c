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
    while (i < size && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i < size ? i + 1 : size;
}

// Return the index behind the token at `at`: a comment, a string or a
// character.
static size_t skip_token(const char *text, size_t size, size_t at)
{
    size_t after = skip_comment(text, size, at);
    if (after == at && text[at] == '"')
        after = skip_string(text, size, at);
    return after == at ? at + 1 : after;
}

void ptx_compact(const char *text, size_t size, struct buf *out)
{
    size_t after;
    bool is_behind_space = true;
    for (size_t i = 0; i < size; i = after) {
        bool is_comment = skip_comment(text, size, i) != i;
        bool is_blank = text[i] == ' ' || text[i] == '\t';
        after = skip_token(text, size, i);
        if (!is_comment && !(is_blank && is_behind_space))
            buf_bytes(out, text + i, after - i);
        is_behind_space = is_blank || strchr("\n\r\f\v", text[i]);
    }
}

// Return the index behind the next `directive` and its blank, from `at` on, or
// `size`.
static size_t find_directive(const char *text, size_t size, size_t at,
                             const char *directive)
{
    size_t n = strlen(directive);
    while (at + n < size) {
        if (memcmp(text + at, directive, n) == 0)
            return at + n;
        at = skip_token(text, size, at);
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
