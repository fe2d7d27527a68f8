// Expressions: precedence climbing over the infix rows of ops.def.
//
// A number without a conversion around it is open: it takes the type of its
// partner, and `int` or f32 where it has none.

#include "ir/text/parse_expr.h"

#include "ir/build.h"
#include "ir/type.h"

#include <math.h>
#include <string.h>

// Return the type that an open integer takes when nothing decides it.
static struct type default_int(const struct parser *p)
{
    bool is_flat = p->kernel && p->kernel->level == LEVEL_flat;
    return type_scalar(is_flat ? TYPE_idx64 : TYPE_int);
}

// Mark a constant as open.
static struct ir_expr *opened(struct ir_expr *x)
{
    x->is_open = x->op == OP_const && x->type.kind != TYPE_bool;
    return x;
}

// Return whether an integer of a literal fits a type.
static bool int_fits(struct type type, int64_t value)
{
    return type_is_float(type) || type.kind == TYPE_u64 ||
           ir_wrap_int(type, value) == value;
}

struct ir_expr *parse_close_as(struct parser *p, struct ir_expr *x,
                               struct type type)
{
    bool is_float = type_is_float(x->type);
    struct type scalar = type_vector(type, 1);
    struct ir_expr *closed = NULL;
    if (type_is_float(type))
        closed = ir_const_float(p->arena, scalar,
                                is_float ? x->u.f : (double)x->u.i);
    else if (!is_float && type_is_integer(type) && int_fits(type, x->u.i))
        closed = ir_const_int(p->arena, scalar, x->u.i);
    if (!closed) {
        diag_error(p->diags, x->span, D_literal_type, type_name(type));
        return NULL;
    }
    closed->span = x->span;
    return closed;
}

struct ir_expr *parse_close(struct parser *p, struct ir_expr *x)
{
    if (!x || !x->is_open)
        return x;
    bool is_float = type_is_float(x->type);
    return parse_close_as(p, x,
                          is_float ? type_scalar(TYPE_f32) : default_int(p));
}

struct ir_expr *parse_convert(struct parser *p, struct ir_expr *x,
                              struct type type, const char *what)
{
    if (!x)
        return NULL;
    if (x->is_open)
        return parse_close_as(p, x, type);
    if (type_equal(x->type, type))
        return x;
    if (type.kind == TYPE_int && type_is_integer(x->type) &&
        x->type.kind != TYPE_u64)
        return ir_at(p->arena,
                     ir_cast(p->arena, type_vector(type, x->type.lanes), x),
                     x->span);
    diag_error(p->diags, x->span, D_wrong_type, what, type_name(x->type),
               type_name(type));
    diag_help(p->diags, "write the conversion: `%s(...)`", type_name(type));
    return NULL;
}

// Bring operands whose types must agree to one type: literals take the type
// of the others, and integers beside an `int` become `int`.
static bool unify(struct parser *p, uint32_t n, struct ir_expr **x,
                  bool wants_float)
{
    const struct ir_expr *model = NULL;
    bool any_float = wants_float;
    for (uint32_t i = 0; i < n; i++) {
        if (!x[i]->is_open && (!model || type_is_index(x[i]->type)))
            model = x[i];
        any_float |= type_is_float(x[i]->type);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool to_int = model && model->type.kind == TYPE_int &&
                      type_is_integer(x[i]->type);
        if (x[i]->is_open && !model && any_float)
            x[i] = opened(parse_close_as(p, x[i], type_scalar(TYPE_f64)));
        else if (x[i]->is_open && model)
            x[i] = parse_close_as(p, x[i], model->type);
        else if (to_int)
            x[i] = parse_convert(p, x[i], model->type, "this operand");
        if (!x[i])
            return false;
    }
    return true;
}

struct ir_expr *parse_operation(struct parser *p, enum ir_op op, uint32_t n,
                                struct ir_expr **x, struct span span)
{
    const struct ir_op_info *info = ir_op_info(op);
    bool all_open = true;
    struct type types[OPERANDS_MOST], result;
    const char *wrong;
    if (!unify(p, n, x, info->operands[0] == 'f'))
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        all_open &= x[i]->is_open;
        if (info->form == FORM_CALL && x[i]->is_open)
            x[i] = parse_close(p, opened(x[i]));
        types[i] = x[i]->type;
    }
    if (!ir_result_type(p->arena, op, n, types, &result, &wrong)) {
        diag_error(p->diags, span, D_operand_types, wrong);
        return NULL;
    }
    struct ir_expr *r = ir_at(p->arena, ir_call(p->arena, op, n, x), span);
    if (info->form == FORM_CALL || !all_open)
        return r;
    if (r->op == OP_const)
        return opened(r);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = parse_close(p, opened(x[i]));
        if (!x[i])
            return NULL;
    }
    return ir_at(p->arena, ir_call(p->arena, op, n, x), span);
}

