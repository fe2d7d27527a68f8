// Operations and the types of their operands.
//
// A number without a conversion around it is open, and so is a choice between
// such numbers: it takes the type of its partner or of the place it goes to,
// and `int` or f32 where nothing decides.  While open, an integer has type
// `int`, or u64 if it is that large, and a floating number has type f64.

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
    if (x && x->is_open)
        x = parse_close_as(p, x, type);
    if (!x || type_equal(x->type, type))
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
        if (!x[i]->is_open && (!model || type_is_index(x[i]->type)) &&
            (!model || model->type.kind != TYPE_int))
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

// Say how to convert if two of the operands are numbers of different types.
static void help_convert(struct parser *p, uint32_t n, const struct type *types)
{
    if (n < 2)
        return;
    struct type x = types[n - 2], y = types[n - 1];
    bool is_same_class = type_is_float(x) == type_is_float(y);
    bool is_first =
        is_same_class ? type_bits(x) >= type_bits(y) : type_is_float(x);
    if (x.kind != y.kind && x.kind != TYPE_bool && y.kind != TYPE_bool)
        diag_help(p->diags, "convert one of them: `%s(...)`",
                  type_name(is_first ? x : y));
}

// Return an operation on operands whose types agree, or NULL after reporting
// that it does not take them.
static struct ir_expr *checked(struct parser *p, enum ir_op op, uint32_t n,
                               struct ir_expr **x, struct span span)
{
    struct type types[OPERANDS_MOST] = {{0}}, result;
    const char *wrong;
    for (uint32_t i = 0; i < n; i++)
        types[i] = x[i]->type;
    if (ir_result_type(p->arena, op, n, types, &result, &wrong))
        return ir_at(p->arena, ir_call(p->arena, op, n, x), span);
    diag_error(p->diags, span, D_operand_types, wrong);
    if (ir_op_info(op)->operands[0] == 'f' && type_is_integer(types[0]))
        diag_help(p->diags, "convert it: `f32(...)`");
    help_convert(p, n, types);
    return NULL;
}

// Return whether a literal is 2^63, which only its negative makes an integer.
static bool is_least_int(const struct ir_expr *x)
{
    return x->is_open && x->type.kind == TYPE_u64 && x->u.i == INT64_MIN;
}

// Make index operands, which stand behind the others, values of an index type.
static bool close_indices(struct parser *p, uint32_t n, struct ir_expr **x)
{
    for (uint32_t i = 0; i < n; i++) {
        x[i] = parse_close(p, x[i]);
        if (x[i] && !type_is_index(x[i]->type))
            x[i] = parse_convert(p, x[i], default_int(p), "a number of lanes");
        if (!x[i])
            return false;
    }
    return true;
}

struct ir_expr *parse_operation(struct parser *p, enum ir_op op, uint32_t n,
                                struct ir_expr **x, struct span span)
{
    const struct ir_op_info *info = ir_op_info(op);
    bool is_call = info->form == FORM_CALL, all_open = true;
    if (op == OP_neg && is_least_int(x[0]))
        return opened(ir_at(p->arena, ir_int(p->arena, INT64_MIN), span));
    const char *other = strpbrk(info->operands, "xqw");
    uint32_t alike = other ? (uint32_t)(other - info->operands) : n;
    bool has_index = other && *other == 'x';
    if (!unify(p, alike, x, info->operands[0] == 'f') ||
        (has_index && !close_indices(p, n - alike, x + alike)) ||
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

struct ir_expr *parse_choice(struct parser *p, struct ir_expr **x,
                             struct span span)
{
    if (!unify(p, 2, x + 1, false))
        return NULL;
    bool is_open = x[1]->is_open;
    struct ir_expr *r = checked(p, OP_select, 3, x, span);
    return is_open ? opened(r) : r;
}
