// Lays out text token by token:
//
//   gather   tokens and comments become lines, as they are broken in the source
//   indent   from the brackets that are open where a line begins
//   write    one space between tokens, or none, as the two tokens say
//   align    columns of `=`, then of comments, that the source has
//
// A layout of a layout changes nothing: every step depends on tokens and
// breaks only, or on columns being equal, which they then are.

#include "tools/ingot/layout.h"

#include "ir/text/lex.h"

#include <string.h>

enum { INDENT = 4 };

// A line of the source; one without tokens and comment is not kept.
struct line {
    const struct token *tokens; // its first one
    size_t n;                   // how many it has
    const char *comment;        // or NULL; without trailing blanks
    bool is_after_empty;        // an empty line is above it
    bool is_continued;          // it goes on with the statement above
    int indent;                 // columns
    uint32_t assign_column;     // in the source, of its `=`; 0: has none
    uint32_t comment_column;    // in the source
    struct buf text, rest;      // before the `=`, or all; from the `=` on
};

// What is laid out.
struct layout {
    struct arena *arena;
    const struct source *source;
    struct tokens tokens;
    struct VEC(struct line) lines;
};

// Words that a bracket is set off from, other than the name of a function or
// an array.
static const char *const apart[] = {
    "in",  "if",  "else",   "for",      "where",   "when",     "matches",
    "let", "var", "return", "identity", "strides", "tolerance"};

// Words that begin a clause of a header.
static const char *const clauses[] = {"for", "where", "when"};

// Words that begin an item of a file.
static const char *const items[] = {"kernel", "schedule", "rule", "def",
                                    "reduce"};

// Return whether a token is one of `n` words.
static bool is_one_of(const struct token *t, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(t->text, words[i]) == 0)
            return true;
    return false;
}

// Return whether a token is that punctuation.
static bool is(const struct token *t, const char *text)
{
    return t && t->kind == TOKEN_PUNCT && strcmp(t->text, text) == 0;
}

// Return whether a token is a single one of these characters.
static bool is_any(const struct token *t, const char *characters)
{
    return t && t->kind == TOKEN_PUNCT && !t->text[1] &&
           strchr(characters, t->text[0]);
}

// ---- Gather ---------------------------------------------------------------

// Return the column of a byte of the source.
static uint32_t column_of(const struct layout *l, uint32_t at)
{
    return source_line(l->source, at).column;
}

// Return the comment that begins at byte `at`, up to byte `end`.
static const char *comment_text(struct layout *l, uint32_t at, uint32_t end)
{
    while (end > at && strchr(" \t\r", l->source->text[end - 1]))
        end--;
    return arena_copy(l->arena, l->source->text + at, end - at);
}

// Append a line unless nothing is in it; then the next one is below an empty
// line.
static void end_line(struct layout *l, struct line *line)
{
    bool is_empty = !line->n && !line->comment;
    if (!is_empty)
        vec_push(l->arena, &l->lines, *line);
    *line = (struct line){.is_after_empty = is_empty && l->lines.n > 0};
}

// Read what is between two tokens, bytes `at` to `end`: comments and breaks.
static void gather_gap(struct layout *l, struct line *line, uint32_t at,
                       uint32_t end)
{
    const char *text = l->source->text;
    while (at < end) {
        if (text[at] == '/') {
            uint32_t from = at;
            while (at < end && text[at] != '\n')
                at++;
            line->comment = comment_text(l, from, at);
            line->comment_column = column_of(l, from);
        } else if (text[at++] == '\n') {
            end_line(l, line);
        }
    }
}

// Append a token to a line.  `is_new` says that a statement ended before it.
static void gather_token(struct line *line, const struct token *t, bool is_new)
{
    if (!line->n) {
        line->tokens = t;
        line->is_continued = !is_new;
    }
    line->n++;
}

