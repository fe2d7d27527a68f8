// Accesses as systems of linear conditions: values and questions.

#include "passes/proof/system.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/proof/digits.h"
#include "passes/proof/natural.h"
#include "passes/proof/positions.h"
#include "passes/proof/system_parts.h"

enum { OPERATIONS_MOST = 20 * 1000 }; // of isl for one question

// Bounds beyond say nothing that matters, and make a question long.
static const int64_t FAR = INT64_C(1) << 24;

void system_start(struct system *s, struct arena *a,
                  const struct program *program, const struct facts *facts,
                  uint64_t most)
{
    *s = (struct system){
        .arena = a, .program = program, .facts = facts, .most = most};
    s->linear = linear_start(a);
    isl_ctx_set_max_operations(s->linear.ctx, OPERATIONS_MOST);
}

void system_end(struct system *s)
{
    linear_end(&s->linear);
}

void system_begin(struct system *s, struct relation relation)
{
    const struct ir_kernel *k = s->program->kernel;
    linear_clear(&s->linear);
    s->leaves.n = 0;
    s->relation = relation;
    s->scope[FIRST] = s->scope[SECOND] = NULL;
    s->is_exact = true;
    for (size_t i = 0; i < k->params.n; i++) {
        struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type))
            system_value(s, ir_read(s->arena, var), FIRST);
    }
    for (size_t i = 0; i < k->where.n && !s->is_loose; i++)
        system_require(s, k->where.at[i], true, FIRST);
    for (size_t i = 0; i < k->guard.n && !s->is_loose; i++)
        system_require(s, k->guard.at[i], true, FIRST);
    for (int i = 0; i < 3 && !s->is_loose && !s->asks_sizes; i++)
        system_require_some(s, s->program->launch->grid[i]);
    s->is_exact = !s->is_loose;
}

// ---- Sides ----------------------------------------------------------------

// Return the scope of a loop's variable around a side, or NULL.
static const struct scope *scope_of(const struct scope *inner,
                                    const struct ir_var *var)
{
    while (inner && inner->var != var)
        inner = inner->up;
    return inner;
}

// Return whether a scope is `inner` or around it.
static bool is_around(const struct scope *scope, const struct scope *inner)
{
    while (inner && inner != scope)
        inner = inner->up;
    return inner == scope;
}

// Return whether a variable may have different values on the two sides, as one
// of them has it.
static bool is_own_var(const struct system *s, const struct ir_var *var,
                       enum side side)
{
    const struct relation *r = &s->relation;
    if (var->kind == VAR_param)
        return false;
    const struct scope *loop = scope_of(s->scope[side], var);
    return !loop || !loop->is_fixed || loop == r->back || !r->common ||
           !is_around(loop, r->common);
}

// Return BOTH if an expression has the same value on both sides.
static int side_of(const struct system *s, struct ir_expr *x, enum side side)
{
    ir_foreach_expr(e, x)
        if ((e->op == OP_index && (axis_kind(e->u.axis) == AXIS_THREAD ||
                                   s->relation.blocks_differ)) ||
            (e->op == OP_var && is_own_var(s, e->u.var, side)))
            return (int)side;
    return ir_flags(x) & (OP_READS | OP_WRITES | OP_TOGETHER) ? (int)side
                                                              : BOTH;
}

// ---- Leaves ---------------------------------------------------------------

bool system_counts(struct system *s, const struct ir_expr *end)
{
    int64_t number;
    if (!s->is_loose || ir_int_value(end, &number))
        return true;
    s->is_exact = false;
    return false;
}

// Require that a value is in a range.
static void require_range(struct system *s, const struct sum *x,
                          struct interval r)
{
    struct sum lo = linear_number(r.lo), hi = linear_number(r.hi);
    if (r.lo > -FAR)
        linear_require(&s->linear, x, &lo, 0);
    if (r.hi < FAR)
        linear_require(&s->linear, &hi, x, 0);
}

bool system_is_sized(const struct ir_expr *x)
{
    return ir_is_of_params(x);
}

// Return the range of a position.
static void require_position(struct system *s, const struct ir_expr *x,
                             const struct sum *value, enum side side)
{
    struct interval any = {0, INT64_MAX};
    int dimension = axis_dimension(x->u.axis);
    if (axis_kind(x->u.axis) == AXIS_THREAD)
        any.hi = s->program->launch->block[dimension] - 1;
    require_range(s, value, any);
    if (axis_kind(x->u.axis) == AXIS_THREAD)
        return;
    struct ir_expr *grid = s->program->launch->grid[dimension];
    if (!system_counts(s, grid))
        return;
    struct sum end = system_value(s, grid, side);
    linear_require(&s->linear, &end, value, -1);
}

