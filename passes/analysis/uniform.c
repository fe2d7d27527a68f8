// Conditions that hold in all iterations of some loops.
//
// A condition 0 <= f is a sum: terms of uniform values stay, each of the
// others is at least the lower end of its range.  Conditions are those of
// branches without an `else`, and of selections of a constant where they do
// not hold.

#include "passes/analysis/uniform.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/opt/fold.h"

// A walk over the conditions of a block.
struct look {
    struct uniform *u;
    const struct ir_var *var; // that a bound has to fall with, or NULL
    int64_t times;            // how often a thread gets here
    struct uniform_bounds bounds;
    int64_t repeats;
    bool drops; // the conditions that follow from the bounds
};

// Return whether a variable is in a list.
static bool has(const struct uniform_vars *vars, const struct ir_var *var)
{
    for (size_t i = 0; i < vars->n; i++)
        if (vars->at[i] == var)
            return true;
    return false;
}

// Return whether an expression has none but these variables and sizes, and
// cannot fault.
static bool is_made_of(const struct uniform *u, const struct uniform_vars *vars,
                       const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES | OP_TOGETHER) ||
            x->op == OP_index ||
            (x->op == OP_var && x->u.var->kind != VAR_param &&
             !has(vars, x->u.var)))
            return false;
    return facts_is_total(u->facts, root);
}

bool uniform_is(const struct uniform *u, const struct ir_expr *x)
{
    return is_made_of(u, &u->vars, x);
}

// Learn that a name stands for a value.
static void enter_let(struct uniform *u, const struct ir_stmt *s)
{
    struct ir_expr *value = s->u.let.value;
    if (type_is_index(value->type) && ir_is_stable(value))
        map_set(&u->values, s->u.let.var,
                ir_substitute(u->arena, value, &u->values, NULL));
}

void uniform_enter(struct uniform *u, const struct ir_stmt *s)
{
    int64_t n;
    if (s->kind == STMT_let)
        enter_let(u, s);
    if (s->kind == STMT_for && ir_int_value(s->u.loop.from, &n) &&
        ir_int_value(s->u.loop.to, &n))
        vec_push(u->scratch, &u->counted, s->u.loop.var);
    facts_enter(u->facts, s);
}

struct uniform_mark uniform_mark(const struct uniform *u)
{
    return (struct uniform_mark){facts_mark(u->facts), u->vars.n, u->counted.n};
}

void uniform_leave(struct uniform *u, struct uniform_mark mark)
{
    facts_leave(u->facts, mark.facts);
    u->vars.n = mark.vars;
    u->counted.n = mark.counted;
}

// Return whether only these variables and sizes occur in a term.
static bool has_only(const struct uniform *u, const struct affine_term *t,
                     const struct uniform_vars *vars)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!is_made_of(u, vars, t->atoms[i]))
            return false;
    return true;
}

// Find a lower end of a sum of terms that are not uniform: those of the terms,
// or what a condition around says of the sum.  Returns false if there is none.
static bool least_of(const struct uniform *u, const struct affine *sum,
                     int64_t *least)
{
    *least = 0;
    for (size_t i = 0; i < sum->terms.n; i++) {
        struct affine one = {.terms = {&sum->terms.at[i], 1, 1}};
        int64_t low = facts_range_of(u->facts, &one).lo;
        if (!has_only(u, &sum->terms.at[i], &u->counted) || low == INT64_MIN ||
            low == INT64_MAX || !num_add(*least, low, least))
            return false;
    }
    for (size_t i = 0; i < u->facts->known.n; i++) {
        struct affine d =
            affine_add(u->scratch, sum, -1, &u->facts->known.at[i]);
        if (affine_is_number(&d) && d.constant > *least)
            *least = d.constant;
    }
    return true;
}

// Put a lower end of the terms that are not uniform in their place; false if
// they have none, or if no term is uniform.
static bool lower(const struct uniform *u, const struct affine *form,
                  struct affine *out)
{
    struct affine inner = affine_number(0), least;
    *out = affine_number(form->constant);
    for (size_t i = 0; i < form->terms.n; i++) {
        struct affine one = {.terms = {&form->terms.at[i], 1, 1}};
        bool stays = has_only(u, &form->terms.at[i], &u->vars);
        struct affine *part = stays ? out : &inner;
        *part = affine_add(u->scratch, part, 1, &one);
    }
    least = affine_number(0);
    if (inner.failed || out->terms.n == 0 ||
        !least_of(u, &inner, &least.constant))
        return false;
    *out = affine_add(u->scratch, out, 1, &least);
    return !out->failed;
}

// Find the bound that a condition has; false if it has none.
static bool bound_of(const struct look *l, struct ir_expr *condition,
                     struct affine *out)
{
    struct affine form, rest;
    int64_t factor;
    struct arena *a = l->u->scratch;
    struct ir_expr *x =
        ir_substitute(l->u->arena, condition, &l->u->values, NULL);
    if (x->n != 2 || !ir_is_stable(x) || !facts_form(a, x, &form) ||
        !lower(l->u, &form, out))
        return false;
    return !l->var ||
           (affine_linear(a, out, l->var, &factor, &rest) && factor < 0);
}

// Return whether x - y is a number, and which.
static bool differ_by_number(struct arena *a, const struct affine *x,
                             const struct affine *y, int64_t *number)
{
    struct affine d = affine_add(a, x, -1, y);
    *number = d.constant;
    return affine_is_number(&d);
}