// Fill the lines.
static void gather(struct layout *l)
{
    struct line line = {0};
    uint32_t at = 0;
    bool is_new = true;
    for (size_t i = 0; i < l->tokens.n; i++) {
        const struct token *t = &l->tokens.at[i];
        if (t->kind == TOKEN_NEWLINE) {
            is_new = true;
            continue;
        }
        gather_gap(l, &line, at, t->span.from);
        at = t->span.to;
        if (t->kind != TOKEN_END)
            gather_token(&line, t, is_new);
        is_new = is_any(t, "{");
    }
    end_line(l, &line);
}

// ---- Indent ---------------------------------------------------------------

// The open brackets: of each, its character, the indent of its line, and how
// many `?` inside it wait for their `:`.
struct nesting {
    char open[LEX_DEEPEST + 1];
    int indent[LEX_DEEPEST + 1];
    int questions[LEX_DEEPEST + 1];
    int depth;       // the bracket `depth` is the innermost; 0 is the file
    bool has_chosen; // the newest `:` belongs to a `?`
    bool in_guard;   // the line above is part of the `when` of a case
};

// Take note of a token on a line with that indent.
static void follow(struct nesting *n, const struct token *t, int indent)
{
    if (is_any(t, "([{") && n->depth < LEX_DEEPEST) {
        bool is_body = !n->depth && is(t, "{");
        n->depth++;
        n->open[n->depth] = t->text[0];
        n->indent[n->depth] = is_body ? 0 : indent;
        n->questions[n->depth] = 0;
    } else if (is_any(t, ")]}")) {
        n->depth -= n->depth > 0;
    } else if (is(t, "?")) {
        n->questions[n->depth]++;
    } else if (is(t, ":")) {
        n->has_chosen = n->questions[n->depth] > 0;
        n->questions[n->depth] -= n->has_chosen;
    }
}

// Return how many brackets close at the start of a line.
static int closers(const struct line *line)
{
    int n = 0;
    while ((size_t)n < line->n && is_any(&line->tokens[n], ")]}"))
        n++;
    return n;
}

// Return whether a line outside all brackets goes on with the header above.
static bool is_clause(const struct line *line)
{
    return line->n && !is_any(line->tokens, "{}") &&
           !is_one_of(line->tokens, items, sizeof items / sizeof *items);
}

// Return how much further a line is indented than the statement above in its
// block: the `when` of a case, and what goes on with it.
static int further_indent(struct nesting *n, const struct line *line)
{
    bool is_guard = line->n && strcmp(line->tokens->text, "when") == 0;
    bool goes_on = line->n && line->is_continued;
    n->in_guard = is_guard || (n->in_guard && goes_on);
    return is_guard ? INDENT : goes_on ? INDENT * (1 + n->in_guard) : 0;
}

// Return the indent of a line that begins inside these brackets.
static int line_indent(struct nesting *n, const struct line *line)
{
    int closed = closers(line);
    if (closed)
        return n->indent[closed <= n->depth ? n->depth - closed + 1 : 0];
    bool is_block = !n->depth || n->open[n->depth] == '{';
    bool is_case = n->depth && is_block;
    int further = is_case ? further_indent(n, line) : 0;
    if (!n->depth && line->n && line->is_continued)
        further = INDENT;
    if (!n->depth && line->n && is_one_of(line->tokens, clauses, 3))
        return INDENT;
    if (!n->depth)
        return is_clause(line) ? INDENT + further : 0;
    return n->indent[n->depth] + INDENT + further;
}

// ---- Write ----------------------------------------------------------------

// Return whether an operator behind `before` has no left operand.
static bool is_prefix(const struct token *t, const struct token *before)
{
    if (!is(t, "-") && !is(t, "!") && !is(t, "~"))
        return false;
    if (!before || before->kind == TOKEN_NEWLINE)
        return true;
    if (before->kind == TOKEN_NAME)
        return is_one_of(before, apart, sizeof apart / sizeof *apart);
    return before->kind == TOKEN_PUNCT && !is_any(before, ")]");
}

