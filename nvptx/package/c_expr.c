// Prints expressions as C.
//
// Extents and indices (`int`, idx32, idx64) are int64_t in C; what may
// overflow calls a function that sets `overflow`.  Other integers wrap: they
// are computed as uint64_t and cut to their type.

#include "nvptx/package/c_expr.h"

#include "ir/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// How tightly an expression must bind: not at all, or more than any infix.
enum { WHOLE = 0, OPERAND = 100 };

// How an operation is written; NULL where it is not of that sort.
struct spelling {
    const char *infix, *wrap, *checked, *extent;
};

static const struct spelling spellings[OP_COUNT] = {
#define C_INFIX(op, text)   [OP_##op].infix = text,
#define C_WRAP(op, text)    [OP_##op].wrap = text,
#define C_CHECKED(op, text) [OP_##op].checked = text,
#define C_EXTENT(op, text)  [OP_##op].extent = text,
#include "nvptx/package/c_ops.def"
};

// Return whether C has numbers of that type.
static bool has_arithmetic(struct type t)
{
    return t.lanes == 1 &&
           (!type_is_float(t) || t.kind == TYPE_f32 || t.kind == TYPE_f64);
}

// Return the C type of a value.
static const char *c_type(struct type t)
{
    return type_is_index(t) ? "int64_t" : type_c_name(t);
}

// Append an integer constant.
static void print_int(struct type t, int64_t value, struct buf *out)
{
    if (t.kind == TYPE_u64)
        buf_printf(out, "UINT64_C(%llu)", (unsigned long long)value);
    else if (value == INT64_MIN)
        buf_text(out, "INT64_MIN");
    else if (value < -INT32_MAX || value > INT32_MAX)
        buf_printf(out, value < 0 ? "(-INT64_C(%llu))" : "INT64_C(%llu)",
                   (unsigned long long)(value < 0 ? -value : value));
    else
        buf_printf(out, value < 0 ? "(%lld)" : "%lld", (long long)value);
}

// Append a floating constant; false if it is not finite.
static bool print_float(struct type t, double value, struct buf *out)
{
    char text[40];
    if (!isfinite(value))
        return false;
    snprintf(text, sizeof text, "%.*g", t.kind == TYPE_f32 ? 9 : 17, value);
    buf_printf(out, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0",
               t.kind == TYPE_f32 ? "f" : "");
    return true;
}

// Append a constant.
static bool print_const(const struct ir_expr *x, struct buf *out)
{
    if (type_is_float(x->type))
        return print_float(x->type, x->u.f, out);
    print_int(x->type, x->u.i, out);
    return true;
}

// Append the name of a parameter.
static bool print_var(const struct c_scope *scope, const struct ir_expr *x,
                      struct buf *out)
{
    for (size_t i = 0; i < scope->kernel->params.n; i++) {
        if (scope->kernel->params.at[i].var == x->u.var) {
            buf_text(out, scope->names[i]);
            return true;
        }
    }
    return false;
}

// Defined below; see there.
static bool print(struct c_scope *scope, const struct ir_expr *x, int least,
                  struct buf *out);

// Append `a op b`, in parentheses if it does not bind as tightly as `least`.
static bool print_infix(struct c_scope *scope, const struct ir_expr *x,
                        const char *spelling, int least, struct buf *out)
{
    int precedence = ir_op_info(x->op)->precedence;
    int left = x->op == OP_or ? OPERAND : precedence;
    int right = x->op == OP_or ? OPERAND : precedence + 1;
    buf_text(out, precedence < least ? "(" : "");
    bool ok = print(scope, x->args[0], left, out);
    buf_printf(out, " %s ", spelling);
    ok = ok && print(scope, x->args[1], right, out);
    buf_text(out, precedence < least ? ")" : "");
    return ok;
}

