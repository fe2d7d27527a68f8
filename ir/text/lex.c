// The lexer.  A newline is a token where a statement may end: not inside
// ( ) or [ ], and not behind an operator, a comma or an opening brace.
// Comments run from // to the end of the line.  A byte order mark is skipped.

#include "ir/text/lex.h"

#include "ir/base/foreign.h"
#include "ir/base/silence.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The state of a run over one file.
struct lexer {
    struct arena *arena;
    struct str_table *names;
    const struct source *source;
    struct diag_list *diags;
    struct tokens *out;
    size_t at;                  // next byte
    size_t end;                 // behind the last one
    bool outlines;              // blocks are one token each
    char open[LEX_DEEPEST + 1]; // the open brackets
    struct span open_at[LEX_DEEPEST + 1];
    int depth;
    int texts; // depth of the innermost open call that takes texts; 0: none
};

// What takes texts.
static const char *const with_texts[] = {"print", "refuse"};

static const char *const reserved[] = {
    "for",    "if",   "else",  "let", "var", "alloc",  "barrier",  "stage",
    "launch", "true", "false", "inf", "nan", "reduce", "syncwarp", "fence"};
// A file seldom has more tokens than one for so many bytes.
enum { TOKEN_BYTES = 4 };

enum { RESERVED = sizeof reserved / sizeof *reserved };

// Operators and brackets, longer ones before their prefixes.
static const char *const puncts[] = {
    "<<=", ">>=", "->", "..", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>",
    "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "(",  ")",  "[",  "]",
    "{",   "}",   ",",  ":",  ";",  "?",  "=",  "<",  ">",  "+",  "-",  "*",
    "/",   "%",   "&",  "|",  "^",  "~",  "!",  "@",  "."};
enum { PUNCTS = sizeof puncts / sizeof *puncts };

bool lex_is_reserved(const char *word)
{
    for (int i = 0; i < RESERVED; i++) {
        if (strcmp(reserved[i], word) == 0)
            return true;
    }
    return false;
}

// Return the byte `ahead` bytes further, or 0 behind the end.
static unsigned char peek(const struct lexer *l, size_t ahead)
{
    size_t i = l->at + ahead;
    return i < l->end ? (unsigned char)l->source->text[i] : 0;
}

// Return the span from byte `from` to where the lexer is.
static struct span span_from(const struct lexer *l, size_t from)
{
    return (struct span){l->source, (uint32_t)from, (uint32_t)l->at};
}

// Append a token that began at byte `from`.
static struct token *push(struct lexer *l, enum token_kind kind, size_t from)
{
    struct token t = {.kind = kind, .span = span_from(l, from)};
    t.text = str_intern(l->names, l->source->text + from, l->at - from);
    vec_push(l->arena, l->out, t);
    return &l->out->at[l->out->n - 1];
}

// Return whether a statement goes on behind the newest token.
static bool is_open(const struct lexer *l)
{
    if (!l->out->n || (l->depth && l->open[l->depth - 1] != '{'))
        return true;
    const struct token *last = &l->out->at[l->out->n - 1];
    if (last->kind == TOKEN_NEWLINE)
        return true;
    return last->kind == TOKEN_PUNCT && !strchr(")]}", last->text[0]);
}

// Step over letters, digits and `_`.
static void skip_word(struct lexer *l)
{
    while (isalnum(peek(l, 0)) || peek(l, 0) == '_')
        l->at++;
}

// Read a word.
static void lex_name(struct lexer *l)
{
    size_t from = l->at;
    skip_word(l);
    push(l, TOKEN_NAME, from);
}

// Step over decimal digits.
static void skip_digits(struct lexer *l)
{
    while (isdigit(peek(l, 0)))
        l->at++;
}

