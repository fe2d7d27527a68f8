// Whether two threads of a block may access the same element: a system of
// linear inequalities over integers (isl).  A quotient is an unknown of its
// own, bounded from both sides; what is not linear is an unknown without
// bounds, so that the answer may be yes where it should be no.  If all indices
// but the last one say that the threads are at one position along an axis, what
// is not linear in that position is one unknown for both.

#include "passes/analysis/thread_conflicts.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/distances.h"
#include "passes/analysis/linear.h"

#include <string.h>

enum { SIDES = 2, BOTH = SIDES };
enum { QUESTIONS_MOST = 100 * 1000 }; // about one launch

// An expression that is an unknown.
struct unknown {
    const struct ir_expr *expr; // NULL for a helper or quotient
    int side;                   // 0, 1, or BOTH for what has one value
};

// The questions about one launch.
struct thread_conflicts {
    struct arena *arena;
    const struct ir_launch *launch;
    struct linear system;
    struct distances *distances;        // of pairs that were asked about
    uint64_t questions;                 // so far
    const struct conflict_place *place; // of the question
    const struct conflict_access *access[SIDES];
    bool is_same[3]; // positions along x, y, z: one for both sides
    struct unknown unknowns[1 + UNKNOWNS_MOST]; // the first one is not used
};

struct thread_conflicts *conflict_start(struct arena *a,
                                        const struct ir_launch *launch)
{
    struct thread_conflicts *m = arena_new(a, struct thread_conflicts);
    m->arena = a;
    m->launch = launch;
    m->system = linear_start(a);
    m->distances = distances_new(a);
    return m;
}

void conflict_end(struct thread_conflicts *m)
{
    linear_end(&m->system);
}

// Return whether a scope is `inner` or around it.
static bool is_around(const struct conflict_scope *scope,
                      const struct conflict_scope *inner)
{
    while (inner && inner != scope)
        inner = inner->up;
    return inner == scope;
}

// Return the scope of a variable above `inner`, or NULL.
static const struct conflict_scope *scope_of(const struct conflict_scope *inner,
                                             const struct ir_var *var)
{
    while (inner && inner->var != var)
        inner = inner->up;
    return inner;
}

// Return whether a variable has different values on the two sides, as one of
// them has it.
static bool is_own_var(const struct thread_conflicts *m,
                       const struct ir_var *var, int side)
{
    const struct conflict_place *p = m->place;
    if (var->kind == VAR_param)
        return false;
    const struct conflict_scope *s = scope_of(m->access[side]->scope, var);
    return !s || !s->is_common || s == p->back || !is_around(s, p->common);
}

// Return BOTH if an expression has the same value on both sides.
static int side_of(const struct thread_conflicts *m, struct ir_expr *x,
                   int side)
{
    ir_foreach_expr(e, x)
        if ((e->op == OP_index && axis_kind(e->u.axis) == AXIS_THREAD &&
             !m->is_same[axis_dimension(e->u.axis)]) ||
            (e->op == OP_var && is_own_var(m, e->u.var, side)))
            return side;
    return ir_flags(x) & (OP_READS | OP_WRITES) ? side : BOTH;
}

// Return whether the positions of threads along an axis differ; true for
// blocks.
static bool has_positions(const struct thread_conflicts *m, enum axis axis)
{
    return axis_kind(axis) != AXIS_THREAD ||
           m->launch->block[axis_dimension(axis)] > 1;
}

// Add an unknown: an expression, or NULL for a helper.
static struct sum add_unknown(struct thread_conflicts *m,
                              const struct ir_expr *x, int side)
{
    struct sum r = linear_add_unknown(&m->system);
    m->unknowns[m->system.n] = (struct unknown){x, side};
    return r;
}

// Return the unknown of an expression on a side; positions have bounds.
static struct sum leaf_value(struct thread_conflicts *m, struct ir_expr *x,
                             int side)
{
    side = side_of(m, x, side);
    for (uint32_t i = 1; i <= m->system.n; i++) {
        const struct unknown *u = &m->unknowns[i];
        if (u->expr && u->side == side && ir_expr_equal(u->expr, x))
            return linear_unknown(i);
    }
    struct sum r = add_unknown(m, x, side), zero = linear_number(0);
    if (x->op != OP_index || axis_kind(x->u.axis) != AXIS_THREAD)
        return r;
    struct sum end = linear_number(m->launch->block[axis_dimension(x->u.axis)]);
    linear_require(&m->system, &r, &zero, 0);
    linear_require(&m->system, &end, &r, -1);
    return r;
}

