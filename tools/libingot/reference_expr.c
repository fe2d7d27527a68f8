// Expressions as C.
//
// Floating numbers of every type are double.  Integers have their C type, and
// wrap by going through uint64_t; those of the index types never overflow.

#include "tools/libingot/reference_print.h"

#include "ir/build.h"

#include <math.h>

const char *reference_stored_type(struct type t)
{
    if (!type_is_float(t) || type_bits(t) >= 32)
        return type_c_name(t);
    return type_bits(t) == 16 ? "uint16_t" : "uint8_t";
}

const char *reference_value_type(struct type t)
{
    if (type_is_float(t))
        return "double";
    return t.kind == TYPE_bool ? "_Bool" : type_c_name(t);
}

// Append an integer constant.
static void int_const(struct buf *out, struct type t, int64_t value)
{
    if (!type_is_signed(t))
        buf_printf(out, "UINT64_C(%llu)", (unsigned long long)value);
    else if (value == INT64_MIN)
        buf_text(out, "INT64_MIN");
    else
        buf_printf(out, "INT64_C(%lld)", (long long)value);
}

// Append a constant.
static void print_const(struct buf *out, const struct ir_expr *x)
{
    if (!type_is_float(x->type)) {
        buf_printf(out, "(%s)", reference_value_type(x->type));
        int_const(out, x->type, x->u.i);
    } else if (isnan(x->u.f)) {
        buf_text(out, "NAN");
    } else if (isinf(x->u.f)) {
        buf_text(out, x->u.f < 0 ? "-INFINITY" : "INFINITY");
    } else {
        buf_printf(out, "%a", x->u.f);
    }
}

// Append the operands of a call.
static void print_args(struct reference *r, uint32_t n,
                       struct ir_expr *const *args)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_text(r->out, i ? ", " : "(");
        reference_expr(r, args[i]);
    }
    buf_char(r->out, ')');
}

// Append `text`, an expression, `end`.
static void print_wrapped(struct reference *r, const char *text,
                          const struct ir_expr *x, const char *end)
{
    buf_text(r->out, text);
    reference_expr(r, x);
    buf_text(r->out, end);
}

// Return whether an operation on integers may leave their range.
static bool wraps(const struct ir_expr *x)
{
    bool grows = x->op == OP_add || x->op == OP_sub || x->op == OP_mul;
    return x->op == OP_shl ||
           (grows && type_is_integer(x->type) && !type_is_index(x->type));
}

// Append an operation of form INFIX.
static void infix(struct reference *r, const struct ir_expr *x)
{
    const char *by_way_of = wraps(x) ? "(uint64_t)" : "";
    if (type_is_integer(x->type))
        buf_printf(r->out, "(%s)", reference_value_type(x->type));
    buf_printf(r->out, "(%s", by_way_of);
    reference_expr(r, x->args[0]);
    buf_printf(r->out, " %s %s", ir_op_info(x->op)->spelling, by_way_of);
    print_wrapped(r, "", x->args[1], ")");
}

// Return whether x is exact in a type: an element of an input that is
// narrower.
static bool is_exact(struct type to, const struct ir_expr *x)
{
    bool is_input = x->op == OP_load && x->u.buffer->role == ROLE_input &&
                    type_is_float(x->type);
    return is_input && type_bits(to) >= 32 &&
           type_bits(x->type) <= type_bits(to);
}

// Append a conversion to a floating type.
static void cast_to_float(struct reference *r, struct type to,
                          const struct ir_expr *x)
{
    if (is_exact(to, x))
        reference_expr(r, x);
    else if (to.kind == TYPE_f64)
        print_wrapped(r, "(double)", x, "");
    else if (to.kind == TYPE_f32)
        print_wrapped(r, "(double)(float)", x, "");
    else {
        buf_printf(r->out, "round_%s(", type_name(to));
        print_wrapped(r, "(double)", x, ")");
    }
}