// Return whether a bracket `t` belongs to the token before it.
static bool is_attached(const struct token *t, const struct token *before)
{
    if (before->kind == TOKEN_NAME)
        return !is_one_of(before, apart, sizeof apart / sizeof *apart);
    return (is_any(t, "[") && is_any(before, ")]")) ||
           (is(t, "(") && is(before, "]"));
}

// Return whether two tokens touch in the source.
static bool touch(const struct token *before, const struct token *t)
{
    return before->span.to == t->span.from;
}

// Return whether `{T}` begins at a token, part of the name of an instance.
static bool is_hole(const struct token *t)
{
    return is(t, "{") && t[1].kind == TOKEN_NAME && is(t + 2, "}") &&
           touch(t, t + 1) && touch(t + 1, t + 2) &&
           (t[-1].kind == TOKEN_NAME || is(t - 1, "}")) && touch(t - 1, t);
}

// Return whether a token belongs to the same name as the one before it.
static bool is_joined(const struct layout *l, const struct token *t)
{
    for (const struct token *hole = t; t - hole < 4 && hole > l->tokens.at;
         hole--)
        if (is_hole(hole))
            return touch(t - 1, t);
    return false;
}

// Return whether `+` is behind an architecture: no operand follows it.
static bool is_newer(const struct nesting *n, const struct token *t)
{
    const struct token *next = t + 1;
    return n->depth <= 1 && is(t, "+") &&
           (next->kind == TOKEN_END || is_any(next, ",{") ||
            strcmp(next->text, "when") == 0);
}

// Return whether there is a space between two tokens of a line; `earlier` is
// the one before `before`, or NULL.
static bool is_spaced(const struct nesting *n, const struct token *earlier,
                      const struct token *before, const struct token *t)
{
    if (is_any(t, ")],;") || is_any(before, "([@.") || is_any(t, ".") ||
        is(t, "..") || is(before, ".."))
        return false;
    if (is_prefix(before, earlier) || (is(before, "{") && is(t, "}")))
        return false;
    if (is_newer(n, t))
        return false;
    if (is(t, ":"))
        return n->questions[n->depth] > 0;
    if (is(before, ":") && n->open[n->depth] == '[')
        return n->has_chosen;
    return !is_any(t, "([") || !is_attached(t, before);
}

// Return whether `=` ends the sign that the word before it begins:
// `Y[at[i]] max= x`.
static bool ends_sign(const struct layout *l, const struct token *t)
{
    return is(t, "=") && t - 2 >= l->tokens.at && t[-1].kind == TOKEN_NAME &&
           is(t - 2, "]");
}

// Write the tokens of a line.
static void write_tokens(struct layout *l, struct nesting *n, struct line *line)
{
    int depth = n->depth;
    struct buf *out = &line->text;
    for (size_t i = 0; i < line->n; i++) {
        const struct token *t = &line->tokens[i];
        bool has_earlier = t - 2 >= l->tokens.at;
        if (i && is(t, "=") && !ends_sign(l, t) && n->depth == depth &&
            out == &line->text) {
            line->assign_column = column_of(l, t->span.from);
            out = &line->rest;
        } else if (i && !(n->depth <= 1 && is_joined(l, t)) &&
                   !ends_sign(l, t) &&
                   is_spaced(n, has_earlier ? t - 2 : NULL, t - 1, t)) {
            buf_char(out, ' ');
        }
        buf_printf(out, t->kind == TOKEN_TEXT ? "\"%s\"" : "%s", t->text);
        follow(n, t, line->indent);
    }
}

// ---- Align ----------------------------------------------------------------

// Return the column of a line that is to be aligned, 0 if it has none.
typedef uint32_t line_column(const struct line *line);

// Return the column of its `=`.
static uint32_t assign_column(const struct line *line)
{
    return line->assign_column;
}