// Append `(type)((uint64_t)a op (uint64_t)b)`.
static bool print_wrapped(struct c_scope *scope, const struct ir_expr *x,
                          const char *spelling, struct buf *out)
{
    buf_printf(out, "(%s)((uint64_t)", c_type(x->type));
    bool ok = print(scope, x->args[0], OPERAND, out);
    buf_printf(out, " %s (uint64_t)", spelling);
    ok = ok && print(scope, x->args[1], OPERAND, out);
    buf_char(out, ')');
    return ok;
}

// Append a call of one of the functions, cut to the type of the result.
static bool print_call(struct c_scope *scope, const struct ir_expr *x,
                       const char *function, bool is_checked, struct buf *out)
{
    if (x->type.kind == TYPE_u64)
        return false;
    if (!type_is_index(x->type))
        buf_printf(out, "(%s)", c_type(x->type));
    buf_printf(out, "%s(", function);
    bool ok = print(scope, x->args[0], WHOLE, out);
    buf_text(out, ", ");
    ok = ok && print(scope, x->args[1], WHOLE, out);
    buf_text(out, is_checked ? ", &overflow)" : ")");
    scope->has_checks = scope->has_checks || is_checked;
    return ok;
}

// Return the operator of a division that cannot fail, or NULL.
static const char *safe_division(const struct ir_expr *x)
{
    int64_t divisor;
    if ((x->op != OP_div && x->op != OP_mod) ||
        !ir_int_value(x->args[1], &divisor) || divisor <= 0)
        return NULL;
    return x->op == OP_div ? "/" : "%";
}

// Append an operation on integers or conditions.
static bool print_on_ints(struct c_scope *scope, const struct ir_expr *x,
                          int least, struct buf *out)
{
    const struct spelling *s = &spellings[x->op];
    const char *division = safe_division(x);
    bool is_index = type_is_index(x->type);
    if (s->infix || division)
        return print_infix(scope, x, division ? division : s->infix, least,
                           out);
    if (s->wrap && !(is_index && s->checked))
        return print_wrapped(scope, x, s->wrap, out);
    if (s->checked)
        return print_call(scope, x, s->checked, true, out);
    return s->extent && print_call(scope, x, s->extent, false, out);
}

// Append an operation on f32 or f64.
static bool print_on_floats(struct c_scope *scope, const struct ir_expr *x,
                            int least, struct buf *out)
{
    const struct spelling *s = &spellings[x->op];
    bool is_plain = x->op == OP_add || x->op == OP_sub || x->op == OP_mul;
    if (x->op == OP_div)
        return print_infix(scope, x, "/", least, out);
    if (s->infix || is_plain)
        return print_infix(scope, x, s->infix ? s->infix : s->wrap, least, out);
    return false;
}

// Append `function(0, x)` or `-x`, of the same type.
static bool print_negation(struct c_scope *scope, const struct ir_expr *x,
                           struct buf *out)
{
    bool is_float = type_is_float(x->type), is_index = type_is_index(x->type);
    if (is_float)
        buf_text(out, "(-");
    else if (is_index)
        buf_text(out, "ingot_i64_sub(0, ");
    else
        buf_printf(out, "(%s)(0 - (uint64_t)", c_type(x->type));
    bool ok = print(scope, x->args[0], is_index ? WHOLE : OPERAND, out);
    buf_text(out, is_index ? ", &overflow)" : ")");
    scope->has_checks = scope->has_checks || is_index;
    return ok;
}

// Append a conversion; one from floating point to an integer is undefined in
// C for some values.
static bool print_cast(struct c_scope *scope, const struct ir_expr *x,
                       struct buf *out)
{
    struct type from = x->args[0]->type;
    if (type_is_float(from) && !type_is_float(x->type))
        return false;
    if (type_is_index(from) && type_is_index(x->type))
        return print(scope, x->args[0], OPERAND, out);
    buf_printf(out, "(%s)", c_type(x->type));
    return print(scope, x->args[0], OPERAND, out);
}

// Append `(c ? a : b)`.
static bool print_select(struct c_scope *scope, const struct ir_expr *x,
                         struct buf *out)
{
    static const char *const before[] = {"(", " ? ", " : "};
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        buf_text(out, before[i]);
        ok = ok && print(scope, x->args[i], OPERAND, out);
    }
    buf_char(out, ')');
    return ok;
}

