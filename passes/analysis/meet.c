// Whether two threads of a block may touch the same element (isl).

#include "passes/analysis/meet.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

enum { OPERATIONS_MOST = 200 * 1000, SIDES = 2, BOTH = SIDES };

// An expression that is a parameter of the sets.
struct symbol {
    const struct ir_expr *expr;
    int side; // 0, 1, or BOTH for what has one value
    isl_id *id;
};

// The questions about one launch.
struct meet {
    struct arena *arena;
    const struct ir_launch *launch;
    isl_ctx *ctx;
    isl_space *space; // of every set: no dimensions but parameters
    struct VEC(struct symbol) symbols;
    const struct meet_place *place;    // of the question
    const struct meet_scope *scope[2]; // of its accesses
};

struct meet *meet_start(struct arena *a, const struct ir_launch *launch)
{
    struct meet *m = arena_new(a, struct meet);
    m->arena = a;
    m->launch = launch;
    m->ctx = isl_ctx_alloc();
    isl_options_set_on_error(m->ctx, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(m->ctx, OPERATIONS_MOST);
    m->space = isl_space_set_alloc(m->ctx, 0, 0);
    return m;
}

void meet_end(struct meet *m)
{
    for (size_t i = 0; i < m->symbols.n; i++)
        isl_id_free(m->symbols.at[i].id);
    isl_space_free(m->space);
    isl_ctx_free(m->ctx);
}

// Return whether a scope is `inner` or around it.
static bool is_around(const struct meet_scope *scope,
                      const struct meet_scope *inner)
{
    while (inner && inner != scope)
        inner = inner->up;
    return inner == scope;
}

// Return the scope of a variable above `inner`, or NULL.
static const struct meet_scope *scope_of(const struct meet_scope *inner,
                                         const struct ir_var *var)
{
    while (inner && inner->var != var)
        inner = inner->up;
    return inner;
}

// What is asked about an expression of one side.
struct question {
    const struct meet *m;
    int side;
    bool no;
};

// Note what has different values on the two sides.
static void see_own(struct ir_expr *x, void *context)
{
    struct question *q = context;
    const struct meet_place *p = q->m->place;
    if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
        q->no = true;
    if (x->op == OP_index && axis_kind(x->u.axis) == AXIS_THREAD)
        q->no = true;
    if (x->op != OP_var || x->u.var->kind == VAR_param)
        return;
    const struct meet_scope *s = scope_of(q->m->scope[q->side], x->u.var);
    q->no |= !s || !s->is_common || s == p->back || !is_around(s, p->common);
}

// Return BOTH if an expression has the same value on both sides.
static int side_of(const struct meet *m, struct ir_expr *x, int side)
{
    struct question q = {m, side, false};
    ir_each_expr(x, see_own, &q);
    return q.no ? side : BOTH;
}

// Return the symbol of an expression on a side.
static const struct symbol *symbol_of(struct meet *m, struct ir_expr *x,
                                      int side)
{
    side = side_of(m, x, side);
    for (size_t i = 0; i < m->symbols.n; i++) {
        const struct symbol *s = &m->symbols.at[i];
        if (s->side == side && ir_expr_equal(s->expr, x))
            return s;
    }
    const char *name = arena_printf(m->arena, "s%zu", m->symbols.n);
    struct symbol s = {x, side, isl_id_alloc(m->ctx, name, NULL)};
    vec_push(m->arena, &m->symbols, s);
    return &m->symbols.at[m->symbols.n - 1];
}

// Return the function whose value is a symbol.
static isl_pw_aff *symbol_value(struct meet *m, struct ir_expr *x, int side)
{
    const struct symbol *s = symbol_of(m, x, side);
    isl_space *space =
        isl_space_add_param_id(isl_space_copy(m->space), isl_id_copy(s->id));
    return isl_pw_aff_from_aff(
        isl_aff_param_on_domain_space_id(space, isl_id_copy(s->id)));
}

// Return the function whose value is a number.
static isl_pw_aff *number(struct meet *m, int64_t value)
{
    return isl_pw_aff_from_aff(isl_aff_val_on_domain_space(
        isl_space_copy(m->space), isl_val_int_from_si(m->ctx, value)));
}

// Return whether an expression is never negative.
static bool is_natural(const struct meet *m, const struct ir_expr *x, int side)
{
    int64_t value;
    if (ir_int_value(x, &value))
        return value >= 0;
    if (x->op == OP_index)
        return true;
    if (x->op == OP_var && x->u.var->kind == VAR_param)
        return type_is_index(x->type);
    if (x->op == OP_var) {
        const struct meet_scope *s = scope_of(m->scope[side], x->u.var);
        return s && s->from && is_natural(m, s->from, side);
    }
    bool keeps = x->op == OP_add || x->op == OP_mul || x->op == OP_div ||
                 x->op == OP_mod || x->op == OP_min || x->op == OP_max ||
                 x->op == OP_ceildiv;
    return keeps && is_natural(m, x->args[0], side) &&
           is_natural(m, x->args[1], side);
}

static isl_pw_aff *value_of(struct meet *m, struct ir_expr *x, int side);

// Return x / c, x % c or ceildiv(x, c) for a number c > 0.
static isl_pw_aff *quotient_value(struct meet *m, struct ir_expr *x, int side)
{
    int64_t by;
    bool natural = is_natural(m, x->args[0], side);
    if (!ir_int_value(x->args[1], &by) || by <= 0)
        return symbol_value(m, x, side);
    isl_pw_aff *value = value_of(m, x->args[0], side);
    isl_val *v = isl_val_int_from_si(m->ctx, by);
    if (x->op == OP_mod && natural)
        return isl_pw_aff_mod_val(value, v);
    if (x->op == OP_div && natural)
        return isl_pw_aff_floor(isl_pw_aff_scale_down_val(value, v));
    if (x->op == OP_ceildiv)
        return isl_pw_aff_ceil(isl_pw_aff_scale_down_val(value, v));
    isl_val_free(v);
    return x->op == OP_div ? isl_pw_aff_tdiv_q(value, number(m, by))
                           : isl_pw_aff_tdiv_r(value, number(m, by));
}

// Return the function of a product.
static isl_pw_aff *product_value(struct meet *m, struct ir_expr *x, int side)
{
    int64_t by;
    int factor = ir_int_value(x->args[0], &by) ? 0 : 1;
    if (!ir_int_value(x->args[factor], &by))
        return symbol_value(m, x, side);
    return isl_pw_aff_scale_val(value_of(m, x->args[1 - factor], side),
                                isl_val_int_from_si(m->ctx, by));
}

// Return the function of an expression of a side; what is not affine is a
// symbol.
static isl_pw_aff *value_of(struct meet *m, struct ir_expr *x, int side)
{
    int64_t n;
    if (ir_int_value(x, &n))
        return number(m, n);
    if (!type_is_index(x->type))
        return symbol_value(m, x, side);
    switch ((int)x->op) {
    case OP_add:
        return isl_pw_aff_add(value_of(m, x->args[0], side),
                              value_of(m, x->args[1], side));
    case OP_sub:
        return isl_pw_aff_sub(value_of(m, x->args[0], side),
                              value_of(m, x->args[1], side));
    case OP_min:
        return isl_pw_aff_min(value_of(m, x->args[0], side),
                              value_of(m, x->args[1], side));
    case OP_max:
        return isl_pw_aff_max(value_of(m, x->args[0], side),
                              value_of(m, x->args[1], side));
    case OP_neg: return isl_pw_aff_neg(value_of(m, x->args[0], side));
    case OP_mul: return product_value(m, x, side);
    case OP_div:
    case OP_mod:
    case OP_ceildiv: return quotient_value(m, x, side);
    default: return symbol_value(m, x, side);
    }
}

// Return the set where a comparison of two functions holds.
static isl_set *comparison_set(enum ir_op op, isl_pw_aff *x, isl_pw_aff *y)
{
    switch ((int)op) {
    case OP_lt: return isl_pw_aff_lt_set(x, y);
    case OP_le: return isl_pw_aff_le_set(x, y);
    case OP_gt: return isl_pw_aff_gt_set(x, y);
    case OP_ge: return isl_pw_aff_ge_set(x, y);
    case OP_eq: return isl_pw_aff_eq_set(x, y);
    default: return isl_pw_aff_ne_set(x, y);
    }
}

// Return a set that holds all values for which a condition is `holds`.
static isl_set *condition_set(struct meet *m, struct ir_expr *c, bool holds,
                              int side)
{
    isl_space *space = isl_space_copy(m->space);
    bool compares = c->op == OP_lt || c->op == OP_le || c->op == OP_gt ||
                    c->op == OP_ge || c->op == OP_eq || c->op == OP_ne;
    if (c->op == OP_const && (c->u.i != 0) != holds)
        return isl_set_empty(space);
    isl_set *all = isl_set_universe(space);
    if (c->op == OP_not)
        return isl_set_intersect(all,
                                 condition_set(m, c->args[0], !holds, side));
    if (c->op == OP_and || c->op == OP_or) {
        isl_set *x = condition_set(m, c->args[0], holds, side);
        isl_set *y = condition_set(m, c->args[1], holds, side);
        bool both = (c->op == OP_and) == holds;
        return isl_set_intersect(all, both ? isl_set_intersect(x, y)
                                           : isl_set_union(x, y));
    }
    if (!compares || !type_is_index(c->args[0]->type))
        return all;
    isl_set *r = comparison_set(c->op, value_of(m, c->args[0], side),
                                value_of(m, c->args[1], side));
    if (!holds)
        r = isl_set_complement(r);
    return isl_set_intersect(all, r);
}

// Return the values of a loop variable.
static isl_set *loop_set(struct meet *m, const struct meet_scope *s, int side)
{
    struct ir_expr *var = ir_read(m->arena, (struct ir_var *)s->var);
    isl_pw_aff *from = value_of(m, s->from, side);
    isl_pw_aff *v = symbol_value(m, var, side);
    isl_set *set = isl_pw_aff_le_set(isl_pw_aff_copy(from), isl_pw_aff_copy(v));
    set = isl_set_intersect(
        set, isl_pw_aff_lt_set(isl_pw_aff_copy(v), value_of(m, s->to, side)));
    isl_val *step = isl_val_int_from_si(m->ctx, s->step);
    isl_pw_aff *rest = isl_pw_aff_mod_val(isl_pw_aff_sub(v, from), step);
    return isl_set_intersect(set, isl_pw_aff_zero_set(rest));
}

// Return the part of a set in which a side is where its access stands.
static isl_set *enter(struct meet *m, isl_set *set, int side)
{
    for (const struct meet_scope *s = m->scope[side]; s; s = s->up) {
        if (s->from)
            set = isl_set_intersect(set, loop_set(m, s, side));
        if (s->condition)
            set = isl_set_intersect(
                set, condition_set(m, s->condition, s->holds, side));
    }
    for (int d = 0; d < 3; d++) {
        struct ir_expr *x =
            ir_index_value(m->arena, (enum axis)(AXIS_thread_x + d));
        isl_pw_aff *v = symbol_value(m, x, side);
        isl_pw_aff *end = number(m, m->launch->block[d]);
        set = isl_set_intersect(set, isl_pw_aff_nonneg_set(isl_pw_aff_copy(v)));
        set = isl_set_intersect(set, isl_pw_aff_lt_set(v, end));
    }
    return set;
}

// Return the values of an index of an access, as a set of its own symbol
// `element`: several for a vector.
static isl_set *index_set(struct meet *m, struct ir_expr *x, int side,
                          struct ir_expr *element)
{
    isl_pw_aff *e = symbol_value(m, element, BOTH);
    unsigned lanes = x->type.lanes;
    if (lanes == 1)
        return isl_pw_aff_eq_set(e, value_of(m, x, side));
    isl_pw_aff_free(e);
    isl_set *all = isl_set_universe(isl_space_copy(m->space));
    if (x->op != OP_ramp)
        return all;
    isl_pw_aff *first = value_of(m, x->args[0], side);
    isl_pw_aff *end = isl_pw_aff_add(isl_pw_aff_copy(first), number(m, lanes));
    e = symbol_value(m, element, BOTH);
    all = isl_set_intersect(all, isl_pw_aff_le_set(first, isl_pw_aff_copy(e)));
    return isl_set_intersect(all, isl_pw_aff_lt_set(e, end));
}

// Return the values with which the two threads are different ones.
static isl_set *different(struct meet *m)
{
    isl_set *set = isl_set_empty(isl_space_copy(m->space));
    for (int d = 0; d < 3; d++) {
        struct ir_expr *x =
            ir_index_value(m->arena, (enum axis)(AXIS_thread_x + d));
        if (m->launch->block[d] > 1)
            set = isl_set_union(set, isl_pw_aff_ne_set(symbol_value(m, x, 0),
                                                       symbol_value(m, x, 1)));
    }
    return set;
}

// Return the part of a set in which the second side is in a later iteration.
static isl_set *go_back(struct meet *m, isl_set *set)
{
    const struct meet_scope *loop = m->place->back;
    if (!loop)
        return set;
    struct ir_expr *x = ir_read(m->arena, (struct ir_var *)loop->var);
    isl_pw_aff *next =
        isl_pw_aff_add(symbol_value(m, x, 0), number(m, loop->step));
    isl_pw_aff *v = symbol_value(m, x, 1);
    return isl_set_intersect(set, m->place->is_next
                                      ? isl_pw_aff_eq_set(v, next)
                                      : isl_pw_aff_ge_set(v, next));
}

bool meet_test(struct meet *m, const struct meet_access *x,
               const struct meet_access *y, const struct meet_place *place)
{
    m->place = place;
    m->scope[0] = x->scope;
    m->scope[1] = y->scope;
    isl_ctx_reset_operations(m->ctx);
    isl_set *set = go_back(m, different(m));
    for (uint32_t i = 0; i < x->buffer->rank; i++) {
        struct ir_expr *element = ir_int(m->arena, i);
        set = isl_set_intersect(set, index_set(m, x->index[i], 0, element));
        set = isl_set_intersect(set, index_set(m, y->index[i], 1, element));
    }
    for (int side = 0; side < SIDES; side++)
        set = enter(m, set, side);
    bool meets = isl_set_is_empty(set) != isl_bool_true;
    isl_set_free(set);
    return meets;
}