// Return whether an expression is never negative.
static bool is_natural(const struct thread_conflicts *m,
                       const struct ir_expr *x, int side)
{
    int64_t value;
    if (ir_int_value(x, &value))
        return value >= 0;
    if (x->op == OP_index)
        return true;
    if (x->op == OP_var && x->u.var->kind == VAR_param)
        return type_is_index(x->type);
    if (x->op == OP_var) {
        const struct conflict_scope *s =
            scope_of(m->access[side]->scope, x->u.var);
        return s &&
               (s->is_natural || (s->from && is_natural(m, s->from, side)));
    }
    bool keeps = x->op == OP_add || x->op == OP_mul || x->op == OP_div ||
                 x->op == OP_mod || x->op == OP_min || x->op == OP_max ||
                 x->op == OP_ceildiv;
    return keeps && is_natural(m, x->args[0], side) &&
           is_natural(m, x->args[1], side);
}

static struct sum value_of(struct thread_conflicts *m, struct ir_expr *x,
                           int side);

// Return x / c, x % c or ceildiv(x, c) for a number c > 0 and x >= 0.
static struct sum quotient_value(struct thread_conflicts *m, struct ir_expr *x,
                                 int side)
{
    int64_t by;
    if (!ir_int_value(x->args[1], &by) || by <= 0 ||
        !is_natural(m, x->args[0], side))
        return leaf_value(m, x, side);
    struct sum value = value_of(m, x->args[0], side);
    struct sum up = linear_number(by - 1);
    if (x->op == OP_ceildiv)
        value = linear_plus(&m->system, value, 1, &up);
    struct sum q = linear_divide(&m->system, value, by);
    return x->op == OP_mod ? linear_plus(&m->system, value, -by, &q) : q;
}

// Return the lesser or the greater of two values, or what may be less or
// greater.
static struct sum extreme_value(struct thread_conflicts *m, struct ir_expr *x,
                                int side)
{
    struct sum r = add_unknown(m, NULL, side);
    for (int i = 0; i < 2; i++) {
        struct sum v = value_of(m, x->args[i], side);
        if (x->op == OP_min)
            linear_require(&m->system, &v, &r, 0);
        else
            linear_require(&m->system, &r, &v, 0);
    }
    return r;
}

// Return a product.
static struct sum product_value(struct thread_conflicts *m, struct ir_expr *x,
                                int side)
{
    int64_t by;
    int factor = ir_int_value(x->args[0], &by) ? 0 : 1;
    if (!ir_int_value(x->args[factor], &by))
        return leaf_value(m, x, side);
    struct sum v = value_of(m, x->args[1 - factor], side);
    return linear_plus(&m->system, linear_number(0), by, &v);
}

// Return an expression of a side as a sum of unknowns.
static struct sum value_of(struct thread_conflicts *m, struct ir_expr *x,
                           int side)
{
    int64_t n;
    if (ir_int_value(x, &n))
        return linear_number(n);
    if (!type_is_index(x->type))
        return leaf_value(m, x, side);
    if (x->op == OP_index && !has_positions(m, x->u.axis))
        return linear_number(0);
    switch ((int)x->op) {
    case OP_add:
    case OP_sub: {
        struct sum y = value_of(m, x->args[1], side);
        struct sum first = value_of(m, x->args[0], side);
        return linear_plus(&m->system, first, x->op == OP_add ? 1 : -1, &y);
    }
    case OP_neg: {
        struct sum y = value_of(m, x->args[0], side);
        return linear_plus(&m->system, linear_number(0), -1, &y);
    }
    case OP_mul: return product_value(m, x, side);
    case OP_min:
    case OP_max: return extreme_value(m, x, side);
    case OP_div:
    case OP_mod:
    case OP_ceildiv: return quotient_value(m, x, side);
    default: return leaf_value(m, x, side);
    }
}

// Require a condition, or what of it is linear.
static void require_condition(struct thread_conflicts *m,
                              const struct ir_expr *c, bool holds, int side)
{
    if (c->op == OP_not)
        require_condition(m, c->args[0], !holds, side);
    if (c->op == (holds ? OP_and : OP_or)) {
        require_condition(m, c->args[0], holds, side);
        require_condition(m, c->args[1], holds, side);
    }
    if (c->n != 2 || !type_is_index(c->args[0]->type))
        return;
    struct sum x = value_of(m, c->args[0], side);
    struct sum y = value_of(m, c->args[1], side);
    if (c->op == OP_lt || c->op == OP_ge)
        linear_require_less(&m->system, &x, &y, holds == (c->op == OP_lt));
    else if (c->op == OP_gt || c->op == OP_le)
        linear_require_less(&m->system, &y, &x, holds == (c->op == OP_gt));
    else if (c->op == (holds ? OP_eq : OP_ne))
        linear_require_equal(&m->system, &x, &y);
}

