// Digits of a block's index.

#include "passes/proof/digits.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/proof/natural.h"

enum { DIVISORS_MOST = 8 };

// What is made of an index by divisions: index / at[n - 1] / ... / at[0], or, of
// that, the rest by a size.
struct division {
    const struct ir_expr *index;
    uint32_t n;
    struct ir_expr *at[DIVISORS_MOST];
    struct ir_expr *rest; // NULL: there is none
};

// Return whether an expression is such, by sizes.
static bool divide(const struct ir_expr *x, struct division *out)
{
    *out = (struct division){.rest = x->op == OP_mod ? x->args[1] : NULL};
    if (out->rest && !ir_is_of_params(out->rest))
        return false;
    for (x = out->rest ? x->args[0] : x; x->op == OP_div; x = x->args[0]) {
        if (out->n == DIVISORS_MOST || !ir_is_of_params(x->args[1]))
            return false;
        out->at[out->n++] = x->args[1];
    }
    out->index = x;
    return x->op == OP_index && axis_kind(x->u.axis) == AXIS_BLOCK;
}

// Take a factor out of a product of atoms; false if it is none of them.
static bool take_factor(struct ir_expr **atoms, uint32_t *n,
                        const struct ir_expr *factor)
{
    for (uint32_t i = 0; i < *n; i++) {
        if (!ir_expr_equal(atoms[i], factor))
            continue;
        atoms[i] = atoms[--*n];
        return true;
    }
    return false;
}

// Return whether none of some factors is ever negative.
static bool are_natural(const struct system *s, struct ir_expr *const *x,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!natural_is(s->facts, NULL, x[i]))
            return false;
    return true;
}

// Return the quotient of a grid by all sizes of a division, or NULL if they are
// not factors of it, or some may be negative.
static struct ir_expr *quotient_of(const struct system *s,
                                   const struct division *d)
{
    struct arena *a = s->arena;
    struct affine grid = affine_of(
        a, s->program->launch->grid[axis_dimension(d->index->u.axis)]);
    if (grid.failed || grid.constant || grid.terms.n != 1 ||
        grid.terms.at[0].factor != 1)
        return NULL;
    uint32_t n = grid.terms.at[0].n;
    struct ir_expr **atoms = arena_array(a, struct ir_expr *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        atoms[i] = grid.terms.at[0].atoms[i];
    if (!are_natural(s, atoms, n))
        return NULL;
    for (uint32_t i = 0; i < d->n; i++)
        if (!take_factor(atoms, &n, d->at[i]))
            return NULL;
    if (d->rest && !take_factor(atoms, &n, d->rest))
        return NULL;
    struct ir_expr *product = ir_int(a, 1);
    for (uint32_t i = 0; i < n; i++)
        product = i ? ir_mul(a, product, atoms[i]) : atoms[i];
    return product;
}

struct ir_expr *digit_end(const struct system *s, const struct ir_expr *x)
{
    struct division d;
    if ((x->op != OP_div && x->op != OP_mod) || !divide(x, &d))
        return NULL;
    struct ir_expr *quotient = quotient_of(s, &d);
    return quotient && d.rest ? d.rest : quotient;
}

// Return whether two digits of one index are different ones by the same sizes, or
// the same: divisors count from the index on.
static bool go_together(const struct division *x, const struct division *y)
{
    const struct division *more = x->n >= y->n ? x : y;
    const struct division *less = more == x ? y : x;
    for (uint32_t i = 0; i < less->n; i++)
        if (!ir_expr_equal(more->at[more->n - 1 - i],
                           less->at[less->n - 1 - i]))
            return false;
    if (more->n == less->n)
        return x->rest && y->rest ? ir_expr_equal(x->rest, y->rest)
                                  : !x->rest && !y->rest;
    return less->rest &&
           ir_expr_equal(more->at[more->n - 1 - less->n], less->rest);
}

bool digits_go_together(const struct system *s)
{
    struct division x, y;
    for (size_t i = 0; i < s->leaves.n; i++) {
        const struct ir_expr *of = s->leaves.at[i].expr;
        if (!divide(of, &x))
            continue;
        for (size_t k = 0; k < i; k++)
            if (divide(s->leaves.at[k].expr, &y) &&
                ir_expr_equal(x.index, y.index) && !go_together(&x, &y))
                return false;
    }
    return true;
}
