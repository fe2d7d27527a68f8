// Expressions of schedules.
//
//   expr    = infix ["?" expr ":" expr]
//   infix   = prefix {operator prefix}          as tightly as ops.def says
//   prefix  = ["-" | "!"] prefix | postfix
//   postfix = primary {"." name | "[" list "]" | "[" [expr] ":" [expr] "]"}
//   primary = integer | float | text | "_" | name | name "(" list ")" | "(" expr ")"
//           | "[" list "]" | map
//   map     = "(" names ")" "->" "(" list ")"

#include "frontend/schedule.h"

#include <string.h>

// The operators of schedules.
static const enum ir_op infix_ops[] = {
    OP_or, OP_and, OP_eq,  OP_ne,  OP_lt,  OP_le,  OP_gt,
    OP_ge, OP_add, OP_sub, OP_mul, OP_div, OP_mod,
};
static const enum ir_op prefix_ops[] = {OP_neg, OP_not};

struct sched_expr *schedule_expr_new(struct parser *p, size_t first,
                                     enum sched_expr_kind kind)
{
    struct sched_expr *x = arena_new(p->arena, struct sched_expr);
    x->kind = kind;
    x->span = parse_span(p, first);
    return x;
}

// Return the operator of a table that comes next, or NULL.
static const enum ir_op *next_op(const struct parser *p, const enum ir_op *ops,
                                 size_t n)
{
    if (parse_peek(p, 0)->kind != TOKEN_PUNCT)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(parse_peek(p, 0)->text, ir_op_info(ops[i])->spelling) == 0)
            return &ops[i];
    }
    return NULL;
}

// Append the expressions up to the closing bracket.
static bool parse_list(struct parser *p, struct sched_expr *into,
                       const char *close, const char *where)
{
    while (!parse_is(p, close)) {
        struct sched_expr *x = schedule_parse_expr(p);
        if (!x)
            return false;
        vec_push(p->arena, &into->args, x);
        if (!parse_take(p, ","))
            break;
    }
    return parse_expect(p, close, where);
}

// Parse an integer.
static struct sched_expr *parse_integer(struct parser *p, size_t first)
{
    const struct token *t = parse_peek(p, 0);
    if (t->integer > INT64_MAX) {
        diag_error(p->diags, t->span, D_number_too_large, t->text);
        return NULL;
    }
    p->at++;
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_int);
    x->value = (int64_t)t->integer;
    return x;
}

// Parse a floating number.
static struct sched_expr *parse_fraction(struct parser *p, size_t first)
{
    const struct token *t = parse_peek(p, 0);
    p->at++;
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_float);
    x->number = t->number;
    return x;
}

// Parse a text.
static struct sched_expr *parse_text(struct parser *p, size_t first)
{
    const struct token *t = parse_peek(p, 0);
    p->at++;
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_text);
    x->name = t->text;
    return x;
}

// Parse a name, `_` or a call.
static struct sched_expr *parse_word(struct parser *p, size_t first)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind != TOKEN_NAME) {
        diag_error(p->diags, t->span, D_expected_expression,
                   parse_described(p, t));
        parse_foreign(p, "");
        return NULL;
    }
    const char *name = parse_name(p, "a value");
    bool is_call = parse_take(p, "(");
    enum sched_expr_kind kind = is_call                  ? SCHED_call
                                : strcmp(name, "_") == 0 ? SCHED_any
                                                         : SCHED_name;
    struct sched_expr *x = schedule_expr_new(p, first, kind);
    x->name = name;
    if (is_call && !parse_list(p, x, ")", "behind the arguments"))
        return NULL;
    x->span = parse_span(p, first);
    return x;
}

// Parse `[a, b]`.
static struct sched_expr *parse_brackets(struct parser *p, size_t first)
{
    parse_expect(p, "[", "before a list");
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_list);
    if (!parse_list(p, x, "]", "behind a list"))
        return NULL;
    x->span = parse_span(p, first);
    return x;
}

// Return whether `(name, name ...) ->` comes next.
static bool is_map(const struct parser *p)
{
    size_t i = 1;
    while (parse_peek(p, i)->kind == TOKEN_NAME &&
           strcmp(parse_peek(p, i + 1)->text, ",") == 0)
        i += 2;
    return parse_peek(p, i)->kind == TOKEN_NAME &&
           strcmp(parse_peek(p, i + 1)->text, ")") == 0 &&
           strcmp(parse_peek(p, i + 2)->text, "->") == 0;
}

// Add the next name of a map; report one that is there already.
static void add_map_name(struct parser *p, struct sched_expr *x)
{
    struct sched_name name = {.span = parse_peek(p, 0)->span};
    name.text = parse_name(p, "an index");
    for (size_t i = 0; i < x->names.n; i++) {
        if (x->names.at[i].text == name.text) {
            diag_error(p->diags, name.span, D_schedule_defined_twice, "index",
                       name.text);
            diag_note(p->diags, x->names.at[i].span, "first here");
        }
    }
    vec_push(p->arena, &x->names, name);
}

// Parse `(i, j) -> (j, i)`.
static struct sched_expr *parse_map(struct parser *p, size_t first)
{
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_map);
    parse_expect(p, "(", "before the indices");
    do {
        add_map_name(p, x);
    } while (parse_take(p, ","));
    parse_expect(p, ")", "behind the indices");
    parse_expect(p, "->", "behind the indices");
    if (!parse_expect(p, "(", "before the new indices") ||
        !parse_list(p, x, ")", "behind the new indices"))
        return NULL;
    x->span = parse_span(p, first);
    return x;
}