// Return the unknown that an expression of a side is, in the bounds of its
// type and its operations; *is_new says that there was none so far.
static struct sum leaf(struct system *s, struct ir_expr *x, enum side side,
                       bool *is_new)
{
    bool is_steady = ir_is_steady(x);
    int at = side_of(s, x, side);
    *is_new = false;
    for (size_t i = 0; i < s->leaves.n && is_steady; i++) {
        const struct leaf *l = &s->leaves.at[i];
        if (l->side == at && ir_expr_equal(l->expr, x))
            return linear_unknown(l->unknown);
    }
    struct sum r = linear_add_unknown(&s->linear);
    struct leaf new = {x, at, s->linear.n};
    *is_new = true;
    if (is_steady)
        vec_push(s->arena, &s->leaves, new);
    if (!s->is_covering || !positions_multiply(x))
        require_range(s, &r, facts_range(s->facts, x));
    return r;
}

// Return the value of a variable, a position, or what is not linear.
static struct sum leaf_value(struct system *s, struct ir_expr *x,
                             enum side side)
{
    bool is_new,
        is_thread = x->op == OP_index && axis_kind(x->u.axis) == AXIS_THREAD;
    if (is_thread && s->program->launch->block[axis_dimension(x->u.axis)] == 1)
        return linear_number(0);
    struct sum r = leaf(s, x, side, &is_new);
    if (is_new)
        system_require_said(s, x, &r, side);
    if (x->op == OP_var && x->u.var->kind == VAR_param) {
        if (is_new)
            require_range(s, &r, (struct interval){0, INT64_MAX});
    } else if (x->op == OP_index && is_new) {
        require_position(s, x, &r, side);
    } else if (x->op != OP_index && !scope_of(s->scope[side], x->u.var)) {
        s->is_exact &= x->op != OP_var && system_is_sized(x);
    }
    return r;
}

// ---- Values ---------------------------------------------------------------

// Return whether a value is known not to be negative, by its form or by all
// that is known here.
static bool is_natural(struct system *s, struct ir_expr *x, enum side side,
                       const struct sum *value)
{
    struct sum zero = linear_number(0);
    return natural_is(s->facts, s->scope[side], x) ||
           (!s->is_loose && !system_may_be_less(s, value, &zero));
}

// Return x / by, x % by or ceildiv(x, by), for by > 0.
static struct sum quotient_by(struct system *s, struct ir_expr *x, int64_t by,
                              enum side side)
{
    struct linear *l = &s->linear;
    struct sum value = system_value(s, x->args[0], side), q;
    if (x->op == OP_ceildiv) {
        struct sum up = linear_number(by - 1);
        value = linear_plus(l, value, 1, &up);
        return linear_divide(l, value, by);
    }
    if (is_natural(s, x->args[0], side, &value)) {
        q = linear_divide(l, value, by);
    } else { // rounded towards zero: the rest is on the side of the value
        struct sum times;
        q = linear_add_unknown(l);
        times = linear_plus(l, linear_number(0), by, &q);
        linear_require(l, &value, &times, by - 1);
        linear_require(l, &times, &value, by - 1);
        s->is_exact = false;
    }
    return x->op == OP_mod ? linear_plus(l, value, -by, &q) : q;
}

// Return a value of which nothing is known but the range of its operation.
static struct sum select_value(struct system *s, struct ir_expr *x,
                               enum side side)
{
    bool is_new;
    struct sum r = leaf(s, x, side, &is_new);
    system_require_said(s, x, &r, side);
    s->is_exact = false;
    return r;
}

// Return a digit of a block's index: any number below its end.
static struct sum digit_value(struct system *s, struct ir_expr *x,
                              struct ir_expr *end, enum side side)
{
    bool is_new;
    struct sum zero = linear_number(0);
    struct sum r = leaf(s, x, side, &is_new);
    if (!is_new)
        return r;
    struct sum top = system_value(s, end, side);
    linear_require(&s->linear, &r, &zero, 0);
    linear_require(&s->linear, &top, &r, -1);
    return r;
}

