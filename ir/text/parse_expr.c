// Expressions: precedence climbing over the infix rows of ops.def.
//
// A number without a conversion around it is open: it takes the type of its
// partner, and `int` or f32 where it has none.

#include "ir/text/parse_expr.h"

#include "ir/build.h"
#include "ir/type.h"

#include <math.h>
#include <string.h>

enum { OPERATIONS_MOST = 4000 };

// Return the type that an open integer takes when nothing decides it.
static struct type default_int(const struct parser *p)
{
    bool is_flat = p->kernel && p->kernel->level == LEVEL_flat;
    return type_scalar(is_flat ? TYPE_idx64 : TYPE_int);
}

// Mark a value as open: a constant, or a choice between such.
static struct ir_expr *opened(struct ir_expr *x)
{
    if (x)
        x->is_open = x->type.kind != TYPE_bool;
    return x;
}

// Return an open constant as one of a type, NULL if that has no such number.
static struct ir_expr *closed_const(struct arena *a, const struct ir_expr *x,
                                    struct type type)
{
    bool is_float = type_is_float(x->type);
    bool is_big = x->type.kind == TYPE_u64 && x->u.i < 0;
    if (type_is_float(type)) {
        double value = is_float ? x->u.f
                       : is_big ? (double)(uint64_t)x->u.i
                                : (double)x->u.i;
        struct ir_expr *closed = ir_const_float(a, type, value);
        return isfinite(value) && !isfinite(closed->u.f) ? NULL : closed;
    }
    bool fits = type.kind == TYPE_u64 ? is_big || x->u.i >= 0
                                      : !is_big && type_is_integer(type) &&
                                            ir_wrap_int(type, x->u.i) == x->u.i;
    return fits && !is_float ? ir_const_int(a, type, x->u.i) : NULL;
}

struct ir_expr *parse_close_as(struct parser *p, struct ir_expr *x,
                               struct type type)
{
    struct ir_expr *closed;
    if (x->op == OP_select) {
        struct ir_expr *then = parse_close_as(p, x->args[1], type);
        struct ir_expr *other =
            then ? parse_close_as(p, x->args[2], type) : NULL;
        return other ? ir_at(p->arena,
                             ir_select(p->arena, x->args[0], then, other),
                             x->span)
                     : NULL;
    }
    closed = closed_const(p->arena, x, type_vector(type, 1));
    if (closed)
        return ir_at(p->arena, closed, x->span);
    diag_error(p->diags, x->span, D_literal_type, type_name(type));
    return NULL;
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
    diag_error(p->diags, x->span, D_wrong_type, what,
               ir_type_text(p->arena, x->type), ir_type_text(p->arena, type));
    if (x->type.lanes == type.lanes)
        diag_help(p->diags, "write the conversion: `%s(...)`", type_name(type));
    return NULL;
}

// Bring open operands to one type, which stays open: floating if one of them
// is, u64 if one of them is so large.
static bool unify_open(struct parser *p, uint32_t n, struct ir_expr **x,
                       bool wants_float)
{
    bool any_float = wants_float, any_big = false;
    for (uint32_t i = 0; i < n; i++) {
        any_float |= type_is_float(x[i]->type);
        any_big |= x[i]->type.kind == TYPE_u64;
    }
    for (uint32_t i = 0; i < n && (any_float || any_big); i++) {
        struct type type = type_scalar(any_float ? TYPE_f64 : TYPE_u64);
        x[i] = opened(parse_close_as(p, x[i], type));
        if (!x[i])
            return false;
    }
    return true;
}

// Bring operands whose types must agree to one type: literals take the type
// of the others, and integers beside an `int` become `int`.
static bool unify(struct parser *p, uint32_t n, struct ir_expr **x,
                  bool wants_float)
{
    const struct ir_expr *model = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (!x[i]->is_open && (!model || type_is_index(x[i]->type)))
            model = x[i];
    }
    if (!model)
        return unify_open(p, n, x, wants_float);
    for (uint32_t i = 0; i < n; i++) {
        if (x[i]->is_open)
            x[i] = parse_close_as(p, x[i], model->type);
        else if (model->type.kind == TYPE_int && type_is_integer(x[i]->type))
            x[i] = parse_convert(p, x[i],
                                 type_vector(model->type, x[i]->type.lanes),
                                 "this operand");
        if (!x[i])
            return false;
    }
    return true;
}

// Close all operands.
static bool close_all(struct parser *p, uint32_t n, struct ir_expr **x)
{
    for (uint32_t i = 0; i < n; i++) {
        x[i] = parse_close(p, x[i]);
        if (!x[i])
            return false;
    }
    return true;
}