// Step over the fraction and the exponent of a number, if it has them.
// A dot needs a digit behind it: `0..n` is a range.
static bool skip_fraction(struct lexer *l)
{
    size_t from = l->at;
    if (peek(l, 0) == '.' && isdigit(peek(l, 1))) {
        l->at++;
        skip_digits(l);
    }
    size_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';
    if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') &&
        isdigit(peek(l, 1 + sign))) {
        l->at += 1 + sign;
        skip_digits(l);
    }
    return l->at > from;
}

// Set the value of a number token; too large a number is an error.
static void set_value(struct lexer *l, struct token *t, bool is_hex)
{
    errno = 0;
    if (t->kind == TOKEN_FLOAT)
        t->number = strtod(t->text, NULL);
    else
        t->integer = strtoull(t->text, NULL, is_hex ? 16 : 10);
    if (errno == ERANGE && (t->kind == TOKEN_INT || !isfinite(t->number)))
        diag_error(l->diags, t->span, D_number_too_large, t->text);
}

// Say what to write for a number with a suffix of C.
static void help_suffix(struct lexer *l, size_t from, size_t end)
{
    if (strspn(l->source->text + end, "fFhHuUlL") >= l->at - end)
        diag_help(l->diags,
                  "write `%.*s`: numbers have no suffix, they take the type of "
                  "what they meet",
                  (int)(end - from), l->source->text + from);
}

// Read a number.
static void lex_number(struct lexer *l)
{
    size_t from = l->at;
    bool is_hex = peek(l, 0) == '0' && (peek(l, 1) | 32) == 'x';
    bool is_float = false;
    if (is_hex) {
        l->at += 2;
        while (isxdigit(peek(l, 0)))
            l->at++;
    } else {
        skip_digits(l);
        is_float = skip_fraction(l);
    }
    size_t end = l->at;
    skip_word(l);
    struct token *t = push(l, is_float ? TOKEN_FLOAT : TOKEN_INT, from);
    if (l->at > end || (is_hex && end == from + 2)) {
        diag_error(l->diags, t->span, D_bad_number, t->text);
        help_suffix(l, from, end);
    } else
        set_value(l, t, is_hex);
}

// Return whether the newest token but one is a word that takes texts, which a bracket
// follows.
static bool opens_texts(const struct lexer *l)
{
    size_t n = l->out->n;
    bool r = false;
    if (n < 2 || l->out->at[n - 2].kind != TOKEN_NAME)
        return false;
    for (size_t i = 0; i < sizeof with_texts / sizeof *with_texts; i++)
        r |= strcmp(l->out->at[n - 2].text, with_texts[i]) == 0;
    return r;
}

// Read a text, up to the quote that ends it; one behind a backslash does not.
static void lex_text(struct lexer *l)
{
    size_t from = l->at++;
    while (peek(l, 0) && peek(l, 0) != '\n' && peek(l, 0) != '"')
        l->at += peek(l, 0) == '\\' && peek(l, 1) > ' ' ? 2 : 1;
    bool is_closed = peek(l, 0) == '"';
    size_t n = l->at - from - 1;
    l->at += is_closed;
    struct token *t = push(l, TOKEN_TEXT, from);
    t->text = str_intern(l->names, l->source->text + from + 1, n);
    if (!is_closed)
        diag_error(l->diags, t->span, D_text_unclosed);
}

// Remember an opening bracket; false if there are too many.
static bool open_bracket(struct lexer *l, struct span span, char c)
{
    if (l->depth == LEX_DEEPEST) {
        diag_error(l->diags, span, D_too_deep, (long long)LEX_DEEPEST);
        return false;
    }
    l->open_at[l->depth] = span;
    l->open[l->depth++] = c;
    l->texts = c == '(' && opens_texts(l) ? l->depth : l->texts;
    return true;
}

// Forget the bracket that this one closes.  One that closes nothing is left
// to the parser, which knows what it expected.
static void close_bracket(struct lexer *l, char c)
{
    char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
    l->texts = l->texts == l->depth ? 0 : l->texts;
    if (l->depth && l->open[l->depth - 1] == wanted)
        l->depth--;
    else if (c == '}') {
        while (l->depth && l->open[l->depth - 1] != '{')
            l->depth--;
        l->depth -= l->depth > 0;
    }
}

