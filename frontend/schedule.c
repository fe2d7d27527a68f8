// Schedules and defs.
//
//   item      = "schedule" name {"," name} [params] ["for" targets]
//               ["when" expr] block
//             | "def" name params block
//   targets   = name ["+"] {"," name ["+"]}
//   params    = "(" [param {"," param}] ")"
//   param     = name ["=" expr | "in" "[" exprs "]"]      "in": of a schedule
//   block     = "{" {statement newline} "}"
//   statement = names "=" expr {"," expr} | expr
//             | "for" name "in" expr block
//             | "if" expr block ["else" (block | if-statement)]
//             | "return" [expr {"," expr}]
//             | "tune" name "in" expr             first in a schedule
//             | "contract" name [expr] {"," name [expr]}
//
// `for`, `when` and the block of an item may stand on lines of their own.  An
// error ends its statement; parsing goes on behind it.

#include "frontend/schedule.h"

#include <string.h>

static bool parse_body(struct parser *p, struct sched_block *out);
static struct sched_stmt *parse_stmt(struct parser *p);

enum { CHOICES_MOST = 256 };

// Read a name with its place.
static bool parse_named(struct parser *p, const char *what,
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
    if (!parse_named(p, "the variable of `for`", &name))
        return NULL;
    vec_push(p->arena, &s->names, name);
    if (!parse_expect(p, "in", "behind the variable of `for`"))
        return NULL;
    s->value = schedule_parse_expr(p);
    return s->value && parse_body(p, &s->body) ? s : NULL;
}