// Append a question to the device that is launched on.
static bool print_resident(struct c_scope *scope, const struct ir_expr *x,
                           struct buf *out)
{
    if (scope->knows_sms && ir_is_int_const(x->args[0], 1)) {
        buf_text(out, "ingot_sms");
        return true;
    }
    buf_text(out, "ingot_resident(module, stream, ");
    bool ok = print(scope, x->args[0], WHOLE, out);
    buf_char(out, ')');
    return ok;
}

// Return whether an expression divides by what some legal sizes make 0.
static bool may_divide_by_zero(const struct ir_expr *x)
{
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    int64_t divisor;
    if (divides && x->args[1]->op != OP_resident &&
        (!ir_int_value(x->args[1], &divisor) || divisor <= 0))
        return true;
    for (uint32_t i = 0; i < x->n; i++)
        if (may_divide_by_zero(x->args[i]))
            return true;
    return false;
}

// Return whether an expression is the call of a function on extents that sizes
// in use do not make overflow.
static bool is_value(const struct ir_expr *x)
{
    const struct spelling *s = &spellings[x->op];
    return x->n == 2 && type_is_index(x->type) && !s->infix &&
           (s->checked || s->extent) && !safe_division(x) &&
           !may_divide_by_zero(x);
}

// Append the text of an expression without variables for values.
// Returns false if C cannot compute it.
static bool print_plain(const struct c_scope *scope, const struct ir_expr *x,
                        struct buf *out)
{
    struct c_scope plain = *scope;
    plain.values = NULL;
    return print(&plain, x, WHOLE, out);
}

// Append the variable of a value that has one. Returns whether it has.
static bool print_value(struct c_scope *scope, const struct ir_expr *x,
                        struct buf *out)
{
    struct buf text = {0};
    if (!scope->values || !is_value(x))
        return false;
    int number = print_plain(scope, x, &text)
                     ? c_values_find(scope->values, text.data)
                     : -1;
    buf_free(&text);
    if (number < 0)
        return false;
    buf_printf(out, "ingot_v%d", number);
    scope->uses_values = scope->has_checks = true;
    return true;
}

// Append an expression, in parentheses if it is an operation that does not
// bind as tightly as `least`.
static bool print(struct c_scope *scope, const struct ir_expr *x, int least,
                  struct buf *out)
{
    if (!has_arithmetic(x->type))
        return false;
    if (x->op == OP_const)
        return print_const(x, out);
    if (x->op == OP_var)
        return print_var(scope, x, out);
    if (x->op == OP_cast)
        return print_cast(scope, x, out);
    if (x->op == OP_select)
        return print_select(scope, x, out);
    if (x->op == OP_neg)
        return print_negation(scope, x, out);
    if (x->op == OP_resident)
        return print_resident(scope, x, out);
    if (x->op == OP_not) {
        buf_char(out, '!');
        return print(scope, x->args[0], OPERAND, out);
    }
    if (x->n != 2)
        return false;
    if (print_value(scope, x, out))
        return true;
    return type_is_float(x->args[0]->type)
               ? print_on_floats(scope, x, least, out)
               : print_on_ints(scope, x, least, out);
}

bool c_expr(struct c_scope *scope, const struct ir_expr *x, struct buf *out)
{
    return print(scope, x, WHOLE, out);
}

bool c_expr_value(struct c_scope *scope, const struct ir_expr *x,
                  struct buf *out)
{
    return print_on_ints(scope, x, WHOLE, out);
}

void c_expr_want(struct c_scope *scope, const struct ir_expr *x,
                 struct c_values *values)
{
    struct buf text = {0};
    bool wanted = is_value(x) && print_plain(scope, x, &text);
    bool known = wanted && c_values_again(values, text.data);
    for (uint32_t i = 0; i < x->n && !known; i++)
        c_expr_want(scope, x->args[i], values);
    if (wanted && !known)
        c_values_add(values, scope->kernel, x, text.data);
    buf_free(&text);
}