// Keep the bound of a condition, unless what is known decides it.
static void keep(struct look *l, const struct affine *bound)
{
    int64_t more;
    struct arena *a = l->u->scratch;
    struct affine one = affine_number(-1);
    struct affine opposite = affine_add(a, &one, -1, bound);
    if (!l->var && facts_nonnegative(l->u->facts, &opposite))
        return;
    l->repeats = l->times > l->repeats ? l->times : l->repeats;
    for (size_t i = 0; i < l->bounds.n; i++) {
        if (!differ_by_number(a, bound, &l->bounds.at[i], &more))
            continue;
        if (more < 0)
            l->bounds.at[i] = *bound;
        return;
    }
    vec_push(a, &l->bounds, *bound);
}

// Return whether a condition follows from the bounds.
static bool follows(const struct look *l, struct ir_expr *condition)
{
    struct affine bound;
    int64_t more;
    if (!bound_of(l, condition, &bound))
        return false;
    for (size_t i = 0; i < l->bounds.n; i++)
        if (differ_by_number(l->u->scratch, &bound, &l->bounds.at[i], &more) &&
            more >= 0)
            return true;
    return false;
}

// Learn those parts of a conjunction that have no bound, and so stay; returns
// which have one.
static bool *assume_rest(struct look *l, const struct conditions *all)
{
    bool *bounded = arena_array(l->u->scratch, bool, all->n + 1);
    struct affine bound;
    for (size_t i = 0; i < all->n; i++)
        bounded[i] = bound_of(l, all->at[i], &bound);
    for (size_t i = 0; i < all->n; i++)
        if (!bounded[i])
            facts_assume(l->u->facts, all->at[i], true);
    return bounded;
}

// Look at a conjunction; returns it without what is dropped.
static struct ir_expr *look_at(struct look *l, struct ir_expr *condition)
{
    struct facts_mark here = facts_mark(l->u->facts);
    size_t kept = 0;
    struct conditions all = fold_split(l->u->scratch, condition);
    bool *bounded = assume_rest(l, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct affine bound;
        if (l->drops && bounded[i] && follows(l, all.at[i]))
            continue;
        if (!l->drops && bounded[i] && bound_of(l, all.at[i], &bound) &&
            !facts_holds(l->u->facts, all.at[i]))
            keep(l, &bound);
        all.at[kept++] = all.at[i];
    }
    facts_leave(l->u->facts, here);
    return kept == all.n ? condition : fold_all(l->u->arena, all.at, kept);
}

// Look at a selection of a constant where a condition does not hold.
static struct ir_expr *look_select(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    if (x->op != OP_select || !ir_is_const(x->args[2]))
        return x;
    struct ir_expr *condition = look_at(context, x->args[0]);
    if (condition == x->args[0])
        return x;
    struct ir_expr *r = ir_select(a, condition, x->args[1], x->args[2]);
    return ir_at(a, r, x->span);
}

// Return how often the body of a statement runs in one thread.
static int64_t times_of(struct look *l, const struct ir_stmt *s)
{
    int64_t n, product;
    if (s->kind != STMT_for || (axis_kind(s->u.loop.axis) != AXIS_SERIAL &&
                                axis_kind(s->u.loop.axis) != AXIS_UNROLL))
        return l->times;
    if (!ir_int_value(ir_for_extent(l->u->scratch, &s->u.loop), &n) ||
        !num_mul(n, l->times, &product))
        return INT64_MAX;
    return product;
}

static void look_block(struct look *l, struct ir_block *block);

// Look at what is inside a statement; all it says is learnt.
static void look_inside(struct look *l, struct ir_stmt *s)
{
    int64_t times = l->times;
    l->times = times_of(l, s);
    uniform_enter(l->u, s);
    if (s->kind == STMT_if && !s->u.branch.otherwise.n) {
        struct conditions all = fold_split(l->u->scratch, s->u.branch.cond);
        assume_rest(l, &all);
    }
    ir_foreach_block(inner, s)
        look_block(l, inner);
    l->times = times;
}

// Look at the statements of a block.
static void look_block(struct look *l, struct ir_block *block)
{
    struct uniform_mark here = uniform_mark(l->u);
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        struct uniform_mark before = uniform_mark(l->u);
        bool plain = s->kind == STMT_if && !s->u.branch.otherwise.n;
        struct ir_stmt *once = ir_at_once(l->u->arena, s);
        ir_foreach_place(place, once)
            *place = ir_rewrite(l->u->arena, *place, look_select, l);
        copies_again(l->u->arena, s, once);
        if (plain)
            s->u.branch.cond = look_at(l, s->u.branch.cond);
        look_inside(l, s);
        if (s->kind != STMT_let)
            uniform_leave(l->u, before);
        if (plain && l->drops && ir_is_true(s->u.branch.cond)) {
            struct ir_block then = s->u.branch.then;
            ir_splice(l->u->arena, block, i, &then);
            i += then.n;
        } else {
            i++;
        }
    }
    uniform_leave(l->u, here);
}

struct uniform_bounds uniform_find(struct uniform *u, struct ir_block *block,
                                   const struct ir_var *var, int64_t *repeats)
{
    struct look l = {.u = u, .var = var, .times = 1};
    look_block(&l, block);
    *repeats = l.repeats;
    return l.bounds;
}

void uniform_drop(struct uniform *u, struct ir_block *block,
                  const struct uniform_bounds *bounds)
{
    struct look l = {.u = u, .times = 1, .bounds = *bounds, .drops = true};
    look_block(&l, block);
}