// Append a conversion.
static void cast(struct reference *r, const struct ir_expr *x)
{
    const struct ir_expr *from = x->args[0];
    bool is_narrow = type_bits(x->type) == 32;
    const char *name =
        type_is_index(x->type) ? is_narrow ? "i32" : "i64" : type_name(x->type);
    if (type_is_float(x->type))
        cast_to_float(r, x->type, from);
    else if (x->type.kind == TYPE_bool)
        print_wrapped(r, "(", from, " != 0)");
    else if (type_is_float(from->type)) {
        buf_printf(r->out, "saturate_%s(", name);
        print_wrapped(r, "", from, ")");
    } else {
        buf_printf(r->out, "(%s)", reference_value_type(x->type));
        reference_expr(r, from);
    }
}

// Append an operation of form PREFIX.
static void prefix(struct reference *r, const struct ir_expr *x)
{
    const char *type = reference_value_type(x->type);
    if (x->op == OP_neg && type_is_integer(x->type))
        buf_printf(r->out, "(%s)(0 - (uint64_t)", type);
    else
        buf_printf(r->out, "(%s)(%s", type, ir_op_info(x->op)->spelling);
    print_wrapped(r, "", x->args[0], ")");
}

// Append an operation of form CALL that does not access memory.
static void call(struct reference *r, const struct ir_expr *x)
{
    struct type t = x->args[0]->type;
    const char *name = ir_op_info(x->op)->name;
    bool needs_f = x->op == OP_min || x->op == OP_max || x->op == OP_abs;
    if (!type_is_float(t))
        buf_printf(r->out, "%s_%s", name, type_c_name(t));
    else if (needs_f)
        buf_text(r->out, x->op == OP_abs   ? "fabs"
                         : x->op == OP_min ? "fmin"
                                           : "fmax");
    else
        buf_text(r->out, name);
    print_args(r, x->n, x->args);
}

// Append an atomic.
static void atomic(struct reference *r, const struct ir_expr *x)
{
    uint32_t n = ir_index_count(x);
    const struct cell *cell = reference_cell(r, x->u.buffer);
    buf_printf(r->out, "%s_%s(&", ir_op_info(x->op)->name,
               reference_cell_type(x->u.buffer, cell));
    reference_element(r, x->u.buffer, n, x->args);
    for (uint32_t i = n; i < x->n; i++)
        print_wrapped(r, ", ", x->args[i], "");
    buf_char(r->out, ')');
}

// Append the element of a load as a value.
static void load(struct reference *r, const struct ir_expr *x)
{
    const struct ir_buffer *b = x->u.buffer;
    if (type_is_float(b->elem))
        buf_text(r->out, "(double)");
    reference_element(r, b, x->n, x->args);
    if (b->elem.kind == TYPE_bool)
        buf_text(r->out, " != 0");
}

// Append an operation with a syntax of its own.
static void own(struct reference *r, const struct ir_expr *x)
{
    if (x->op == OP_cast)
        cast(r, x);
    else if (x->op == OP_load)
        load(r, x);
    else {
        print_wrapped(r, "", x->args[0], " ? ");
        print_wrapped(r, "", x->args[1], " : ");
        reference_expr(r, x->args[2]);
    }
}

void reference_expr(struct reference *r, const struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    if (x->op == OP_var) {
        buf_text(r->out, reference_name(r, x->u.var, x->u.var->name));
        return;
    }
    buf_char(r->out, '(');
    switch (info->form) {
    case FORM_LEAF: print_const(r->out, x); break;
    case FORM_PREFIX: prefix(r, x); break;
    case FORM_INFIX: infix(r, x); break;
    case FORM_CALL:
        if (info->flags & OP_WRITES)
            atomic(r, x);
        else
            call(r, x);
        break;
    case FORM_OWN: own(r, x); break;
    }
    buf_char(r->out, ')');
}

void reference_element(struct reference *r, const struct ir_buffer *b,
                       uint32_t n, struct ir_expr *const *index)
{
    buf_printf(r->out, "%s[", reference_cell(r, b)->name);
    if (!n)
        buf_char(r->out, '0');
    for (uint32_t i = 0; i < n && !b->strides; i++)
        buf_char(r->out, '(');
    for (uint32_t i = 0; i < n; i++) {
        print_wrapped(r, i ? " + (int64_t)" : "(int64_t)", index[i], "");
        if (b->strides)
            print_wrapped(r, " * ", b->strides[i], "");
        else
            buf_char(r->out, ')');
        if (!b->strides && i + 1 < n)
            print_wrapped(r, " * ", b->shape[i + 1], "");
    }
    buf_char(r->out, ']');
}