// Return the infix operation that the next token stands for.
static bool next_infix(const struct parser *p, enum ir_op *op)
{
    const struct token *t = parse_peek(p, 0);
    for (int i = 0; i < OP_COUNT && t->kind == TOKEN_PUNCT; i++) {
        const struct ir_op_info *info = ir_op_info((enum ir_op)i);
        if (info->form == FORM_INFIX && strcmp(info->spelling, t->text) == 0) {
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
            : ir_const_int(p->arena, type_scalar(TYPE_i64),
                           (int64_t)t->integer);
    if (t->kind == TOKEN_INT && t->integer > INT64_MAX)
        x->type = type_scalar(TYPE_u64);
    x->span = t->span;
    x->is_open = true;
    return x;
}

bool parse_indices(struct parser *p, struct ir_expr ***out, uint32_t *n)
{
    struct VEC(struct ir_expr *) list = {0};
    while (!parse_is(p, "]")) {
        struct ir_expr *x = parse_index(p, "an index");
        if (!x)
            return false;
        vec_push(p->arena, &list, x);
        if (!parse_take(p, ","))
            break;
    }
    *out = list.at;
    *n = (uint32_t)list.n;
    return parse_expect(p, "]", "behind the indices");
}

bool parse_element(struct parser *p, const struct ir_buffer *buffer,
                   size_t first, struct ir_expr ***index, uint32_t *n)
{
    if (!parse_expect(p, "[", "behind the name of an array") ||
        !parse_indices(p, index, n))
        return false;
    uint32_t rank =
        p->kernel && p->kernel->level == LEVEL_flat ? 1 : buffer->rank;
    if (*n == rank)
        return true;
    diag_error(p->diags, parse_span(p, first), D_wrong_rank, buffer->name,
               (long long)rank, (long long)*n);
    diag_note(p->diags, buffer->span, "`%s` is declared here", buffer->name);
    return false;
}

struct ir_buffer *parse_buffer_name(struct parser *p)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an array");
    const struct scope_entry *e = name ? scope_find(p, name) : NULL;
    if (e && e->kind == ENTRY_BUFFER)
        return e->buffer;
    if (name && !e)
        scope_unknown(p, span, name);
    else if (e && e->kind == ENTRY_VAR)
        diag_error(p->diags, span, D_not_an_array, name);
    return NULL;
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

// Parse `block.x` ... `thread.z`.
static struct ir_expr *parse_axis_value(struct parser *p)
{
    size_t first = p->at;
    enum axis axis;
    const char *name = arena_printf(p->arena, "%s.%s", parse_peek(p, 0)->text,
                                    parse_peek(p, 2)->text);
    p->at += 3;
    if (axis_find(name, &axis) && axis_kind(axis) >= AXIS_BLOCK)
        return ir_at(p->arena, ir_index_value(p->arena, axis),
                     parse_span(p, first));
    diag_error(p->diags, parse_span(p, first), D_unknown_axis, name);
    return NULL;
}

// Return `inf` or `nan` as an open constant.
static struct ir_expr *parse_special(struct parser *p, double value)
{
    struct ir_expr *x = ir_const_float(p->arena, type_scalar(TYPE_f64), value);
    x->span = parse_peek(p, 0)->span;
    p->at++;
    return opened(x);
}

// Parse a name and what follows it.
static struct ir_expr *parse_named(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    const char *next = parse_peek(p, 1)->text;
    if (scope_find(p, t->text) && strcmp(next, "(") != 0)
        return parse_use(p);
    if (strcmp(next, "(") == 0)
        return parse_call(p);
    if (strcmp(next, ".") == 0)
        return parse_axis_value(p);
    if (strcmp(t->text, "true") == 0 || strcmp(t->text, "false") == 0) {
        p->at++;
        return ir_at(p->arena, ir_bool(p->arena, t->text[0] == 't'), t->span);
    }
    if (strcmp(t->text, "inf") == 0 || strcmp(t->text, "nan") == 0)
        return parse_special(p, t->text[0] == 'i' ? (double)INFINITY
                                                  : (double)NAN);
    if (strcmp(next, "[") == 0)
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
    if (parse_take(p, "(")) {
        struct ir_expr *x = parse_expr(p);
        return x && parse_expect(p, ")", "behind the expression") ? x : NULL;
    }
    diag_error(p->diags, t->span, D_expected_expression,
               t->kind == TOKEN_END       ? "the end of the file"
               : t->kind == TOKEN_NEWLINE ? "the end of the line"
                                          : t->text);
    return NULL;
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

// Parse a chain of infix operations that bind at least as tight as `least`.
static struct ir_expr *parse_infix(struct parser *p, int least)
{
    size_t first = p->at;
    enum ir_op op;
    struct ir_expr *x[2] = {parse_prefix(p), NULL};
    while (x[0] && next_infix(p, &op) && ir_op_info(op)->precedence >= least) {
        p->at++;
        if (!parse_enter(p))
            return NULL;
        x[1] = parse_infix(p, ir_op_info(op)->precedence + 1);
        parse_leave(p);
        x[0] = x[1] ? parse_operation(p, op, 2, x, parse_span(p, first)) : NULL;
    }
    return x[0];
}

// Parse the arms of `c ? a : b` behind the question mark.
static struct ir_expr *parse_select(struct parser *p, struct ir_expr *c,
                                    size_t first)
{
    struct ir_expr *x[2];
    if (c->type.kind != TYPE_bool) {
        diag_error(p->diags, c->span, D_not_a_condition, "`?`",
                   type_name(c->type));
        return NULL;
    }
    x[0] = parse_expr(p);
    if (!x[0] || !parse_expect(p, ":", "between the arms of `?`"))
        return NULL;
    x[1] = parse_expr(p);
    if (!x[1] || !unify(p, 2, x, false))
        return NULL;
    bool is_open = x[0]->is_open;
    x[0] = parse_close(p, x[0]);
    x[1] = is_open ? parse_close(p, x[1])
                   : parse_convert(p, x[1], x[0]->type, "the other arm");
    return x[1] ? ir_at(p->arena, ir_select(p->arena, c, x[0], x[1]),
                        parse_span(p, first))
                : NULL;
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

struct ir_expr *parse_index(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x || type_is_index(x->type))
        return x;
    if (type_is_integer(x->type))
        return parse_convert(p, x, type_scalar(TYPE_int), what);
    diag_error(p->diags, x->span, D_not_an_index, what, type_name(x->type));
    return NULL;
}

struct ir_expr *parse_condition(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x || x->type.kind == TYPE_bool)
        return x;
    diag_error(p->diags, x->span, D_not_a_condition, what, type_name(x->type));
    return NULL;
}
