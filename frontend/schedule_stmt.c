// Statements of schedules.
//
//   block     = "{" {statement newline} "}"
//   statement = names "=" expr {"," expr} | expr ["when" expr]
//             | "for" name "in" expr block
//             | "if" expr block ["else" (block | if-statement)]
//             | "return" [expr {"," expr}]
//             | "tune" name "in" expr             first in a schedule
//             | "set" name "=" expr               likewise
//             | "contract" name [expr] {"," name [expr]}
//
// An error ends its statement; parsing goes on behind it.

#include "frontend/schedule.h"

#include <string.h>

static struct sched_stmt *parse_stmt(struct parser *p);

bool schedule_parse_name(struct parser *p, const char *what,
                         struct sched_name *out)
{
    out->span = parse_peek(p, 0)->span;
    out->text = parse_name(p, what);
    return out->text != NULL;
}

// Make a statement.
static struct sched_stmt *stmt_new(struct parser *p, enum sched_stmt_kind kind)
{
    struct sched_stmt *s = arena_new(p->arena, struct sched_stmt);
    s->kind = kind;
    return s;
}

// Parse one value, or several as a list.
static struct sched_expr *parse_values(struct parser *p)
{
    size_t first = p->at;
    struct sched_expr *x = schedule_parse_expr(p);
    if (!x || !parse_is(p, ","))
        return x;
    struct sched_expr *list = schedule_expr_new(p, first, SCHED_list);
    vec_push(p->arena, &list->args, x);
    while (parse_take(p, ",")) {
        if (!(x = schedule_parse_expr(p)))
            return NULL;
        vec_push(p->arena, &list->args, x);
    }
    list->span = parse_span(p, first);
    return list;
}

// Parse `name in expr { }` behind `for`.
static struct sched_stmt *parse_for(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_for);
    struct sched_name name;
    if (!schedule_parse_name(p, "the variable of `for`", &name))
        return NULL;
    vec_push(p->arena, &s->names, name);
    if (!parse_expect(p, "in", "behind the variable of `for`"))
        return NULL;
    s->value = schedule_parse_expr(p);
    return s->value && schedule_parse_body(p, &s->body) ? s : NULL;
}

// Parse `name in expr` behind `tune`.
static struct sched_stmt *parse_tune(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_tune);
    struct sched_name name;
    if (!schedule_parse_name(p, "a knob", &name))
        return NULL;
    vec_push(p->arena, &s->names, name);
    if (!parse_expect(p, "in", "behind the name of the knob"))
        return NULL;
    s->value = schedule_parse_expr(p);
    return s->value ? s : NULL;
}

// Parse `name = expr` behind `set`.
static struct sched_stmt *parse_set(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_set);
    struct sched_name name;
    if (!schedule_parse_name(p, "a knob", &name))
        return NULL;
    vec_push(p->arena, &s->names, name);
    if (!parse_expect(p, "=", "behind the name of the knob"))
        return NULL;
    s->value = schedule_parse_expr(p);
    return s->value ? s : NULL;
}

// Return whether a contract or its statement ends here.
static bool is_contract_end(const struct parser *p)
{
    enum token_kind kind = parse_peek(p, 0)->kind;
    return kind == TOKEN_NEWLINE || kind == TOKEN_END || parse_is(p, ",") ||
           parse_is(p, "}");
}

// Parse `name [expr], name [expr] ...` behind `contract`.
static struct sched_stmt *parse_contract(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_contract);
    s->value = schedule_expr_new(p, p->at, SCHED_list);
    do {
        size_t first = p->at;
        struct sched_expr *number = NULL;
        struct sched_name name;
        if (!schedule_parse_name(p, "a contract", &name))
            return NULL;
        if (!is_contract_end(p) && !(number = schedule_parse_expr(p)))
            return NULL;
        name.span = parse_span(p, first);
        vec_push(p->arena, &s->names, name);
        vec_push(p->arena, &s->value->args, number);
    } while (parse_take(p, ","));
    return s;
}

// Return whether a word and a name come next.
static bool is_clause(const struct parser *p, const char *word)
{
    return parse_is(p, word) && parse_peek(p, 1)->kind == TOKEN_NAME;
}