// Parse `name in expr` behind `tune`.
static struct sched_stmt *parse_tune(struct parser *p)
{
    struct sched_stmt *s = stmt_new(p, SCHED_tune);
    struct sched_name name;
    if (!parse_named(p, "a knob", &name))
        return NULL;
    vec_push(p->arena, &s->names, name);
    if (!parse_expect(p, "in", "behind the name of the knob"))
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
        if (!parse_named(p, "a contract", &name))
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
        return parse_body(p, out);
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
    if (!s->value || !parse_body(p, &s->body))
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
        if (!parse_named(p, "a name to assign to", &name))
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

// Parse `{ statements }`.
static bool parse_body(struct parser *p, struct sched_block *out)
{
    if (!parse_expect(p, "{", "before the statements"))
        return false;
    parse_skip_newlines(p);
    while (!parse_is(p, "}") && parse_peek(p, 0)->kind != TOKEN_END) {
        size_t before = p->at;
        struct sched_stmt *s = parse_stmt(p);
        if (s) {
            vec_push(p->arena, out, s);
            parse_end_statement(p);
        } else {
            parse_recover(p);
            p->at += p->at == before && !parse_is(p, "}");
        }
        parse_skip_newlines(p);
    }
    return parse_expect(p, "}", "behind the statements");
}

// Parse the values behind `in`, of which each makes a schedule.
static bool parse_each(struct parser *p, struct sched_parameter *param)
{
    size_t first = p->at;
    param->each = schedule_parse_expr(p);
    if (param->each &&
        (param->each->kind != SCHED_list || param->each->args.n == 0))
        return diag_error(p->diags, parse_span(p, first), D_schedule_each,
                          param->name.text);
    return param->each != NULL;
}

// Parse `name = default`, or `name in [values]` of a schedule, and report a name
// that is there already.
static bool parse_param(struct parser *p, struct sched_item *item, bool is_def)
{
    struct sched_parameter param = {0};
    if (!parse_named(p, "a parameter", &param.name))
        return false;
    for (size_t i = 0; i < item->params.n; i++) {
        if (item->params.at[i].name.text == param.name.text) {
            diag_error(p->diags, param.name.span, D_schedule_defined_twice,
                       "parameter", param.name.text);
            diag_note(p->diags, item->params.at[i].name.span, "first here");
        }
    }
    if (parse_take(p, "=") && !(param.initial = schedule_parse_expr(p)))
        return false;
    if (!is_def && !param.initial && parse_take(p, "in") &&
        !parse_each(p, &param))
        return false;
    vec_push(p->arena, &item->params, param);
    return true;
}

// Parse `(parameters)`.
static bool parse_params(struct parser *p, struct sched_item *item, bool is_def)
{
    if (!parse_expect(p, "(", "before the parameters"))
        return false;
    while (!parse_is(p, ")")) {
        if (!parse_param(p, item, is_def))
            return false;
        if (!parse_take(p, ","))
            break;
    }
    return parse_expect(p, ")", "behind the parameters");
}

// Parse the architectures behind `for`.
static bool parse_targets(struct parser *p, struct sched_item *item)
{
    do {
        struct sched_target target = {0};
        size_t first = p->at;
        if (!parse_named(p, "an architecture", &target.name))
            return false;
        target.is_open = parse_take(p, "+");
        target.name.span = parse_span(p, first);
        vec_push(p->arena, &item->targets, target);
    } while (parse_take(p, ","));
    return true;
}

// Go to a word that is next, be it on another line, and return whether it is.
static bool parse_reach(struct parser *p, const char *word)
{
    size_t at = p->at;
    parse_skip_newlines(p);
    if (parse_is(p, word))
        return true;
    p->at = at;
    return false;
}

// Parse what stands between the name of a schedule and its body.
static bool parse_header(struct parser *p, struct sched_item *item)
{
    while (parse_take(p, ",")) {
        struct sched_name other;
        if (!parse_named(p, "a kernel", &other))
            return false;
        vec_push(p->arena, &item->others, other);
    }
    if (parse_is(p, "(") && !parse_params(p, item, false))
        return false;
    if (parse_reach(p, "for") && parse_take(p, "for") &&
        !parse_targets(p, item))
        return false;
    if (parse_reach(p, "when") && parse_take(p, "when") &&
        !(item->guard = schedule_parse_expr(p)))
        return false;
    return true;
}

// Add a def; report one that is there already.
static void add_def(struct parser *p, struct sched_program *out,
                    struct sched_item *item)
{
    const struct sched_item *other = sched_find_def(out, item->name.text);
    if (other) {
        diag_error(p->diags, item->name.span, D_schedule_defined_twice, "def",
                   item->name.text);
        diag_note(p->diags, other->name.span, "first here");
    }
    vec_push(p->arena, &out->defs, item);
}

// Check that a schedule with lists of values does not stand for too many.
static bool check_choices(struct parser *p, const struct sched_item *item)
{
    size_t n = 1;
    vec_foreach(param, &item->params)
        if (param->each && n <= CHOICES_MOST)
            n *= param->each->args.n;
    if (n > CHOICES_MOST)
        diag_error(p->diags, item->span, D_schedule_choices, CHOICES_MOST);
    return n <= CHOICES_MOST;
}

// Add a schedule, or one for each value of its parameters from `at` on that have
// several, in the order of their lists.
static void add_schedules(struct parser *p, struct sched_program *out,
                          struct sched_item *item, size_t at)
{
    while (at < item->params.n && !item->params.at[at].each)
        at++;
    if (at == item->params.n) {
        vec_push(p->arena, &out->schedules, item);
        return;
    }
    const struct sched_expr *values = item->params.at[at].each;
    for (size_t i = 0; i < values->args.n; i++) {
        struct sched_item *one = arena_new(p->arena, struct sched_item);
        *one = *item;
        one->params.at =
            arena_array(p->arena, struct sched_parameter, item->params.n);
        one->params.cap = item->params.n;
        for (size_t k = 0; k < item->params.n; k++)
            one->params.at[k] = item->params.at[k];
        one->params.at[at].initial = values->args.at[i];
        add_schedules(p, out, one, at + 1);
    }
}

bool schedule_parse_item(struct parser *p, struct sched_program *out)
{
    size_t first = p->at;
    bool is_def = parse_is(p, "def");
    if (!is_def && !parse_is(p, "schedule"))
        return false;
    p->at++;
    struct sched_item *item = arena_new(p->arena, struct sched_item);
    bool ok = parse_named(p, is_def ? "a def" : "a kernel", &item->name) &&
              (is_def ? parse_params(p, item, true) : parse_header(p, item));
    item->span = parse_span(p, first);
    if (ok)
        parse_reach(p, "{");
    if (ok && parse_body(p, &item->body)) {
        if (is_def)
            add_def(p, out, item);
        else if (check_choices(p, item))
            add_schedules(p, out, item, 0);
    } else {
        parse_recover(p);
    }
    return true;
}