// Parse what an expression begins with.
static struct sched_expr *parse_primary(struct parser *p)
{
    size_t first = p->at;
    if (parse_peek(p, 0)->kind == TOKEN_INT)
        return parse_integer(p, first);
    if (parse_peek(p, 0)->kind == TOKEN_FLOAT)
        return parse_fraction(p, first);
    if (parse_peek(p, 0)->kind == TOKEN_TEXT)
        return parse_text(p, first);
    if (parse_is(p, "["))
        return parse_brackets(p, first);
    if (parse_is(p, "(") && is_map(p))
        return parse_map(p, first);
    if (!parse_take(p, "("))
        return parse_word(p, first);
    struct sched_expr *x = schedule_parse_expr(p);
    return x && parse_expect(p, ")", "behind an expression") ? x : NULL;
}

// Parse one bound of a slice: nothing, or an expression.
static bool parse_bound(struct parser *p, struct sched_expr *into,
                        const char *end)
{
    struct sched_expr *bound = NULL;
    if (!parse_is(p, end) && !(bound = schedule_parse_expr(p)))
        return false;
    vec_push(p->arena, &into->args, bound);
    return true;
}

// Parse `i]` or `i:k]` behind the `[` of `base`.
static struct sched_expr *parse_part(struct parser *p, size_t first,
                                     struct sched_expr *base)
{
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_index);
    vec_push(p->arena, &x->args, base);
    if (!parse_bound(p, x, ":"))
        return NULL;
    if (parse_take(p, ":")) {
        x->kind = SCHED_slice;
        if (!parse_bound(p, x, "]"))
            return NULL;
    }
    while (x->kind == SCHED_index && parse_take(p, ","))
        if (!parse_bound(p, x, "]"))
            return NULL;
    if (!parse_expect(p, "]", "behind an index"))
        return NULL;
    x->span = parse_span(p, first);
    return x;
}

// Report a call of a member: nothing here is an object.
static bool check_no_method(struct parser *p, const char *name)
{
    const struct token *t = parse_peek(p, 0);
    if (!parse_is(p, "("))
        return true;
    diag_error(p->diags, t->span, D_statement_goes_on, parse_described(p, t));
    return diag_help(p->diags,
                     "there are no methods: what it works on is an argument, "
                     "`%s(C.i, ...)`",
                     name);
}

// Parse a primary and what stands behind it.
static struct sched_expr *parse_postfix(struct parser *p)
{
    size_t first = p->at;
    struct sched_expr *x = parse_primary(p);
    while (x) {
        if (parse_take(p, "[")) {
            x = parse_part(p, first, x);
        } else if (parse_take(p, ".")) {
            const char *name = parse_name(p, "a loop or a stage");
            struct sched_expr *base = x;
            if (!name || !check_no_method(p, name))
                return NULL;
            x = schedule_expr_new(p, first, SCHED_member);
            x->name = name;
            vec_push(p->arena, &x->args, base);
        } else {
            break;
        }
    }
    return x;
}

// Parse an operand.
static struct sched_expr *parse_prefix(struct parser *p)
{
    size_t first = p->at;
    const enum ir_op *op = next_op(p, prefix_ops, 2);
    if (!op)
        return parse_postfix(p);
    p->at++;
    if (!parse_enter(p))
        return NULL;
    struct sched_expr *of = parse_prefix(p);
    parse_leave(p);
    if (!of)
        return NULL;
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_op);
    x->op = *op;
    vec_push(p->arena, &x->args, of);
    return x;
}

// Parse operations that bind more tightly than `outer`.
static struct sched_expr *parse_infix(struct parser *p, int outer)
{
    enum { INFIX_OPS = sizeof infix_ops / sizeof *infix_ops };
    size_t first = p->at;
    struct sched_expr *left = parse_prefix(p);
    while (left) {
        const enum ir_op *op = next_op(p, infix_ops, INFIX_OPS);
        if (!op || ir_op_info(*op)->precedence <= outer)
            break;
        p->at++;
        struct sched_expr *right = parse_infix(p, ir_op_info(*op)->precedence);
        if (!right)
            return NULL;
        struct sched_expr *x = schedule_expr_new(p, first, SCHED_op);
        x->op = *op;
        vec_push(p->arena, &x->args, left);
        vec_push(p->arena, &x->args, right);
        left = x;
    }
    return left;
}

// Parse `? a : b` behind a condition.
static struct sched_expr *parse_select(struct parser *p, size_t first,
                                       struct sched_expr *condition)
{
    struct sched_expr *a = schedule_parse_expr(p);
    if (!a || !parse_expect(p, ":", "between the two values"))
        return NULL;
    struct sched_expr *b = schedule_parse_expr(p);
    if (!b)
        return NULL;
    struct sched_expr *x = schedule_expr_new(p, first, SCHED_op);
    x->op = OP_select;
    vec_push(p->arena, &x->args, condition);
    vec_push(p->arena, &x->args, a);
    vec_push(p->arena, &x->args, b);
    return x;
}

struct sched_expr *schedule_parse_expr(struct parser *p)
{
    size_t first = p->at;
    if (!parse_enter(p))
        return NULL;
    struct sched_expr *x = parse_infix(p, 0);
    if (x && parse_take(p, "?"))
        x = parse_select(p, first, x);
    parse_leave(p);
    return x;
}
