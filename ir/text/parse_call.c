// Calls: functions, conversions, vectors and atomics.

#include "ir/text/parse_expr.h"

#include "ir/base/suggest.h"
#include "ir/build.h"

#include <string.h>

// Parse operands up to `)`; NULL operands were reported.
static bool parse_operands(struct parser *p, struct ir_expr **x, uint32_t *n)
{
    *n = 0;
    while (!parse_is(p, ")")) {
        if (*n == OPERANDS_MOST) {
            diag_error(p->diags, parse_peek(p, 0)->span, D_too_many_operands,
                       (long long)OPERANDS_MOST);
            return false;
        }
        x[*n] = parse_expr(p);
        if (!x[(*n)++])
            return false;
        if (!parse_take(p, ","))
            break;
    }
    return parse_expect(p, ")", "behind the operands");
}

// Report a wrong number of operands.
static struct ir_expr *wrong_count(struct parser *p, struct span span,
                                   const char *name, size_t wanted, uint32_t n)
{
    diag_error(p->diags, span, D_operand_count, name, (long long)wanted,
               (long long)n);
    return NULL;
}

// Parse the rest of an atomic behind its `(`.
static struct ir_expr *parse_atomic(struct parser *p, enum ir_op op,
                                    size_t first)
{
    const struct ir_op_info *info = ir_op_info(op);
    size_t element = p->at;
    struct ir_expr **index, *x[OPERANDS_MOST];
    uint32_t n_index, n = 0;
    struct ir_buffer *buffer = parse_buffer_name(p);
    if (!buffer || !parse_element(p, buffer, element, &index, &n_index))
        return NULL;
    if (parse_take(p, ",") ? !parse_operands(p, x, &n)
                           : !parse_expect(p, ")", "behind the operands"))
        return NULL;
    if (n + 1 != strlen(info->operands))
        return wrong_count(p, parse_span(p, first), info->spelling,
                           strlen(info->operands), n + 1);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = parse_convert(p, x[i], buffer->elem, "the operand");
        if (!x[i])
            return NULL;
    }
    return ir_at(p->arena,
                 ir_atomic(p->arena, op, buffer, n_index, index, n, x),
                 parse_span(p, first));
}

// Return the value of a constant operand that says how many or which lane.
static bool lane_number(struct parser *p, const struct ir_expr *x, int64_t most,
                        unsigned *out)
{
    int64_t value;
    if (ir_int_value(x, &value) && value >= 0 && value <= most) {
        *out = (unsigned)value;
        return true;
    }
    diag_error(p->diags, x->span, D_lane_number, (long long)most);
    return false;
}

// Return ramp, broadcast, lanes or lane of parsed operands.
static struct ir_expr *vector_operation(struct parser *p, enum ir_op op,
                                        uint32_t n, struct ir_expr **x,
                                        struct span span)
{
    unsigned k = 0;
    if (op != OP_lanes && n != 2)
        return wrong_count(p, span, ir_op_info(op)->spelling, 2, n);
    for (uint32_t i = 0; i < n; i++)
        x[i] = parse_close(p, x[i]);
    int64_t most = op == OP_lane ? x[0]->type.lanes - 1 : OPERANDS_MOST;
    if (op != OP_lanes && !lane_number(p, x[1], most, &k))
        return NULL;
    if (op == OP_ramp)
        return ir_ramp(p->arena, x[0], k);
    if (op == OP_broadcast)
        return ir_broadcast(p->arena, x[0], k);
    return op == OP_lane ? ir_lane(p->arena, x[0], k)
                         : ir_lanes(p->arena, n, x);
}

// Find the operation that is called by a name.
static bool find_call(const char *name, enum ir_op *op)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const struct ir_op_info *info = ir_op_info((enum ir_op)i);
        bool is_vector = i == OP_ramp || i == OP_broadcast || i == OP_lane;
        if ((info->form == FORM_CALL || is_vector) &&
            strcmp(info->spelling, name) == 0) {
            *op = (enum ir_op)i;
            return true;
        }
    }
    return false;
}

// Report a name that is called and means nothing.
static struct ir_expr *unknown_function(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    char text[256];
    struct suggest s = {.wanted = t->text};
    for (int i = 0; i < OP_COUNT; i++) {
        if (ir_op_info((enum ir_op)i)->form == FORM_CALL)
            suggest_offer(&s, ir_op_info((enum ir_op)i)->spelling);
    }
    for (int i = 0; i < TYPE_COUNT; i++)
        suggest_offer(&s, type_name(type_scalar((enum type_kind)i)));
    diag_error(p->diags, t->span, D_unknown_function, t->text);
    suggest_text(&s, text, sizeof text);
    if (suggest_any(&s))
        diag_help(p->diags, "did you mean %s?", text);
    return NULL;
}

// Return a conversion of a parsed operand.
static struct ir_expr *conversion(struct parser *p, struct type type,
                                  uint32_t n, struct ir_expr **x,
                                  struct span span)
{
    if (n != 1)
        return wrong_count(p, span, type_name(type), 1, n);
    if (x[0]->is_open && type.kind != TYPE_bool &&
        type_is_float(type) >= type_is_float(x[0]->type))
        return parse_close_as(p, x[0], type);
    struct ir_expr *from = parse_close(p, x[0]);
    return from ? ir_cast(p->arena, type_vector(type, from->type.lanes), from)
                : NULL;
}

struct ir_expr *parse_call(struct parser *p)
{
    size_t first = p->at;
    const char *name = parse_peek(p, 0)->text;
    enum ir_op op = OP_const;
    struct type type;
    struct ir_expr *x[OPERANDS_MOST], *r;
    uint32_t n;
    if (p->unknown_call && p->unknown_call(p))
        return NULL;
    bool is_call = find_call(name, &op);
    bool is_type = !is_call && type_find(name, &type);
    if (!is_call && !is_type)
        return unknown_function(p);
    p->at += 2;
    if (is_call && ir_op_info(op)->operands[0] == 'a')
        return parse_atomic(p, op, first);
    if (!parse_operands(p, x, &n))
        return NULL;
    struct span span = parse_span(p, first);
    if (is_type)
        r = conversion(p, type, n, x, span);
    else if (op >= OP_ramp)
        r = vector_operation(p, op, n, x, span);
    else if (n != strlen(ir_op_info(op)->operands))
        return wrong_count(p, span, name, strlen(ir_op_info(op)->operands), n);
    else
        r = parse_operation(p, op, n, x, span);
    return r ? ir_at(p->arena, r, span) : NULL;
}
