// Expressions as text, with as few brackets and conversions as read back.

#include "ir/text/print.h"

#include "ir/build.h"
#include "ir/text.h"
#include "ir/type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Append a floating number with the fewest digits that read back as it.
static void print_float(struct buf *out, struct type type, double value)
{
    char text[40];
    if (!isfinite(value)) {
        buf_text(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (ir_round_float(type, strtod(text, NULL)) == value)
            break;
    }
    buf_text(out, text);
    if (!strpbrk(text, ".e"))
        buf_text(out, ".0");
}

// Append the value of a constant.
static void print_value(struct buf *out, const struct ir_expr *x)
{
    if (x->type.kind == TYPE_bool)
        buf_text(out, x->u.i ? "true" : "false");
    else if (type_is_float(x->type))
        print_float(out, x->type, x->u.f);
    else if (!type_is_signed(x->type))
        buf_printf(out, "%llu", (unsigned long long)x->u.i);
    else
        buf_printf(out, "%lld", (long long)x->u.i);
}

// Append a constant with a conversion to its type.
static void print_converted(struct buf *out, const struct ir_expr *x)
{
    buf_printf(out, "%s(", type_name(x->type));
    print_value(out, x);
    buf_char(out, ')');
}

// Append a constant, with a conversion unless its type is what an open
// literal gets here.
static void print_const(struct printer *p, const struct ir_expr *x,
                        bool is_decided)
{
    enum type_kind usual = p->level == LEVEL_flat ? TYPE_idx64 : TYPE_int;
    if (is_decided || x->type.kind == usual || x->type.kind == TYPE_f32 ||
        x->type.kind == TYPE_bool)
        print_value(p->out, x);
    else
        print_converted(p->out, x);
}

// Return whether an operand decides the type of a literal beside it: all but
// literals and choices between them do.
static bool decides(const struct ir_expr *x)
{
    if (x->op == OP_select)
        return decides(x->args[1]) || decides(x->args[2]);
    return x->op != OP_const;
}

void print_list(struct printer *p, struct ir_expr *const *x, uint32_t n,
                bool are_decided)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_text(p->out, i ? ", " : "");
        print_expr(p, x[i], 0, are_decided);
    }
}

// Append `a op b`.
static void print_infix(struct printer *p, const struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    print_expr(p, x->args[0], info->precedence, decides(x->args[1]));
    buf_printf(p->out, " %s ", info->spelling);
    print_expr(p, x->args[1], info->precedence + 1, decides(x->args[0]));
}

// Append `c ? a : b`.
static void print_select(struct printer *p, const struct ir_expr *x,
                         bool is_decided)
{
    print_expr(p, x->args[0], 2, false);
    buf_text(p->out, " ? ");
    print_expr(p, x->args[1], 0, is_decided || decides(x->args[2]));
    buf_text(p->out, " : ");
    print_expr(p, x->args[2], 1, is_decided || decides(x->args[1]));
}

// Append `name(a, b)`.
static void print_call(struct printer *p, const struct ir_expr *x)
{
    bool any = false;
    const char *letters = ir_op_info(x->op)->operands;
    for (uint32_t i = 0; i < x->n && x->op != OP_lanes; i++)
        any |= ir_letter_decides(letters[i]) && decides(x->args[i]);
    buf_printf(p->out, "%s(", ir_op_info(x->op)->spelling);
    for (uint32_t i = 0; i < x->n; i++) {
        bool is_alike = x->op == OP_lanes || ir_letter_decides(letters[i]);
        buf_text(p->out, i ? ", " : "");
        print_expr(p, x->args[i], 0, any && is_alike);
    }
    buf_char(p->out, ')');
}

// Append an element of an array.
static void print_element(struct printer *p, const struct ir_expr *x,
                          uint32_t n_index)
{
    const struct ir_buffer *b = x->u.buffer;
    buf_printf(p->out, "%s[", print_name(p, b, b->name));
    print_list(p, x->args, n_index, false);
    buf_char(p->out, ']');
}

// Append `atomic_add(b[i], x, scope)`.
static void print_atomic(struct printer *p, const struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    uint32_t n_index = x->n - (uint32_t)(strlen(info->operands) - 1);
    buf_printf(p->out, "%s(", info->spelling);
    print_element(p, x, n_index);
    for (uint32_t i = n_index; i < x->n; i++) {
        buf_text(p->out, ", ");
        print_expr(p, x->args[i], 0, true);
    }
    if (x->scope != SCOPE_usual)
        buf_printf(p->out, ", %s", scope_name((enum ir_scope)x->scope));
    buf_char(p->out, ')');
}

// Append `name(x, n)` of ramp, broadcast and lane.
static void print_counted(struct printer *p, const struct ir_expr *x)
{
    unsigned n = x->op == OP_lane ? x->u.lane : x->type.lanes;
    buf_printf(p->out, "%s(", ir_op_info(x->op)->spelling);
    print_expr(p, x->args[0], 0, false);
    buf_printf(p->out, ", %u)", n);
}

// Append a conversion.  That of a constant was not computed, as that of an
// infinity, and a literal would be one of the new type: it names its own.
static void print_cast(struct printer *p, const struct ir_expr *x)
{
    const struct ir_expr *of = x->args[0];
    buf_printf(p->out, "%s(", type_name(x->type));
    if (of->op == OP_const && of->type.kind != TYPE_bool)
        print_converted(p->out, of);
    else
        print_expr(p, of, 0, false);
    buf_char(p->out, ')');
}

// Append an operation with a syntax of its own.
static void print_own(struct printer *p, const struct ir_expr *x,
                      bool is_decided)
{
    if (x->op == OP_load || x->op == OP_place) {
        print_element(p, x, x->n);
    } else if (x->op == OP_cast) {
        print_cast(p, x);
    } else if (x->op == OP_select) {
        print_select(p, x, is_decided);
    } else {
        print_counted(p, x);
    }
}

// Append a leaf.
static void print_leaf(struct printer *p, const struct ir_expr *x,
                       bool is_decided)
{
    if (x->op == OP_const)
        print_const(p, x, is_decided);
    else if (x->op == OP_var)
        buf_text(p->out, print_name(p, x->u.var, x->u.var->name));
    else
        buf_text(p->out, axis_name(x->u.axis));
}

void print_expr(struct printer *p, const struct ir_expr *x, int precedence,
                bool is_decided)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    bool brackets = info->precedence && info->precedence < precedence;
    buf_text(p->out, brackets ? "(" : "");
    switch (info->form) {
    case FORM_LEAF: print_leaf(p, x, is_decided); break;
    case FORM_PREFIX:
        buf_text(p->out, info->spelling);
        print_expr(p, x->args[0], info->precedence, false);
        break;
    case FORM_INFIX: print_infix(p, x); break;
    case FORM_CALL:
        if (info->operands[0] == 'a')
            print_atomic(p, x);
        else
            print_call(p, x);
        break;
    case FORM_OWN: print_own(p, x, is_decided); break;
    }
    buf_text(p->out, brackets ? ")" : "");
}

void print_shape(struct printer *p, const struct ir_buffer *b)
{
    buf_printf(p->out, ": %s[", type_name(b->elem));
    print_list(p, b->shape, b->rank, true);
    buf_char(p->out, ']');
}

void ir_print_expr(struct buf *out, const struct ir_expr *x)
{
    struct printer p;
    print_start(&p, out, false);
    print_expr(&p, x, 0, false);
    arena_reset(&p.arena);
}