// Return the column of its comment, if it is behind a statement.
static uint32_t comment_column(const struct line *line)
{
    return line->n && line->comment ? line->comment_column : 0;
}

// Return where the run of lines ends that begins at line `i`: one below the
// other, with the same indent and the same column.
static size_t run_end(const struct layout *l, size_t i, line_column *column)
{
    const struct line *first = &l->lines.at[i];
    size_t end = i + 1;
    while (end < l->lines.n && column(first) &&
           column(&l->lines.at[end]) == column(first) &&
           l->lines.at[end].indent == first->indent &&
           !l->lines.at[end].is_after_empty)
        end++;
    return end;
}

// Pad the texts of each run to one width and a space.
static void align(struct layout *l, line_column *column)
{
    for (size_t i = 0, end; i < l->lines.n; i = end) {
        size_t width = 0;
        end = run_end(l, i, column);
        for (size_t k = i; k < end; k++)
            if (l->lines.at[k].text.n > width)
                width = l->lines.at[k].text.n;
        for (size_t k = i; k < end && column(&l->lines.at[k]); k++) {
            struct buf *text = &l->lines.at[k].text;
            buf_indent(text, (int)(width + 1 - text->n));
        }
    }
}

// Move what is behind the `=` of each line to its text.
static void join(struct layout *l)
{
    for (size_t i = 0; i < l->lines.n; i++) {
        struct line *line = &l->lines.at[i];
        if (line->rest.n)
            buf_bytes(&line->text, line->rest.data, line->rest.n);
        buf_free(&line->rest);
    }
}

// Append a line.
static void print(const struct layout *l, size_t i, struct buf *out)
{
    const struct line *line = &l->lines.at[i];
    const struct line *above = i ? line - 1 : NULL;
    bool opens = above && above->n && is_any(&above->tokens[above->n - 1], "{");
    if (line->is_after_empty && !opens &&
        !(line->n && is_any(line->tokens, "}")))
        buf_char(out, '\n');
    buf_indent(out, line->indent);
    if (line->text.n)
        buf_bytes(out, line->text.data, line->text.n);
    buf_text(out, line->comment ? line->comment : "");
    buf_char(out, '\n');
}

// Return whether a text splits into the tokens of the source.
static bool is_faithful(struct layout *l, struct str_table *names,
                        const struct buf *text)
{
    struct tokens tokens;
    struct diag_list diags = {.arena = l->arena};
    struct source again = {l->source->name, text->n ? text->data : "", text->n};
    bool ok = lex_source(l->arena, names, &again, &diags, &tokens) &&
              tokens.n == l->tokens.n;
    for (size_t i = 0; ok && i < tokens.n; i++) {
        const struct token *a = &tokens.at[i], *b = &l->tokens.at[i];
        ok = a->kind == b->kind &&
             (a->kind == TOKEN_NEWLINE || a->text == b->text);
    }
    return ok;
}

enum layout_result layout_source(struct arena *a, struct str_table *names,
                                 const struct source *source,
                                 struct diag_list *diags, struct buf *out)
{
    struct layout l = {.arena = a, .source = source};
    struct nesting nesting = {0};
    if (!lex_source(a, names, source, diags, &l.tokens) || diags->errors)
        return LAYOUT_BAD_TEXT;
    gather(&l);
    for (size_t i = 0; i < l.lines.n; i++) {
        l.lines.at[i].indent = line_indent(&nesting, &l.lines.at[i]);
        write_tokens(&l, &nesting, &l.lines.at[i]);
    }
    align(&l, assign_column);
    join(&l);
    align(&l, comment_column);
    for (size_t i = 0; i < l.lines.n; i++) {
        print(&l, i, out);
        buf_free(&l.lines.at[i].text);
    }
    return is_faithful(&l, names, out) ? LAYOUT_DONE : LAYOUT_FAULT;
}
