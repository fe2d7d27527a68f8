// Expressions: precedence climbing over the infix rows of ops.def.

#include "ir/text/parse_expr.h"

#include "ir/base/foreign.h"
#include "ir/build.h"
#include "ir/type.h"

#include <math.h>
#include <string.h>

enum { OPERATIONS_MOST = 4000 };

// Return the infix operation that the next token stands for.
static bool next_infix(const struct parser *p, enum ir_op *op)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind != TOKEN_PUNCT || strchr("()[]{},:;?", t->text[0]))
        return false; // most are these
    for (int i = 0; i < OP_COUNT; i++) {
        const struct ir_op_info *info = ir_op_info((enum ir_op)i);
        if (info->form == FORM_INFIX && info->spelling[0] == t->text[0] &&
            strcmp(info->spelling, t->text) == 0) {
            *op = (enum ir_op)i;
            return true;
        }
    }
    return false;
}

// Return a number token as an open constant.
static struct ir_expr *parse_number(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    p->at++;
    struct ir_expr *x =
        t->kind == TOKEN_FLOAT
            ? ir_const_float(p->arena, type_scalar(TYPE_f64), t->number)
            : ir_int(p->arena, (int64_t)t->integer);
    if (t->kind == TOKEN_INT && t->integer > INT64_MAX)
        x->type = type_scalar(TYPE_u64);
    x->span = t->span;
    x->is_open = true;
    return x;
}

// Parse a use of a variable or an element of an array.
static struct ir_expr *parse_use(struct parser *p)
{
    size_t first = p->at;
    const struct token *t = parse_peek(p, 0);
    const struct scope_entry *e = scope_find(p, t->text);
    if (!e || e->kind == ENTRY_BUFFER || parse_peek(p, 1)->text[0] == '[') {
        struct ir_buffer *buffer = parse_buffer_name(p);
        struct ir_expr **index;
        uint32_t n;
        if (!buffer || !parse_element(p, buffer, first, &index, &n))
            return NULL;
        return ir_at(p->arena, ir_load(p->arena, buffer, n, index),
                     parse_span(p, first));
    }
    p->at++;
    if (e->kind == ENTRY_BROKEN)
        return NULL;
    return ir_at(p->arena, ir_read(p->arena, e->var), t->span);
}

// Return the name that a word, a dot and a word make.
static const char *dotted(struct parser *p)
{
    return arena_printf(p->arena, "%s.%s", parse_peek(p, 0)->text,
                        parse_peek(p, 2)->text);
}

// Parse `block.x` ... `thread.z`.
static struct ir_expr *parse_axis_value(struct parser *p)
{
    size_t first = p->at;
    enum axis axis;
    const char *name = dotted(p);
    bool is_axis = axis_find(name, &axis) && axis_kind(axis) >= AXIS_BLOCK &&
                   !axis_is_cluster(axis);
    if (!is_axis && foreign_help(FOREIGN_WORD, parse_peek(p, 0)->text)) {
        scope_unknown(p, parse_peek(p, 0)->span, parse_peek(p, 0)->text);
        return NULL;
    }
    p->at += 3;
    if (is_axis && (!p->kernel || p->kernel->level >= LEVEL_grids))
        return ir_at(p->arena, ir_index_value(p->arena, axis),
                     parse_span(p, first));
    diag_error(p->diags, parse_span(p, first),
               is_axis ? D_index_value : D_unknown_axis, name);
    diag_help(p->diags, "blocks and threads are loops: "
                        "`for t in 0..256 @thread.x { ... }`");
    return NULL;
}

// Return `inf` or `nan` as an open constant.
static struct ir_expr *parse_special(struct parser *p, double value)
{
    struct ir_expr *x = ir_const_float(p->arena, type_scalar(TYPE_f64), value);
    x->span = parse_peek(p, 0)->span;
    x->is_open = true;
    p->at++;
    return x;
}

// Report a token that begins no expression.
static struct ir_expr *no_expression(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    diag_error(p->diags, t->span, D_expected_expression, parse_described(p, t));
    if (t->kind == TOKEN_PUNCT && p->at && t[-1].kind == TOKEN_NEWLINE)
        diag_help(p->diags, "to go on with a statement, end its line with `%s`",
                  t->text);
    else
        parse_foreign(p, "");
    return NULL;
}

// Parse a word of the language that is a value.
static struct ir_expr *parse_reserved(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    if (strcmp(t->text, "inf") == 0)
        return parse_special(p, (double)INFINITY);
    if (strcmp(t->text, "nan") == 0)
        return parse_special(p, (double)NAN);
    bool is_true = strcmp(t->text, "true") == 0;
    if (!is_true && strcmp(t->text, "false") != 0)
        return no_expression(p);
    p->at++;
    return ir_at(p->arena, ir_bool(p->arena, is_true), t->span);
}

