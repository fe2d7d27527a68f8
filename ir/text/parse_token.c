// Tokens, recovery and scopes of the parser.

#include "ir/text/parse.h"

#include "ir/base/foreign.h"
#include "ir/base/suggest.h"

#include <string.h>

enum { DEEPEST = 250 };

const struct token *parse_peek(const struct parser *p, size_t ahead)
{
    const struct token *t = &p->tokens[p->at];
    while (ahead-- && t->kind != TOKEN_END)
        t++;
    return t;
}

bool parse_is(const struct parser *p, const char *text)
{
    const struct token *t = parse_peek(p, 0);
    return (t->kind == TOKEN_PUNCT || t->kind == TOKEN_NAME ||
            t->kind == TOKEN_BLOCK) &&
           strcmp(t->text, text) == 0;
}

bool parse_take(struct parser *p, const char *text)
{
    if (!parse_is(p, text))
        return false;
    p->at++;
    return true;
}

const char *parse_described(struct parser *p, const struct token *t)
{
    if (t->kind == TOKEN_END)
        return "the end of the file";
    if (t->kind == TOKEN_NEWLINE)
        return "the end of the line";
    return arena_printf(p->arena, "`%s`", t->text);
}

// Return whether a comment stands between the newest token and the next one.
static bool is_behind_comment(const struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    if (!p->at)
        return false;
    const char *text = t->span.source->text;
    for (size_t i = t[-1].span.to; i + 1 < t->span.from; i++) {
        if (text[i] == '/' && text[i + 1] == '/')
            return true;
    }
    return false;
}

bool parse_foreign(struct parser *p, const char *wanted)
{
    const struct token *t = parse_peek(p, 0);
    const char *before = p->at ? t[-1].text : "";
    const char *texts[] = {arena_printf(p->arena, "%s%s", before, t->text),
                           arena_printf(p->arena, "%s %s", wanted, t->text),
                           t->text};
    for (int kind = FOREIGN_INFIX; kind <= FOREIGN_TOKEN; kind++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const char *help = foreign_help((enum foreign_kind)kind, texts[i]);
            if (help)
                return diag_help(p->diags, "%s", help), true;
        }
    }
    return false;
}

bool parse_expect(struct parser *p, const char *text, const char *where)
{
    if (parse_take(p, text))
        return true;
    const struct token *t = parse_peek(p, 0);
    diag_error(p->diags, t->span, D_expected, text, where,
               parse_described(p, t));
    if (!parse_foreign(p, text) && is_behind_comment(p))
        diag_help(p->diags,
                  "`//` begins a comment; integers are divided by `/`");
    return false;
}

const char *parse_name(struct parser *p, const char *what)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind == TOKEN_NAME) {
        p->at++;
        return t->text;
    }
    diag_error(p->diags, t->span, D_expected_name, what, parse_described(p, t));
    parse_foreign(p, "");
    return NULL;
}

bool parse_count(struct parser *p, uint32_t *out)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind == TOKEN_INT && t->integer <= UINT32_MAX) {
        p->at++;
        *out = (uint32_t)t->integer;
        return true;
    }
    diag_error(p->diags, t->span, D_not_a_count, (long long)UINT32_MAX);
    return false;
}

void parse_skip_newlines(struct parser *p)
{
    while (parse_peek(p, 0)->kind == TOKEN_NEWLINE)
        p->at++;
}

// Return whether a token is a word that only begins a statement.
static bool begins_statement(const struct token *t)
{
    static const char *const words[] = {"for",    "let",      "var",
                                        "alloc",  "barrier",  "stage",
                                        "launch", "syncwarp", "fence"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (t->kind == TOKEN_NAME && strcmp(t->text, words[i]) == 0)
            return true;
    }
    return false;
}

void parse_recover(struct parser *p)
{
    int depth = 0;
    for (;; p->at++) {
        const struct token *t = parse_peek(p, 0);
        if (t->kind == TOKEN_END ||
            (depth == 0 && (t->kind == TOKEN_NEWLINE || begins_statement(t))))
            return;
        if (t->kind != TOKEN_PUNCT)
            continue;
        if (t->text[0] == '{')
            depth++;
        else if (t->text[0] == '}' && depth-- == 0)
            return;
    }
}

void parse_end_statement(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind == TOKEN_NEWLINE || t->kind == TOKEN_END || parse_is(p, "}"))
        return;
    diag_error(p->diags, t->span, D_statement_goes_on, parse_described(p, t));
    parse_foreign(p, "");
    parse_recover(p);
}

struct span parse_span(const struct parser *p, size_t first)
{
    size_t last = p->at > first ? p->at - 1 : first;
    return span_join(p->tokens[first].span, p->tokens[last].span);
}

bool parse_enter(struct parser *p)
{
    if (p->depth < DEEPEST) {
        p->depth++;
        return true;
    }
    diag_error(p->diags, parse_peek(p, 0)->span, D_too_deep,
               (long long)DEEPEST);
    return false;
}

void parse_leave(struct parser *p)
{
    p->depth--;
}

size_t scope_open(struct parser *p)
{
    size_t mark = p->scope_start;
    p->scope_start = p->scope.n;
    return mark;
}

void scope_close(struct parser *p, size_t mark)
{
    p->scope.n = p->scope_start;
    p->scope_start = mark;
}

const struct scope_entry *scope_find(const struct parser *p, const char *name)
{
    for (size_t i = p->scope.n; i-- > 0;) {
        if (p->scope.at[i].name == name)
            return &p->scope.at[i];
    }
    return NULL;
}

// Return the entry of the innermost block that has a name, or NULL.
static const struct scope_entry *find_here(const struct parser *p,
                                           const char *name)
{
    for (size_t i = p->scope_start; i < p->scope.n; i++) {
        if (p->scope.at[i].name == name)
            return &p->scope.at[i];
    }
    return NULL;
}

void scope_add(struct parser *p, struct scope_entry entry)
{
    const struct scope_entry *other = find_here(p, entry.name);
    if (lex_is_reserved(entry.name)) {
        diag_error(p->diags, entry.span, D_reserved_name, entry.name);
    } else if (other && other->kind != ENTRY_BROKEN) {
        diag_error(p->diags, entry.span, D_declared_twice, entry.name);
        diag_note(p->diags, other->span, "first declared here");
    }
    if (other || lex_is_reserved(entry.name))
        entry.kind = ENTRY_BROKEN;
    vec_push(p->arena, &p->scope, entry);
}

void scope_add_var(struct parser *p, struct ir_var *var)
{
    scope_add(p, (struct scope_entry){.kind = ENTRY_VAR,
                                      .name = var->name,
                                      .span = var->span,
                                      .var = var});
}

void scope_add_buffer(struct parser *p, struct ir_buffer *buffer)
{
    scope_add(p, (struct scope_entry){.kind = ENTRY_BUFFER,
                                      .name = buffer->name,
                                      .span = buffer->span,
                                      .buffer = buffer});
}

void scope_add_broken(struct parser *p, const char *name, struct span span)
{
    struct scope_entry entry = {
        .kind = ENTRY_BROKEN, .name = name, .span = span};
    vec_push(p->arena, &p->scope, entry);
}

void scope_unknown(struct parser *p, struct span span, const char *name)
{
    struct suggest s = {.wanted = name};
    for (size_t i = p->scope.n; i-- > 0;)
        suggest_offer(&s, p->scope.at[i].name);
    diag_error(p->diags, span, D_unknown_name, name);
    suggest_help(p->diags, &s);
}
