// Accesses as systems of linear conditions: what is around them.

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/proof/natural.h"
#include "passes/proof/system_parts.h"

enum { LIMIT_LEAST = 1 << 30, CHOICES_MOST = 5 };

// Return whether a condition only keeps a value, which is not negative, below
// a number that is too large to matter.
static bool is_limit(const struct ir_expr *c, bool holds)
{
    int64_t most;
    return holds && (c->op == OP_le || c->op == OP_lt) &&
           ir_int_value(c->args[1], &most) && most >= LIMIT_LEAST;
}

// What is below an end: times * x + plus.
struct bounded {
    int64_t times, plus;
    struct ir_expr *end;
};

// Take the outermost max or quotient off the end; false if that has none.
static bool take_off(struct bounded *b)
{
    const struct ir_expr *e = b->end;
    int64_t n, times = b->times, plus = b->plus;
    if ((e->op != OP_max && e->op != OP_div && e->op != OP_ceildiv) ||
        !ir_int_value(e->args[1], &n) || (e->op == OP_max ? n > 0 : n < 1))
        return false;
    if (e->op != OP_max &&
        (!num_mul(times, n, &times) || !num_mul(plus, n, &plus)))
        return false;
    if (e->op == OP_div && !num_add(plus, n - 1, &plus))
        return false;
    *b = (struct bounded){times, plus, e->args[0]};
    return true;
}

// Return what says the same of a number x >= 0 as `x < end`, where the end is
// at least 0 whatever it is made of:
//   x < max(e, 0)       x < e
//   x < e / c           c * x + c - 1 < e
//   x < ceildiv(e, c)   c * x < e
// The end is NULL if it is none such.
static struct bounded unclamp(struct ir_expr *end)
{
    struct bounded b = {1, 0, end};
    bool is_clamped = false;
    for (struct ir_expr *e = end; take_off(&b); e = b.end)
        is_clamped |= e->op == OP_max;
    if (!is_clamped)
        b.end = NULL;
    return b;
}

// Require that a value that is not negative is below a clamped end; false if
// the end is none.
static bool require_below_clamped(struct system *s, const struct sum *x,
                                  struct ir_expr *end, enum side side)
{
    struct bounded b = unclamp(end);
    if (!b.end)
        return false;
    struct sum low = linear_number(b.plus);
    low = linear_plus(&s->linear, low, b.times, x);
    struct sum high = system_value(s, b.end, side);
    linear_require(&s->linear, &high, &low, -1);
    return true;
}

// Require a comparison of two index values, or that it does not hold.
static void require_comparison(struct system *s, const struct ir_expr *c,
                               bool holds, enum side side)
{
    struct sum x = system_value(s, c->args[0], side);
    if (c->op == OP_lt && holds && !s->is_loose &&
        natural_is(s->facts, s->scope[side], c->args[0]) &&
        require_below_clamped(s, &x, c->args[1], side))
        return;
    struct sum y = system_value(s, c->args[1], side);
    switch ((int)c->op) {
    case OP_lt: linear_require_less(&s->linear, &x, &y, holds); break;
    case OP_ge: linear_require_less(&s->linear, &x, &y, !holds); break;
    case OP_gt: linear_require_less(&s->linear, &y, &x, holds); break;
    case OP_le: linear_require_less(&s->linear, &y, &x, !holds); break;
    case OP_eq:
    case OP_ne:
        if (holds == (c->op == OP_eq))
            linear_require_equal(&s->linear, &x, &y);
        else if (!system_may_be_less(s, &x, &y))
            linear_require(&s->linear, &x, &y, -1);
        else if (!system_may_be_less(s, &y, &x))
            linear_require(&s->linear, &y, &x, -1);
        else
            s->is_exact = false;
        break;
    default: s->is_exact = false;
    }
}

void system_require(struct system *s, struct ir_expr *c, bool holds,
                    enum side side)
{
    if (c->op == OP_not) {
        system_require(s, c->args[0], !holds, side);
    } else if (c->op == OP_const) {
        struct sum no = linear_number(-1), zero = linear_number(0);
        if (holds != (c->u.i != 0))
            linear_require(&s->linear, &no, &zero, 0);
    } else if (c->op == (holds ? OP_and : OP_or)) {
        system_require(s, c->args[0], holds, side);
        system_require(s, c->args[1], holds, side);
    } else if (c->op == (holds ? OP_or : OP_and) && s->is_choosing &&
               s->choices < CHOICES_MOST) {
        uint32_t one = s->choice >> s->choices++ & 1;
        system_require(s, c->args[one], holds, side);
    } else if (c->n == 2 && type_is_index(c->args[0]->type) &&
               c->type.lanes == 1 && ir_is_steady(c)) {
        if (is_limit(c, holds) && !s->asks_sizes)
            s->is_exact = false;
        else
            require_comparison(s, c, holds, side);
    } else {
        s->is_exact = false;
    }
}

void system_require_some(struct system *s, struct ir_expr *end)
{
    int64_t number;
    struct sum least = linear_number(1);
    if (ir_int_value(end, &number))
        return;
    if (end->op == OP_mul && natural_is(s->facts, NULL, end)) {
        system_require_some(s, end->args[0]);
        system_require_some(s, end->args[1]);
        return;
    }
    struct sum n = system_value(s, end, FIRST);
    linear_require(&s->linear, &n, &least, 0);
}

// Return whether something is known of where a loop begins or ends.
static bool is_known(const struct system *s, const struct ir_expr *x)
{
    return ir_is_steady(x) || system_is_said(s, x);
}

// Require that a loop's variable is one of its values.
static void enter_loop(struct system *s, const struct scope *scope,
                       enum side side)
{
    int64_t step;
    struct linear *l = &s->linear;
    struct ir_expr *var = ir_read(s->arena, (struct ir_var *)scope->var);
    struct sum v = system_value(s, var, side);
    bool is_natural = natural_is(s->facts, scope->up, scope->from);
    if (!is_known(s, scope->to) || !system_counts(s, scope->to)) {
        s->is_exact = false;
    } else if (!is_natural || !require_below_clamped(s, &v, scope->to, side)) {
        struct sum to = system_value(s, scope->to, side);
        linear_require(l, &to, &v, -1);
    }
    s->is_exact &= !scope->may_end;
    if (!is_known(s, scope->from)) {
        s->is_exact = false;
        return;
    }
    struct sum from = system_value(s, scope->from, side);
    linear_require(l, &v, &from, 0);
    if (!ir_int_value(scope->step, &step) || step < 1) {
        s->is_exact = false;
    } else if (step > 1) {
        struct sum count = linear_add_unknown(l);
        struct sum there = linear_plus(l, from, step, &count);
        linear_require_equal(l, &v, &there);
    }
}

void system_enter(struct system *s, const struct scope *scope, enum side side)
{
    if (!scope)
        return;
    s->scope[side] = scope;
    system_enter(s, scope->up, side);
    s->scope[side] = scope;
    if (scope->var)
        enter_loop(s, scope, side);
    else if (!s->is_loose || scope_is_short(scope))
        system_require(s, scope->condition, scope->holds, side);
}