// Return whether an index of one of the accesses mentions a variable or
// position.
static bool is_in_index(const struct thread_conflicts *m,
                        const struct ir_expr *leaf)
{
    for (int side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < m->access[side]->buffer->rank; i++)
            ir_foreach_expr(x, m->access[side]->index[i])
                if (x->op == leaf->op && ir_expr_equal(x, leaf))
                    return true;
    return false;
}

// Return whether what is known of an expression may tell the elements of the
// accesses: some value that nothing binds makes it hold otherwise.
static bool is_relevant(const struct thread_conflicts *m, struct ir_expr *x)
{
    ir_foreach_expr(e, x) {
        bool is_thread =
            e->op == OP_index && axis_kind(e->u.axis) == AXIS_THREAD;
        if ((e->op == OP_var || (e->op == OP_index && !is_thread)) &&
            !is_in_index(m, e))
            return false;
    }
    return !(ir_flags(x) & (OP_READS | OP_WRITES));
}

// Require that a loop variable is in its range.
static void enter_loop(struct thread_conflicts *m,
                       const struct conflict_scope *s, int side)
{
    struct ir_expr *var = ir_read(m->arena, (struct ir_var *)s->var);
    if (!is_in_index(m, var))
        return;
    struct sum v = leaf_value(m, var, side);
    if (is_relevant(m, s->to)) {
        struct sum to = value_of(m, s->to, side);
        linear_require(&m->system, &to, &v, -1);
    }
    if (!is_relevant(m, s->from))
        return;
    struct sum from = value_of(m, s->from, side);
    linear_require(&m->system, &v, &from, 0);
    if (s->step == 1)
        return;
    struct sum count = add_unknown(m, NULL, side);
    struct sum there = linear_plus(&m->system, from, s->step, &count);
    linear_require_equal(&m->system, &v, &there);
}

// Require that a side is where its access stands.
static void enter(struct thread_conflicts *m, int side)
{
    const struct conflict_access *x = m->access[side];
    const struct conflict_scope *s =
        x->is_of_warp ? m->place->common : x->scope;
    for (; s; s = s->up) {
        if (s->from)
            enter_loop(m, s, side);
        if (s->condition && is_relevant(m, s->condition))
            require_condition(m, s->condition, s->holds, side);
    }
}

// Return the first element along a dimension that a side accesses.
static struct sum first_element(struct thread_conflicts *m, struct ir_expr *x,
                                int side)
{
    return value_of(m, x->op == OP_ramp ? x->args[0] : x, side);
}

// Require that both sides access a common element along a dimension.
static void require_overlap(struct thread_conflicts *m, struct ir_expr *x,
                            struct ir_expr *y)
{
    int64_t more_x = (int64_t)x->type.lanes - 1;
    int64_t more_y = (int64_t)y->type.lanes - 1;
    if ((more_x && x->op != OP_ramp) || (more_y && y->op != OP_ramp))
        return;
    struct sum first = first_element(m, x, 0), second = first_element(m, y, 1);
    if (more_x + more_y == 0) {
        linear_require_equal(&m->system, &first, &second);
        return;
    }
    linear_require(&m->system, &second, &first, more_y);
    linear_require(&m->system, &first, &second, more_x);
}

// Require that the second side is in a later iteration.
static void go_back(struct thread_conflicts *m)
{
    const struct conflict_scope *loop = m->place->back;
    if (!loop)
        return;
    struct ir_expr *x = ir_read(m->arena, (struct ir_var *)loop->var);
    if (!is_in_index(m, x))
        return;
    struct sum later = leaf_value(m, x, 1), step = linear_number(loop->step);
    struct sum next = linear_plus(&m->system, leaf_value(m, x, 0), 1, &step);
    if (m->place->is_next)
        linear_require_equal(&m->system, &later, &next);
    else
        linear_require(&m->system, &later, &next, 0);
}

// Return how many threads next to each other are no different ones for two
// accesses at a place; blocks of more than one dimension are not counted.
static uint32_t together_of(const struct thread_conflicts *m,
                            const struct conflict_place *place,
                            const struct conflict_access *x,
                            const struct conflict_access *y)
{
    uint32_t n = place->together;
    n = x->together > n ? x->together : n;
    n = y->together > n ? y->together : n;
    return n && m->launch->block[1] * m->launch->block[2] == 1 ? n : 1;
}