// Return x / y, x % y or ceildiv(x, y), where y > 0 is not a number but has one
// value: an unknown in the bounds that follow without a product.
static struct sum quotient_value(struct system *s, struct ir_expr *x,
                                 enum side side)
{
    int64_t by;
    bool is_new;
    struct linear *l = &s->linear;
    if (ir_int_value(x->args[1], &by) && by > 0)
        return quotient_by(s, x, by, side);
    if (s->is_loose)
        return select_value(s, x, side);
    struct ir_expr *end = s->is_covering ? digit_end(s, x) : NULL;
    if (end)
        return digit_value(s, x, end, side);
    struct sum of = system_value(s, x->args[0], side);
    struct sum divisor = system_value(s, x->args[1], side);
    struct sum zero = linear_number(0);
    struct sum r = leaf(s, x, side, &is_new);
    s->is_exact &= system_is_sized(x);
    if (!is_new || !natural_is(s->facts, s->scope[side], x->args[0]) ||
        !natural_is(s->facts, s->scope[side], x->args[1]))
        return r;
    linear_require(l, &r, &zero, 0);
    linear_require(l, &of, &r, 0);
    if (x->op == OP_mod)
        linear_require(l, &divisor, &r, -1);
    return r;
}

// Return the lesser or the greater of two values, or what may be less or
// greater.
static struct sum extreme_value(struct system *s, struct ir_expr *x,
                                enum side side)
{
    bool is_new;
    struct sum r = leaf(s, x, side, &is_new);
    struct sum zero = linear_number(0);
    s->is_exact &= system_is_sized(x);
    if (is_new && natural_is(s->facts, s->scope[side], x))
        linear_require(&s->linear, &r, &zero, 0);
    for (int i = 0; i < 2 && is_new && !s->is_loose; i++) {
        struct sum v = system_value(s, x->args[i], side);
        if (x->op == OP_min)
            linear_require(&s->linear, &v, &r, 0);
        else
            linear_require(&s->linear, &r, &v, 0);
    }
    return r;
}

// Return the value of an expression that is no sum and no product.
static struct sum atom_value(struct system *s, struct ir_expr *x,
                             enum side side)
{
    switch ((int)x->op) {
    case OP_var:
    case OP_index: return leaf_value(s, x, side);
    case OP_div:
    case OP_mod:
    case OP_ceildiv: return quotient_value(s, x, side);
    case OP_min:
    case OP_max: return extreme_value(s, x, side);
    default: return select_value(s, x, side);
    }
}

// Return the product of several atoms: an unknown, which sizes alone decide or
// which is not exact.
static struct sum product_value(struct system *s, const struct affine_term *t,
                                enum side side)
{
    struct ir_expr *product = t->atoms[0];
    bool is_new, is_positive = true;
    for (uint32_t i = 0; i < t->n; i++) {
        is_positive &= natural_is(s->facts, s->scope[side], t->atoms[i]);
        if (i)
            product = ir_mul(s->arena, product, t->atoms[i]);
    }
    if (s->is_covering && positions_multiply(product))
        return leaf(s, product, side, &is_new);
    struct sum r = leaf(s, product, side, &is_new);
    s->is_exact &= system_is_sized(product);
    if (is_new && is_positive)
        require_range(s, &r, (struct interval){0, INT64_MAX});
    return r;
}

struct sum system_value(struct system *s, struct ir_expr *x, enum side side)
{
    bool is_new;
    if (!type_is_index(x->type) || x->type.lanes != 1) {
        s->is_exact = false;
        return leaf(s, x, side, &is_new);
    }
    if (x->op == OP_cast && type_is_index(x->args[0]->type))
        return system_value(s, x->args[0], side);
    struct affine form = affine_of(s->arena, x);
    struct sum sum = linear_number(form.constant);
    if (form.failed) {
        s->is_exact = false;
        return linear_add_unknown(&s->linear);
    }
    vec_foreach(t, &form.terms) {
        struct sum v = t->n == 1 ? atom_value(s, t->atoms[0], side)
                                 : product_value(s, t, side);
        sum = linear_plus(&s->linear, sum, t->factor, &v);
    }
    return sum;
}

struct sum system_thread(struct system *s, enum side side)
{
    struct sum r = linear_number(0);
    int64_t stride = 1;
    for (int i = 0; i < 3; i++) {
        enum axis axis = (enum axis)(AXIS_thread_x + i);
        struct sum v = system_value(s, ir_index_value(s->arena, axis), side);
        r = linear_plus(&s->linear, r, stride, &v);
        stride *= s->program->launch->block[i];
    }
    return r;
}
