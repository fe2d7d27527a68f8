// Calls: functions, conversions, vectors and atomics.

#include "ir/text/parse_expr.h"

#include "ir/base/suggest.h"
#include "ir/build.h"
#include "ir/type.h"

#include <string.h>

// Parse operands up to `)`, or up to a scope behind operand number `before`,
// unless `scope` is NULL; NULL operands were reported.
static bool parse_operands(struct parser *p, struct ir_expr **x, uint32_t *n,
                           uint32_t before, enum ir_scope *scope)
{
    *n = 0;
    while (!parse_is(p, ")")) {
        if (scope && *n == before &&
            scope_named(parse_peek(p, 0)->text, scope)) {
            p->at++;
            break;
        }
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
               wanted == 1 ? "operand" : "operands", (long long)n);
    return NULL;
}

// Check an atomic on elements of an array, and give its operands their type.
static bool atomic_fits(struct parser *p, enum ir_op op,
                        const struct ir_buffer *buffer, uint32_t n,
                        struct ir_expr **x, struct span span)
{
    struct type types[OPERANDS_MOST + 1] = {buffer->elem}, result;
    const char *wrong;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = parse_convert(p, x[i], buffer->elem, "the operand");
        if (!x[i])
            return false;
        types[i + 1] = x[i]->type;
    }
    if (!ir_result_type(p->arena, op, n + 1, types, &result, &wrong)) {
        diag_error(p->diags, span, D_operand_types, wrong);
        return false;
    }
    if (space_is_own(buffer->space)) {
        diag_error(p->diags, span, D_atomic_on_local, buffer->name);
        return false;
    }
    return parse_check_writable(p, buffer, span);
}

struct ir_expr *parse_atomic_on(struct parser *p, enum ir_op op,
                                struct ir_buffer *buffer, uint32_t n_index,
                                struct ir_expr *const *index, uint32_t n,
                                struct ir_expr **x, struct span span)
{
    if (!atomic_fits(p, op, buffer, n, x, span))
        return NULL;
    return ir_at(p->arena,
                 ir_atomic(p->arena, op, buffer, n_index, index, n, x), span);
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
    enum ir_scope scope = SCOPE_usual;
    uint32_t wanted = (uint32_t)strlen(info->operands) - 1;
    if (parse_take(p, ",") ? !parse_operands(p, x, &n, wanted, &scope)
                           : !parse_expect(p, ")", "behind the operands"))
        return NULL;
    if (n != wanted)
        return wrong_count(p, parse_span(p, first), info->spelling,
                           strlen(info->operands), n + 1);
    struct ir_expr *atomic = parse_atomic_on(p, op, buffer, n_index, index, n,
                                             x, parse_span(p, first));
    return atomic ? ir_at(p->arena, ir_scoped(atomic, scope), atomic->span)
                  : NULL;
}

// Return the value of a constant operand that says how many or which lane.
static bool lane_number(struct parser *p, const struct ir_expr *x,
                        int64_t least, int64_t most, unsigned *out)
{
    int64_t value;
    if (ir_int_value(x, &value) && value >= least && value <= most) {
        *out = (unsigned)value;
        return true;
    }
    diag_error(p->diags, x->span, D_lane_number, (long long)least,
               (long long)most);
    return false;
}

// Report an operand of a vector operation.
static struct ir_expr *wrong_operand(struct parser *p, enum ir_op op,
                                     const char *needs, const struct ir_expr *x)
{
    diag_error(p->diags, x->span, D_operand_types,
               arena_printf(p->arena, "`%s` needs %s, not %s",
                            ir_op_info(op)->spelling, needs,
                            ir_type_text(p->arena, x->type)));
    return NULL;
}

// Return ramp(x, k), broadcast(x, k) or lane(x, k).
static struct ir_expr *vector_operation(struct parser *p, enum ir_op op,
                                        struct ir_expr *x, struct ir_expr *k)
{
    unsigned number;
    bool is_lane = op == OP_lane;
    if (is_lane != (x->type.lanes > 1))
        return wrong_operand(p, op, is_lane ? "a vector" : "a scalar", x);
    if (op == OP_ramp && !type_is_integer(x->type))
        return wrong_operand(p, op, "an integer", x);
    if (!lane_number(p, k, is_lane ? 0 : 2,
                     is_lane ? x->type.lanes - 1 : OPERANDS_MOST, &number))
        return NULL;
    return is_lane         ? ir_lane(p->arena, x, number)
           : op == OP_ramp ? ir_ramp(p->arena, x, number)
                           : ir_broadcast(p->arena, x, number);
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
    struct suggest s = {.wanted = t->text};
    for (int i = 0; i < OP_COUNT; i++) {
        if (ir_op_info((enum ir_op)i)->form == FORM_CALL)
            suggest_offer(&s, ir_op_info((enum ir_op)i)->spelling);
    }
    for (int i = 0; i < TYPE_COUNT; i++)
        suggest_offer(&s, type_name(type_scalar((enum type_kind)i)));
    diag_error(p->diags, t->span, D_unknown_function, t->text);
    suggest_help(p->diags, &s);
    return NULL;
}

// Return a conversion of an operand; a literal becomes one of the type at once.
static struct ir_expr *conversion(struct parser *p, struct type type,
                                  struct ir_expr *x)
{
    if (x->is_open && x->op == OP_const && type.kind != TYPE_bool &&
        type_is_float(type) >= type_is_float(x->type))
        return parse_close_as(p, x, type);
    x = parse_close(p, x);
    return x ? ir_cast(p->arena, type_vector(type, x->type.lanes), x) : NULL;
}

// Return the function or the vector operation `op` of parsed operands.
static struct ir_expr *call(struct parser *p, enum ir_op op, uint32_t n,
                            struct ir_expr **x, struct span span)
{
    const struct ir_op_info *info = ir_op_info(op);
    bool is_vector = info->form == FORM_OWN;
    size_t wanted = is_vector ? 2 : strlen(info->operands);
    if (op != OP_lanes && n != wanted)
        return wrong_count(p, span, info->spelling, wanted, n);
    if (!is_vector)
        return parse_operation(p, op, n, x, span);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = parse_close(p, x[i]);
        if (!x[i])
            return NULL;
    }
    return vector_operation(p, op, x[0], x[1]);
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
    if (!is_call && !parse_find_type(p, name, &type))
        return unknown_function(p);
    p->at += 2;
    if (is_call && ir_op_info(op)->operands[0] == 'a')
        return parse_atomic(p, op, first);
    if (!parse_operands(p, x, &n, OPERANDS_MOST, NULL))
        return NULL;
    struct span span = parse_span(p, first);
    if (is_call)
        r = call(p, op, n, x, span);
    else
        r = n == 1 ? conversion(p, type, x[0])
                   : wrong_count(p, span, name, 1, n);
    return r ? ir_at(p->arena, r, span) : NULL;
}