// Require that the two threads are of the same group that can meet.
static void require_within(struct thread_conflicts *m)
{
    uint32_t within = m->place->within;
    if (!within)
        return;
    struct ir_expr *x = ir_index_value(m->arena, AXIS_thread_x);
    x = ir_binary(m->arena, OP_div, x, ir_int(m->arena, within));
    struct sum first = value_of(m, x, 0), second = value_of(m, x, 1);
    linear_require_equal(&m->system, &first, &second);
}

// Return whether the two threads may be at different positions along an axis, of
// which `together` are no different ones.
static bool differ_along(struct thread_conflicts *m, enum axis axis,
                         int64_t together)
{
    struct ir_expr *x = ir_index_value(m->arena, axis);
    bool may = false;
    if (together > 1)
        x = ir_binary(m->arena, OP_div, x, ir_int(m->arena, together));
    for (int i = 0; i < SIDES && !may; i++) {
        struct sum less = value_of(m, x, i), more = value_of(m, x, 1 - i);
        size_t n = m->system.rows.n;
        linear_require(&m->system, &more, &less, -1);
        may = linear_is_possible(&m->system);
        m->system.rows.n = n;
    }
    return may;
}

// Return whether the two threads may be different ones.
static bool may_differ(struct thread_conflicts *m)
{
    int64_t together = together_of(m, m->place, m->access[0], m->access[1]);
    for (int i = 0; i < 3; i++)
        if (has_positions(m, (enum axis)(AXIS_thread_x + i)) &&
            differ_along(m, (enum axis)(AXIS_thread_x + i), together))
            return true;
    return false;
}

// Return whether an index is a product of a thread's position and no number.
static bool has_product(const struct ir_expr *index)
{
    ir_foreach_expr(x, index) {
        bool is_linear = x->op != OP_mul || ir_is_const(x->args[0]) ||
                         ir_is_const(x->args[1]);
        ir_foreach_expr(e, x)
            if (!is_linear && e->op == OP_index &&
                axis_kind(e->u.axis) == AXIS_THREAD)
                return true;
    }
    return false;
}

// Start to ask about two accesses.
static void clear(struct thread_conflicts *m)
{
    linear_clear(&m->system);
    memset(m->unknowns, 0, sizeof m->unknowns);
}

// Find the axes along which threads that access a common row are at one position.
static void find_same(struct thread_conflicts *m)
{
    const struct conflict_access *x = m->access[0], *y = m->access[1];
    uint32_t rank = x->buffer->rank;
    bool is_same[3];
    memset(m->is_same, 0, sizeof m->is_same);
    if (rank < 2 || !has_product(x->index[rank - 1]))
        return;
    clear(m);
    for (uint32_t i = 0; i + 1 < rank; i++)
        require_overlap(m, x->index[i], y->index[i]);
    for (int i = 0; i < 3; i++) {
        enum axis axis = (enum axis)(AXIS_thread_x + i);
        is_same[i] = has_positions(m, axis) && !differ_along(m, axis, 1);
    }
    memcpy(m->is_same, is_same, sizeof is_same);
}

// Return whether different threads may access the same element; `is_placed`:
// where the accesses stand, not anywhere.  After too many questions they may.
static bool ask(struct thread_conflicts *m, const struct conflict_access *x,
                const struct conflict_access *y,
                const struct conflict_place *place, bool is_placed)
{
    if (m->questions++ >= QUESTIONS_MOST)
        return true;
    m->place = place;
    m->access[0] = x;
    m->access[1] = y;
    find_same(m);
    clear(m);
    go_back(m);
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        require_overlap(m, x->index[i], y->index[i]);
    for (int side = 0; side < SIDES && is_placed; side++)
        enter(m, side);
    require_within(m);
    return may_differ(m);
}

bool conflict_test(struct thread_conflicts *m, const struct conflict_access *x,
                   const struct conflict_access *y,
                   const struct conflict_place *place)
{
    struct distance *d =
        distances_find(m->distances, x, y, place, together_of(m, place, x, y));
    const struct distance_answer *before;
    if (!d || x->is_of_warp || y->is_of_warp)
        return ask(m, x, y, place, true);
    if (d->never_conflicts)
        return false;
    before = distances_answer(d, x, y);
    if (before)
        return before->conflicts;
    if (++d->asked > 1 && !d->is_known) {
        d->never_conflicts = !ask(m, x, y, place, false);
        d->is_known = true;
    }
    bool conflicts = !d->never_conflicts && ask(m, x, y, place, true);
    distances_keep(m->distances, d, x, y, conflicts);
    return conflicts;
}
