// Reads comments that silence warnings.

#include "ir/base/silence.h"

#include <ctype.h>
#include <string.h>

static const char word[] = "no-warn";
enum { WORD = sizeof word - 1, CODE_MOST = 15 };

// A look at the codes of a comment.
struct look {
    const char *at, *end; // the next code begins here
};

// Return whether a comment, from its `//`, silences, and the place of its codes.
static bool open_comment(const char *at, const char *end, struct look *out)
{
    at += 2;
    while (at < end && *at == ' ')
        at++;
    *out = (struct look){at + WORD, end};
    return end - at > (ptrdiff_t)WORD && memcmp(at, word, WORD) == 0 &&
           at[WORD] == ' ';
}

// Step to the next code, and over it; returns how long it is, 0 if there is none.
static size_t next_code(struct look *l, const char **code)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == ','))
        l->at++;
    *code = l->at;
    while (l->at < l->end && !strchr(" ,:\r", *l->at))
        l->at++;
    size_t n = (size_t)(l->at - *code);
    if (l->at < l->end && *l->at == ':')
        l->end = l->at;
    return n;
}

// Find the code of so many letters.
static bool find(const char *text, size_t n, enum diag_code *out)
{
    char name[CODE_MOST + 1] = {0};
    if (n > CODE_MOST)
        return false;
    memcpy(name, text, n);
    return diag_find(name, out);
}

// Return where the comment of a line begins; NULL if it has none.
static const char *comment_of(const char *line, const char *end)
{
    for (; line + 1 < end; line++)
        if (line[0] == '/' && line[1] == '/')
            return line;
    return NULL;
}

// Return whether nothing but spaces stands in a part of a line.
static bool is_blank(const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    return from == to;
}

// Return whether a line silences a code; one above only if it is all comment.
static bool line_has(const char *line, const char *end, bool is_above,
                     enum diag_code code)
{
    struct look l;
    const char *text;
    enum diag_code found;
    const char *comment = comment_of(line, end);
    if (!comment || (is_above && !is_blank(line, comment)) ||
        !open_comment(comment, end, &l))
        return false;
    for (size_t n; (n = next_code(&l, &text)) > 0;)
        if (find(text, n, &found) && found == code)
            return true;
    return false;
}

// Return where the line of a place begins.
static const char *line_start(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}

bool silence_has(struct span span, enum diag_code code)
{
    if (!span.source || span.from > span.source->size)
        return false;
    const char *text = span.source->text, *all = text + span.source->size;
    const char *line = line_start(text, text + span.from);
    const char *end = memchr(line, '\n', (size_t)(all - line));
    if (line_has(line, end ? end : all, false, code))
        return true;
    return line > text &&
           line_has(line_start(text, line - 1), line - 1, true, code);
}

void silence_check(struct diag_list *d, const struct source *source,
                   size_t from, size_t to)
{
    struct look l;
    const char *text;
    enum diag_code found;
    if (!open_comment(source->text + from, source->text + to, &l))
        return;
    for (size_t n; (n = next_code(&l, &text)) > 0;) {
        uint32_t at = (uint32_t)(text - source->text);
        struct span span = {source, at, at + (uint32_t)n};
        if (!find(text, n, &found))
            diag_warning(d, span, D_unknown_silence,
                         arena_copy(d->arena, text, n));
    }
}