// Return whether a token may begin with a character.
static bool begins_token(unsigned char c)
{
    for (int i = 0; i < PUNCTS; i++) {
        if (puncts[i][0] == c)
            return true;
    }
    return isalnum(c) || c == '_';
}

// Say what to write for a character of another language, and step over what it
// begins: the rest of the line of `#`, a string up to its end.
static void help_character(struct lexer *l, size_t from)
{
    char text[2] = {l->source->text[from], 0};
    const char *help = foreign_help(FOREIGN_TOKEN, text);
    if (!help)
        return;
    diag_help(l->diags, "%s", help);
    while (peek(l, 0) && peek(l, 0) != '\n' &&
           peek(l, 0) != (unsigned char)*text)
        l->at++;
    l->at += peek(l, 0) == (unsigned char)*text;
}

// Read an operator or a bracket; false if nesting is too deep.
static bool lex_punct(struct lexer *l)
{
    size_t from = l->at;
    for (int i = 0; i < PUNCTS; i++) {
        if (puncts[i][0] != l->source->text[from])
            continue;
        size_t n = strlen(puncts[i]);
        if (l->end - from < n ||
            memcmp(l->source->text + from, puncts[i], n) != 0)
            continue;
        l->at += n;
        struct token *t = push(l, TOKEN_PUNCT, from);
        if (n == 1 && strchr("([{", t->text[0]))
            return open_bracket(l, t->span, t->text[0]);
        if (n == 1 && strchr(")]}", t->text[0]))
            close_bracket(l, t->text[0]);
        return true;
    }
    while (peek(l, 0) > ' ' && !begins_token(peek(l, 0)))
        l->at++;
    l->at += l->at == from;
    diag_error(l->diags, span_from(l, from), D_bad_character);
    help_character(l, from);
    return true;
}

// Step over a comment.
static void lex_comment(struct lexer *l)
{
    const char *text = l->source->text;
    size_t from = l->at;
    const char *end = memchr(text + from, '\n', l->end - from);
    l->at = end ? (size_t)(end - text) : l->end;
    silence_check(l->diags, l->source, from, l->at);
}

// Step over a comment of C, which is reported: ours end with the line.
static void lex_block_comment(struct lexer *l)
{
    size_t from = l->at;
    l->at += 2;
    const char *end = strstr(l->source->text + l->at, "*/");
    diag_error(l->diags, span_from(l, from), D_bad_character);
    diag_help(l->diags, "a comment begins with `//` and ends with the line");
    l->at = end ? (size_t)(end - l->source->text) + 2 : l->end;
}

// Step over a newline; it becomes a token where a statement may end.
static void lex_newline(struct lexer *l)
{
    bool ends = !is_open(l);
    l->at++;
    if (ends)
        push(l, TOKEN_NEWLINE, l->at - 1);
}

// Step over a comment or a text in a block that is not read.
static void skip_quiet(struct lexer *l)
{
    bool is_text = peek(l, 0) == '"';
    for (l->at++; peek(l, 0) && peek(l, 0) != '\n'; l->at++) {
        if (is_text && peek(l, 0) == '"')
            break;
        l->at += is_text && peek(l, 0) == '\\' && peek(l, 1) > ' ';
    }
    l->at += is_text && peek(l, 0) == '"';
}

// Step over a block, which is one token.
static void lex_block(struct lexer *l)
{
    size_t from = l->at;
    int depth = 0;
    do {
        unsigned char c = peek(l, 0);
        depth += (c == '{') - (c == '}');
        if (c == '"' || (c == '/' && peek(l, 1) == '/'))
            skip_quiet(l);
        else
            l->at++;
    } while (depth && l->at < l->end);
    struct token block = {.kind = TOKEN_BLOCK,
                          .span = span_from(l, from),
                          .text = str_name(l->names, "{")};
    if (depth)
        diag_error(l->diags, block.span, D_unclosed, '{');
    vec_push(l->arena, l->out, block);
}

