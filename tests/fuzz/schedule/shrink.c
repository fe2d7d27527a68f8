// Makes a failing file smaller: drops lines (directives first, then stages
// with their blocks), puts numbers for elements and brackets, and smaller
// numbers for numbers, as long as it fails the same way.

#define _DEFAULT_SOURCE

#include "tests/fuzz/schedule/shrink.h"

#include "ir/base/buf.h"
#include "ir/base/phases.h"
#include "tests/fuzz/schedule/campaign.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A file being made smaller.
struct shrinking {
    char *text; // the smallest so far, on the heap
    uint64_t seed;
    const char *what;
    double until;
};

// Put `with` for the bytes `from` .. `to` of the text, if it fails the same
// way then.
static bool replace(struct shrinking *s, size_t from, size_t to,
                    const char *with)
{
    struct buf out = {0};
    if (phases_now() > s->until)
        return false;
    buf_bytes(&out, s->text, from);
    buf_text(&out, with);
    buf_text(&out, s->text + to);
    struct fuzz_verdict v =
        fuzz_check_alone(out.data, out.n, s->seed, FUZZ_SECONDS);
    bool same = v.outcome == FUZZ_FAILED && strcmp(v.what, s->what) == 0;
    if (same) {
        free(s->text);
        s->text = strdup(out.data);
    }
    buf_free(&out);
    return same;
}

// Return where the line behind position `at` begins.
static size_t line_end(const char *text, size_t at)
{
    size_t n = strcspn(text + at, "\n");
    return at + n + (text[at + n] == '\n');
}

// Return where a line ends with the block that it opens.
static size_t block_end(const char *text, size_t at)
{
    int depth = 0;
    do {
        size_t end = line_end(text, at);
        for (; at < end; at++)
            depth += (text[at] == '{') - (text[at] == '}');
    } while (depth > 0 && text[at]);
    return at;
}

// Drop lines, from the last to the first.
static bool drop_lines(struct shrinking *s)
{
    bool any = false;
    for (size_t at = strlen(s->text); at-- > 0;) {
        if (at > 0 && s->text[at - 1] != '\n')
            continue;
        size_t end = line_end(s->text, at), block = block_end(s->text, at);
        if (replace(s, at, end, "") ||
            (block > end && replace(s, at, block, "")))
            any = true;
    }
    return any;
}

// Return the position behind the bracket that closes the one at `at`, or `at`.
static size_t closing(const char *text, size_t at)
{
    int depth = 0;
    for (size_t i = at; text[i] && text[i] != '\n'; i++) {
        depth += strchr("([", text[i]) != NULL;
        depth -= strchr(")]", text[i]) != NULL;
        if (depth == 0)
            return i + 1;
    }
    return at;
}

// Put one operand, or a number, for what stands in brackets, the name before
// them included.
static bool simplify_brackets(struct shrinking *s)
{
    bool any = false;
    for (size_t at = strlen(s->text); at-- > 0;) {
        if (at >= strlen(s->text) || !strchr("([", s->text[at]))
            continue;
        size_t end = closing(s->text, at), from = at;
        while (from > 0 && (isalnum((unsigned char)s->text[from - 1]) ||
                            s->text[from - 1] == '_'))
            from--;
        if (end == at)
            continue;
        any |= replace(s, from, end, "1");
    }
    return any;
}

// Return the length of an operator between spaces at a position, or 0.
static size_t operator_at(const char *at)
{
    size_t n = at[0] == ' ' ? strcspn(at + 1, " \n") : 0;
    return n > 0 && n <= 2 && ispunct((unsigned char)at[1]) &&
                   !strchr("={[(/", at[1]) && at[n + 1] == ' '
               ? n + 2
               : 0;
}

// Drop one side of an operator.
static bool drop_operands(struct shrinking *s)
{
    bool any = false;
    for (size_t at = strlen(s->text); at-- > 1;) {
        size_t n = at < strlen(s->text) ? operator_at(s->text + at) : 0;
        if (n == 0)
            continue;
        size_t left = at, right = at + n, end;
        while (left > 0 && !strchr(" ([\n", s->text[left - 1]))
            left--;
        end = right + strcspn(s->text + right, " )]\n");
        any |= replace(s, at, end, "") || replace(s, left, right, "");
    }
    return any;
}

// Put smaller numbers for a number; returns whether one was found.
static bool lower_number(struct shrinking *s, size_t from, size_t to)
{
    long long value = strtoll(s->text + from, NULL, 10);
    const long long tries[] = {0, 1, 2, 3, value / 2, value - 1};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        char text[24];
        if (tries[i] < 0 || tries[i] >= value)
            continue;
        snprintf(text, sizeof text, "%lld", tries[i]);
        if (replace(s, from, to, text))
            return true;
    }
    return false;
}

// Make numbers smaller, those in names excepted.
static bool lower_numbers(struct shrinking *s)
{
    bool any = false;
    for (size_t at = strlen(s->text); at-- > 1;) {
        if (!isdigit((unsigned char)s->text[at]) ||
            isalnum((unsigned char)s->text[at - 1]) || s->text[at - 1] == '_')
            continue;
        size_t end = at + strspn(s->text + at, "0123456789");
        any |= lower_number(s, at, end);
    }
    return any;
}

char *fuzz_shrink(const char *text, uint64_t seed, const char *what,
                  double seconds)
{
    struct shrinking s = {.text = strdup(text),
                          .seed = seed,
                          .what = what,
                          .until = phases_now() + seconds * 1000};
    bool any = true;
    while (any && phases_now() < s.until) {
        any = drop_lines(&s);
        any |= simplify_brackets(&s);
        any |= drop_operands(&s);
        any |= lower_numbers(&s);
    }
    return s.text;
}