// Parse what stands behind `else`.
static bool parse_else(struct parser *p, struct sched_block *out)
{
    if (!parse_is(p, "if"))
        return schedule_parse_body(p, out);
    struct sched_stmt *s = parse_stmt(p);
    if (s)
        vec_push(p->arena, out, s);
    return s != NULL;
}

// Parse `expr { } else { }` behind `if`.
static struct sched_stmt *parse_if(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_if);
    s->value = schedule_parse_expr(p);
    if (!s->value || !schedule_parse_body(p, &s->body))
        return NULL;
    if (parse_take(p, "else") && !parse_else(p, &s->otherwise))
        return NULL;
    return s;
}

// Parse the values behind `return`.
static struct sched_stmt *parse_return(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_return);
    const struct token *t = parse_peek(p, 0);
    if (t->kind == TOKEN_NEWLINE || parse_is(p, "}"))
        return s;
    s->value = parse_values(p);
    return s->value ? s : NULL;
}

// Return whether `name, name ... =` comes next.
static bool is_assignment(const struct parser *p)
{
    for (size_t i = 0;; i += 2) {
        const struct token *next = parse_peek(p, i + 1);
        if (parse_peek(p, i)->kind != TOKEN_NAME || next->kind != TOKEN_PUNCT)
            return false;
        if (strcmp(next->text, "=") == 0)
            return true;
        if (strcmp(next->text, ",") != 0)
            return false;
    }
}

// Parse `names = values`.
static struct sched_stmt *parse_assignment(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_assign);
    do {
        struct sched_name name;
        if (!schedule_parse_name(p, "a name to assign to", &name))
            return NULL;
        vec_push(p->arena, &s->names, name);
    } while (parse_take(p, ","));
    parse_expect(p, "=", "behind the names");
    s->value = parse_values(p);
    return s->value ? s : NULL;
}

// Parse an expression that stands for its effect.
static struct sched_stmt *parse_effect(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_eval);
    s->value = schedule_parse_expr(p);
    if (s->value && s->value->kind == SCHED_call &&
        strcmp(s->value->name, "print") == 0 && parse_take(p, "when") &&
        !(s->value->guard = schedule_parse_expr(p)))
        return NULL;
    return s->value ? s : NULL;
}

// Parse a statement by its first words; NULL after an error.
static struct sched_stmt *parse_stmt(struct parser *p)
{
    size_t first = p->at;
    struct sched_stmt *s;
    if (!parse_enter(p))
        return NULL;
    if (parse_take(p, "for"))
        s = parse_for(p);
    else if (parse_take(p, "if"))
        s = parse_if(p);
    else if (parse_take(p, "return"))
        s = parse_return(p);
    else if (is_clause(p, "tune") && parse_take(p, "tune"))
        s = parse_tune(p);
    else if (is_clause(p, "set") && parse_take(p, "set"))
        s = parse_set(p);
    else if (is_clause(p, "contract") && parse_take(p, "contract"))
        s = parse_contract(p);
    else if (is_assignment(p))
        s = parse_assignment(p);
    else
        s = parse_effect(p);
    parse_leave(p);
    if (s)
        s->span = parse_span(p, first);
    return s;
}

void schedule_parse_stmts(struct parser *p, const char *end,
                          struct sched_block *out)
{
    parse_skip_newlines(p);
    while (!parse_is(p, "}") && !(end && parse_is(p, end)) &&
           parse_peek(p, 0)->kind != TOKEN_END) {
        size_t before = p->at;
        struct sched_stmt *s = parse_stmt(p);
        if (s) {
            vec_push(p->arena, out, s);
            parse_check_comment(p, before);
            parse_end_statement(p);
        } else {
            parse_recover(p);
            p->at += p->at == before && !parse_is(p, "}");
        }
        parse_skip_newlines(p);
    }
}

bool schedule_parse_body(struct parser *p, struct sched_block *out)
{
    if (!parse_expect(p, "{", "before the statements"))
        return false;
    schedule_parse_stmts(p, NULL, out);
    return parse_expect(p, "}", "behind the statements");
}