// Read what comes next; false if nesting is too deep.
static bool lex_next(struct lexer *l)
{
    unsigned char c = peek(l, 0);
    if (c == '\n') {
        lex_newline(l);
    } else if (c == ' ' || c == '\t' || c == '\r') {
        l->at++;
    } else if (c == '/' && peek(l, 1) == '/') {
        lex_comment(l);
    } else if (c == '/' && peek(l, 1) == '*') {
        lex_block_comment(l);
    } else if (isalpha(c) || c == '_') {
        lex_name(l);
    } else if (isdigit(c)) {
        lex_number(l);
    } else if (c == '"' && l->texts && l->texts == l->depth) {
        lex_text(l);
    } else if (c == '{' && l->outlines && !l->depth) {
        lex_block(l);
    } else {
        return lex_punct(l);
    }
    return true;
}

// Check that a source is text of a size that we take.
static bool check_text(const struct source *s, struct diag_list *diags)
{
    if (s->size > LEX_MOST_BYTES) {
        diag_error(diags, (struct span){0}, D_file_too_large, s->name,
                   (long long)LEX_MOST_BYTES);
        return false;
    }
    for (size_t i = 0, n; i < s->size; i += n) {
        unsigned char c = (unsigned char)s->text[i];
        n = c > 0 && c < 0x80 ? 1 : source_character(s->text + i, s->size - i);
        if (n == 0 || s->text[i] == 0) {
            struct span at = {s, (uint32_t)i, (uint32_t)i + 1};
            diag_error(diags, at, D_not_text, (unsigned char)s->text[i]);
            return false;
        }
    }
    return true;
}

// Read all tokens from where a lexer is to its end.
static bool lex_all(struct lexer *l)
{
    int errors = l->diags->errors;
    while (l->at < l->end) {
        if (!lex_next(l))
            return false;
    }
    if (l->depth && l->diags->errors == errors) {
        struct span at = l->open_at[l->depth - 1];
        diag_error(l->diags, at, D_unclosed, l->source->text[at.from]);
    }
    if (l->diags->errors != errors)
        return false;
    if (l->out->n && !is_open(l))
        push(l, TOKEN_NEWLINE, l->at);
    push(l, TOKEN_END, l->at);
    return true;
}

// Read all tokens of a source; `outlines` as in struct lexer.
static bool lex_whole(struct arena *a, struct str_table *names,
                      const struct source *source, bool outlines,
                      struct diag_list *diags, struct tokens *out)
{
    struct lexer l = {.arena = a,
                      .names = names,
                      .source = source,
                      .diags = diags,
                      .out = out,
                      .end = source->size,
                      .outlines = outlines};
    *out = (struct tokens){.cap = source->size / TOKEN_BYTES + 2};
    out->at = arena_array(a, struct token, out->cap);
    if (!check_text(source, diags))
        return false;
    if (source->size >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0)
        l.at = 3;
    return lex_all(&l);
}

bool lex_source(struct arena *a, struct str_table *names,
                const struct source *source, struct diag_list *diags,
                struct tokens *out)
{
    return lex_whole(a, names, source, false, diags, out);
}

bool lex_outline(struct arena *a, struct str_table *names,
                 const struct source *source, struct diag_list *diags,
                 struct tokens *out)
{
    return lex_whole(a, names, source, true, diags, out);
}

bool lex_span(struct arena *a, struct str_table *names, struct span span,
              struct diag_list *diags, struct tokens *out)
{
    struct lexer l = {.arena = a,
                      .names = names,
                      .source = span.source,
                      .diags = diags,
                      .out = out,
                      .at = span.from,
                      .end = span.to};
    *out = (struct tokens){0};
    return lex_all(&l);
}