// Parse a name and what follows it.
static struct ir_expr *parse_named(struct parser *p)
{
    enum axis axis;
    const struct token *t = parse_peek(p, 0);
    const char *next = parse_peek(p, 1)->text;
    if (lex_is_reserved(t->text))
        return parse_reserved(p);
    if (strcmp(next, "(") == 0)
        return parse_call(p);
    if (parse_is_static(p))
        return parse_static(p);
    if (strcmp(next, ".") == 0 &&
        (axis_find(dotted(p), &axis) || !scope_find(p, t->text)))
        return parse_axis_value(p);
    if (scope_find(p, t->text) || strcmp(next, "[") == 0)
        return parse_use(p);
    scope_unknown(p, t->span, t->text);
    p->at++;
    return NULL;
}

// Parse an operand: a number, a name, a bracket.
static struct ir_expr *parse_primary(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind == TOKEN_INT || t->kind == TOKEN_FLOAT)
        return parse_number(p);
    if (t->kind == TOKEN_NAME)
        return parse_named(p);
    if (!parse_take(p, "("))
        return no_expression(p);
    struct ir_expr *x = parse_expr(p);
    return x && parse_expect(p, ")", "behind the expression") ? x : NULL;
}

// Parse prefix operators and their operand.
static struct ir_expr *parse_prefix(struct parser *p)
{
    size_t first = p->at;
    enum ir_op op = parse_is(p, "-")   ? OP_neg
                    : parse_is(p, "!") ? OP_not
                    : parse_is(p, "~") ? OP_bit_not
                                       : OP_const;
    if (op == OP_const)
        return parse_primary(p);
    p->at++;
    if (!parse_enter(p))
        return NULL;
    struct ir_expr *x = parse_prefix(p);
    parse_leave(p);
    return x ? parse_operation(p, op, 1, &x, parse_span(p, first)) : NULL;
}

// Count one more operation: chains of them are deep trees.  Printed programs
// have no limit, as they come from files that kept to it.
static bool count_operation(struct parser *p)
{
    if (!p->define || p->operations++ < OPERATIONS_MOST)
        return true;
    diag_error(p->diags, parse_peek(p, 0)->span, D_too_long,
               (long long)OPERATIONS_MOST);
    return false;
}

// Report a word of another language behind an operand: `and`.
static bool check_infix_word(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    if (t->kind != TOKEN_NAME || !foreign_help(FOREIGN_INFIX, t->text))
        return true;
    diag_error(p->diags, t->span, D_statement_goes_on, parse_described(p, t));
    parse_foreign(p, "");
    return false;
}

// Parse a chain of infix operations that bind at least as tight as `least`.
static struct ir_expr *parse_infix(struct parser *p, int least)
{
    size_t first = p->at;
    enum ir_op op;
    struct ir_expr *x[2] = {parse_prefix(p), NULL};
    while (x[0] && next_infix(p, &op) && ir_op_info(op)->precedence >= least) {
        p->at++;
        if (!count_operation(p) || !parse_enter(p))
            return NULL;
        x[1] = parse_infix(p, ir_op_info(op)->precedence + 1);
        parse_leave(p);
        x[0] = x[1] ? parse_operation(p, op, 2, x, parse_span(p, first)) : NULL;
    }
    return x[0] && check_infix_word(p) ? x[0] : NULL;
}

// Parse the arms of `c ? a : b` behind the question mark.
static struct ir_expr *parse_select(struct parser *p, struct ir_expr *c,
                                    size_t first)
{
    struct ir_expr *x[3];
    if (c->type.kind != TYPE_bool) {
        diag_error(p->diags, c->span, D_not_a_condition, "`?`",
                   type_name(c->type));
        return NULL;
    }
    x[0] = c;
    x[1] = parse_expr(p);
    if (!x[1] || !parse_expect(p, ":", "between the arms of `?`"))
        return NULL;
    x[2] = parse_expr(p);
    if (x[2] && p->instance && c->op == OP_const)
        return x[c->u.i ? 1 : 2];
    return x[2] ? parse_choice(p, x, parse_span(p, first)) : NULL;
}

struct ir_expr *parse_expr(struct parser *p)
{
    size_t first = p->at;
    if (!parse_enter(p))
        return NULL;
    struct ir_expr *x = parse_infix(p, 2);
    if (x && parse_take(p, "?"))
        x = parse_select(p, x, first);
    parse_leave(p);
    return x;
}

struct ir_expr *parse_typed(struct parser *p, struct type type,
                            const char *what)
{
    struct ir_expr *x = parse_expr(p);
    return parse_convert(p, x, type, what);
}

struct ir_expr *parse_condition(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x || type_equal(x->type, type_scalar(TYPE_bool)))
        return x;
    diag_error(p->diags, x->span, D_not_a_condition, what,
               ir_type_text(p->arena, x->type));
    return NULL;
}