// Return an operation on operands whose types agree, or NULL after reporting
// that it does not take them.
static struct ir_expr *checked(struct parser *p, enum ir_op op, uint32_t n,
                               struct ir_expr **x, struct span span)
{
    struct type types[OPERANDS_MOST], result;
    const char *wrong;
    for (uint32_t i = 0; i < n; i++)
        types[i] = x[i]->type;
    if (ir_result_type(p->arena, op, n, types, &result, &wrong))
        return ir_at(p->arena, ir_call(p->arena, op, n, x), span);
    diag_error(p->diags, span, D_operand_types, wrong);
    return NULL;
}

struct ir_expr *parse_operation(struct parser *p, enum ir_op op, uint32_t n,
                                struct ir_expr **x, struct span span)
{
    const struct ir_op_info *info = ir_op_info(op);
    bool is_call = info->form == FORM_CALL, all_open = true;
    if (!unify(p, n, x, info->operands[0] == 'f') ||
        (is_call && !close_all(p, n, x)))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        all_open &= x[i]->is_open;
    struct ir_expr *r = checked(p, op, n, x, span);
    if (!r || !all_open || is_call)
        return r;
    if (r->op == OP_const)
        return opened(r);
    return close_all(p, n, x) ? checked(p, op, n, x, span) : NULL;
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
            : ir_int(p->arena, (int64_t)t->integer);
    if (t->kind == TOKEN_INT && t->integer > INT64_MAX)
        x->type = type_scalar(TYPE_u64);
    x->span = t->span;
    x->is_open = true;
    return x;
}

// Report a value that is no index.
static struct ir_expr *not_an_index(struct parser *p, const struct ir_expr *x,
                                    const char *what)
{
    diag_error(p->diags, x->span, D_not_an_index, what,
               ir_type_text(p->arena, x->type));
    return NULL;
}

// Parse an index, which may be a vector.
static struct ir_expr *parse_vector_index(struct parser *p, const char *what)
{
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x || type_is_index(x->type))
        return x;
    if (type_is_integer(x->type))
        return parse_convert(
            p, x, type_vector(type_scalar(TYPE_int), x->type.lanes), what);
    return not_an_index(p, x, what);
}

bool parse_indices(struct parser *p, struct ir_expr ***out, uint32_t *n)
{
    struct VEC(struct ir_expr *) list = {0};
    while (!parse_is(p, "]")) {
        struct ir_expr *x = parse_vector_index(p, "an index");
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
    for (uint32_t i = 0; i + 1 < *n; i++) {
        if ((*index)[i]->type.lanes > 1)
            return not_an_index(p, (*index)[i], "an index before the last");
    }
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

bool parse_check_writable(struct parser *p, const struct ir_buffer *buffer,
                          struct span span)
{
    if (buffer->role != ROLE_input && buffer->space != SPACE_constant)
        return true;
    diag_error(p->diags, span, D_read_only, buffer->name);
    diag_note(p->diags, buffer->span, "`%s` is declared here", buffer->name);
    if (buffer->role == ROLE_input)
        diag_help(p->diags, "declare it `inout` to change it in place");
    return false;
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
    bool is_axis = axis_find(name, &axis) && axis_kind(axis) >= AXIS_BLOCK;
    if (is_axis && p->kernel && p->kernel->level < LEVEL_launch) {
        diag_error(p->diags, parse_span(p, first), D_index_value, name);
        return NULL;
    }
    if (is_axis)
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
    if (strcmp(next, "(") == 0)
        return parse_call(p);
    if (strcmp(next, ".") == 0)
        return parse_axis_value(p);
    if (scope_find(p, t->text))
        return parse_use(p);
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

// Return whether a literal is 2^63, which only its negative makes an integer.
static bool is_least_int(const struct ir_expr *x)
{
    return x->is_open && x->type.kind == TYPE_u64 && x->u.i == INT64_MIN;
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
    if (x && op == OP_neg && is_least_int(x))
        return opened(
            ir_at(p->arena, ir_int(p->arena, INT64_MIN), parse_span(p, first)));
    return x ? parse_operation(p, op, 1, &x, parse_span(p, first)) : NULL;
}

// Count one more operation: chains of them are deep trees.
static bool count_operation(struct parser *p)
{
    if (p->operations++ < OPERATIONS_MOST)
        return true;
    diag_error(p->diags, parse_peek(p, 0)->span, D_too_long,
               (long long)OPERATIONS_MOST);
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
    return x[0];
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
    if (!x[2] || !unify(p, 2, x + 1, false))
        return NULL;
    bool is_open = x[1]->is_open;
    struct ir_expr *r = checked(p, OP_select, 3, x, parse_span(p, first));
    return is_open ? opened(r) : r;
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
    struct ir_expr *x = parse_vector_index(p, what);
    return !x || x->type.lanes == 1 ? x : not_an_index(p, x, what);
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
