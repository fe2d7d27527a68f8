// Simplification of one expression under facts, from its leaves up.
//
//   (x / n) * n + x % n  =>  x
//   (a * c + b) / c      =>  a                 where 0 <= b < c
//   (a * c + b) % c      =>  b
//   (4 * a + b) / 16     =>  a / 4             where 0 <= b < 4
//   (4 * a + b) % 16     =>  4 * (a % 4) + b
//   4 * a + b < 4 * n    =>  4 * a < 4 * n     where 0 <= b < 4
//   c ? x : y            =>  x under c, y under not c
//
// Each rule makes the expression cheaper, or a divisor smaller: it ends.

#include "passes/opt/fold.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/equal.h"

// What a simplification carries.
struct fold {
    struct arena *arena; // of the result
    struct facts *facts; // in whose arena forms are
};

// Return what an expression costs to evaluate, roughly.
static unsigned cost(const struct ir_expr *x)
{
    unsigned sum = 1;
    if (x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv)
        sum = 6;
    for (uint32_t i = 0; i < x->n; i++)
        sum += cost(x->args[i]);
    return sum;
}

// Return the cheaper of two equal expressions, the first if they cost the
// same.
static struct ir_expr *cheaper(struct ir_expr *x, struct ir_expr *y)
{
    return cost(y) < cost(x) ? y : x;
}

// Return whether 0 <= x < y is proved.
static bool is_below(const struct fold *s, const struct affine *x,
                     const struct affine *y)
{
    struct affine room = affine_add(s->facts->arena, y, -1, x);
    affine_offset(&room, -1);
    return facts_nonnegative(s->facts, x) && facts_nonnegative(s->facts, &room);
}

// Return the normal form of one operation on index values.
static struct affine form_of(const struct fold *s, enum ir_op op,
                             struct ir_expr *x, struct ir_expr *y)
{
    return affine_of(s->facts->arena, ir_binary(s->arena, op, x, y));
}

// Look for f * (x / n) * n beside the term f * (x % n), and put f * x in place
// of both.
static bool join_remainder(const struct fold *s, struct affine *form,
                           const struct affine_term *t, uint32_t at)
{
    struct arena *a = s->facts->arena;
    struct ir_expr *x = t->atoms[at]->args[0], *n = t->atoms[at]->args[1];
    struct affine_term rest, mod = {.n = 1, .atoms = &t->atoms[at]};
    if (!affine_atoms_divide(a, &mod, t, &rest))
        return false;
    rest.factor = t->factor;
    struct ir_expr *quotient = ir_binary(s->arena, OP_div, x, n);
    struct affine whole = form_of(s, OP_mul, quotient, n);
    struct affine remainder = affine_of(a, t->atoms[at]);
    struct affine both = affine_add(a, &whole, 1, &remainder);
    both = affine_scale(a, &both, &rest);
    struct affine left = affine_add(a, form, -1, &both);
    if (left.failed || left.terms.n + 2 != form->terms.n)
        return false;
    struct affine value = affine_of(a, x);
    value = affine_scale(a, &value, &rest);
    *form = affine_add(a, &left, 1, &value);
    return true;
}

// Join a quotient with its remainder; false if there are none.
static bool join_some(const struct fold *s, struct affine *form)
{
    vec_foreach(t, &form->terms)
        for (uint32_t j = 0; j < t->n; j++)
            if (t->atoms[j]->op == OP_mod && join_remainder(s, form, t, j))
                return true;
    return false;
}

// Simplify a sum or a product of index values.
static struct ir_expr *fold_sum(const struct fold *s, struct ir_expr *x)
{
    struct affine form = affine_of(s->facts->arena, x);
    if (form.failed)
        return x;
    while (join_some(s, &form))
        continue;
    return form.failed ? x : cheaper(x, affine_expr(s->arena, &form, x->type));
}

static struct ir_expr *fold_node(const struct fold *s, struct ir_expr *x);

// Return an operation on index values, simplified.
static struct ir_expr *make(const struct fold *s, enum ir_op op,
                            struct ir_expr *x, struct ir_expr *y)
{
    return fold_node(s, ir_binary(s->arena, op, x, y));
}

// A quotient or remainder being simplified: value = divisor * quotient + rest.
struct division {
    struct ir_expr *expr; // the operation
    struct affine value, divisor, quotient, rest;
};

// Return x / divisor or x % divisor where the rest is proved below the
// divisor, or is 0; NULL if it is not.
static struct ir_expr *divide_exact(const struct fold *s,
                                    const struct division *d)
{
    bool none = affine_is_number(&d->rest) && d->rest.constant == 0;
    if (!none && (!is_below(s, &d->rest, &d->divisor) ||
                  !facts_nonnegative(s->facts, &d->value)))
        return NULL;
    return affine_expr(s->arena,
                       d->expr->op == OP_div ? &d->quotient : &d->rest,
                       d->expr->type);
}

// Return quotient + rest / divisor, or rest % divisor, where no part is
// negative; NULL if one may be or nothing is gained.
static struct ir_expr *divide_parts(const struct fold *s,
                                    const struct division *d)
{
    bool trivial = affine_is_number(&d->quotient) && d->quotient.constant == 0;
    if (trivial || !facts_nonnegative(s->facts, &d->divisor) ||
        !facts_nonnegative(s->facts, &d->quotient) ||
        !facts_nonnegative(s->facts, &d->rest))
        return NULL;
    struct type type = d->expr->type;
    struct ir_expr *rest = affine_expr(s->arena, &d->rest, type);
    struct ir_expr *r =
        ir_binary(s->arena, d->expr->op, rest, d->expr->args[1]);
    if (cost(r) >= cost(d->expr))
        return NULL;
    r = fold_node(s, r);
    if (d->expr->op == OP_div)
        r = make(s, OP_add, affine_expr(s->arena, &d->quotient, type), r);
    return r;
}

// Return the operation with value and divisor divided by g, a factor of the
// divisor: x / (g * c) is (x / g) / c, and x % (g * c) is
// g * (x / g % c) + x % g.  NULL where g does not divide a part of x whose
// rest is proved below g.
static struct ir_expr *divide_common(const struct fold *s,
                                     const struct division *d, int64_t g)
{
    struct affine by = affine_number(g), quotient, rest;
    bool is_mod = d->expr->op == OP_mod;
    if (!affine_divide(s->facts->arena, &d->value, &by, &quotient, &rest) ||
        (is_mod && rest.terms.n == 0) || !is_below(s, &rest, &by) ||
        !facts_nonnegative(s->facts, &d->value))
        return NULL;
    struct type type = d->expr->type;
    struct ir_expr *c = ir_const_int(s->arena, type, d->divisor.constant / g);
    struct ir_expr *r =
        make(s, d->expr->op, affine_expr(s->arena, &quotient, type), c);
    if (!is_mod)
        return r;
    r = ir_mul(s->arena, r, ir_const_int(s->arena, type, g));
    return ir_add(s->arena, r, affine_expr(s->arena, &rest, type));
}

// Try divide_common with each factor that a term shares with the divisor.
static struct ir_expr *divide_factors(const struct fold *s,
                                      const struct division *d)
{
    if (d->divisor.terms.n || d->divisor.constant <= 0)
        return NULL;
    for (size_t i = 0; i < d->value.terms.n; i++) {
        int64_t g = num_gcd(d->value.terms.at[i].factor, d->divisor.constant);
        struct ir_expr *r = NULL;
        if (g > 1 && g < d->divisor.constant)
            r = divide_common(s, d, g);
        if (r)
            return r;
    }
    return NULL;
}

// Return the operation without what never reaches the next multiple of g, which
// divides the divisor: with x = g * q + r and 0 <= r < g, x / y is g * q / y,
// and x % y is g * q % y + r.  NULL where it is not so.
static struct ir_expr *divide_aligned(const struct fold *s,
                                      const struct division *d, int64_t g)
{
    struct affine by = affine_number(g), quotient, rest;
    struct affine zero = affine_number(0);
    if (g < 2 || !facts_multiple(s->facts, &d->divisor, g) ||
        !affine_divide(s->facts->arena, &d->value, &by, &quotient, &rest) ||
        rest.terms.n == 0 || !is_below(s, &rest, &by) ||
        !facts_nonnegative(s->facts, &d->value))
        return NULL;
    struct type type = d->expr->type;
    quotient = affine_add(s->facts->arena, &zero, g, &quotient);
    struct ir_expr *r =
        make(s, d->expr->op, affine_expr(s->arena, &quotient, type),
             d->expr->args[1]);
    return d->expr->op == OP_div
               ? r
               : ir_add(s->arena, r, affine_expr(s->arena, &rest, type));
}

// Try divide_aligned with each factor of a term, for a divisor that is no
// number.
static struct ir_expr *divide_rows(const struct fold *s,
                                   const struct division *d)
{
    struct ir_expr *r = NULL;
    for (size_t i = 0; i < d->value.terms.n && d->divisor.terms.n && !r; i++) {
        int64_t factor = d->value.terms.at[i].factor;
        r = divide_aligned(s, d, factor < 0 ? -factor : factor);
    }
    return r;
}

// Join x / a / b to x / (a * b), and x % (a * b) % a to x % a; NULL if it has
// another form.
static struct ir_expr *divide_twice(const struct fold *s, struct ir_expr *x)
{
    struct ir_expr *inner = x->args[0];
    int64_t a, b, product;
    if (inner->op != x->op || !ir_int_value(inner->args[1], &a) ||
        !ir_int_value(x->args[1], &b) || a <= 0 || b <= 0)
        return NULL;
    if (x->op == OP_mod)
        return a % b ? NULL : make(s, OP_mod, inner->args[0], x->args[1]);
    if (!num_mul(a, b, &product))
        return NULL;
    return make(s, OP_div, inner->args[0],
                ir_const_int(s->arena, x->type, product));
}

// Simplify x / y or x % y.
static struct ir_expr *fold_division(const struct fold *s, struct ir_expr *x)
{
    struct division d = {.expr = x};
    d.value = affine_of(s->facts->arena, x->args[0]);
    d.divisor = affine_of(s->facts->arena, x->args[1]);
    struct ir_expr *r = divide_twice(s, x);
    if (!r && affine_divide(s->facts->arena, &d.value, &d.divisor, &d.quotient,
                            &d.rest)) {
        r = divide_exact(s, &d);
        r = r ? r : divide_parts(s, &d);
        r = r ? r : divide_factors(s, &d);
        r = r ? r : divide_rows(s, &d);
    } else if (!r && !d.value.failed && is_below(s, &d.value, &d.divisor)) {
        r = x->op == OP_mod ? x->args[0] : ir_const_int(s->arena, x->type, 0);
    }
    return r ? r : x;
}

// Turn ceildiv(x, c) into x / c where x is a multiple of c.
static struct ir_expr *fold_ceildiv(const struct fold *s, struct ir_expr *x)
{
    int64_t by;
    struct affine value = affine_of(s->facts->arena, x->args[0]);
    if (!ir_int_value(x->args[1], &by) || by <= 0 ||
        !facts_multiple(s->facts, &value, by))
        return x;
    return make(s, OP_div, x->args[0], x->args[1]);
}

// Return the operand that a minimum or maximum is proved to be.
static struct ir_expr *fold_extreme(const struct fold *s, struct ir_expr *x)
{
    struct ir_expr *le = ir_binary(s->arena, OP_le, x->args[0], x->args[1]);
    struct ir_expr *ge = ir_binary(s->arena, OP_ge, x->args[0], x->args[1]);
    bool is_min = x->op == OP_min;
    if (facts_holds(s->facts, is_min ? le : ge))
        return x->args[0];
    if (facts_holds(s->facts, is_min ? ge : le))
        return x->args[1];
    return x;
}

// Return the comparison 0 <= form of values of a type: negative terms on the
// left, the others on the right.
static struct ir_expr *comparison(struct arena *a, const struct affine *form,
                                  struct type type)
{
    struct affine left = affine_number(0), right = affine_number(0);
    for (size_t i = 0; i < form->terms.n; i++) {
        bool negative = form->terms.at[i].factor < 0;
        struct affine one = {.terms = {&form->terms.at[i], 1, 1}};
        struct affine *side = negative ? &left : &right;
        *side = affine_add(a, side, negative ? -1 : 1, &one);
    }
    bool strict = form->constant < 0 ||
                  (right.terms.n == 0 && form->constant < INT64_MAX);
    int64_t constant = form->constant + strict;
    if (constant < 0)
        left.constant = -constant;
    else
        right.constant = constant;
    return ir_binary(a, strict ? OP_lt : OP_le, affine_expr(a, &left, type),
                     affine_expr(a, &right, type));
}

// Drop from 0 <= form what cannot decide: with g * A + r where r stays between
// two neighbouring multiples of g, only A counts.
static bool drop_rest(const struct fold *s, struct affine *form, int64_t g)
{
    struct arena *a = s->facts->arena;
    struct affine kept = affine_number(0), rest = affine_number(form->constant);
    for (size_t i = 0; i < form->terms.n; i++) {
        struct affine one = {.terms = {&form->terms.at[i], 1, 1}};
        struct affine *side = facts_multiple(s->facts, &one, g) ? &kept : &rest;
        *side = affine_add(a, side, 1, &one);
    }
    struct interval r = facts_range_of(s->facts, &rest);
    if (rest.terms.n == 0 || rest.failed || kept.terms.n == 0 ||
        r.lo <= INT64_MIN / 2 || r.hi >= INT64_MAX / 2)
        return false;
    int64_t low = r.lo / g * g - (r.lo % g < 0 ? g : 0);
    if (r.hi >= low + g)
        return false;
    kept.constant = low == -g ? -1 : low;
    *form = kept;
    return true;
}

struct ir_expr *fold_condition(struct arena *a, const struct affine *form)
{
    return comparison(a, form, type_scalar(TYPE_int));
}

// Simplify a comparison of index values that is not decided.
static struct ir_expr *fold_comparison(const struct fold *s, struct ir_expr *x)
{
    struct affine form;
    if (!facts_form(s->facts->arena, x, &form))
        return x;
    for (size_t i = 0; i < form.terms.n; i++) {
        int64_t g = form.terms.at[i].factor;
        g = g < 0 ? -g : g;
        if (g > 1 && drop_rest(s, &form, g))
            return comparison(s->arena, &form, x->args[0]->type);
    }
    return cheaper(x, comparison(s->arena, &form, x->args[0]->type));
}

// Make one choice of two with the same number otherwise: b ? (c ? x : 0) : 0 is
// (b && c) ? x : 0, the form of a padded copy.
static struct ir_expr *fold_select(const struct fold *s, struct ir_expr *x)
{
    struct ir_expr *inner = x->args[1];
    if (inner->op != OP_select || !ir_is_const(x->args[2]) ||
        !ir_expr_equal(inner->args[2], x->args[2]))
        return x;
    return ir_select(s->arena,
                     ir_binary(s->arena, OP_and, x->args[0], inner->args[0]),
                     inner->args[1], x->args[2]);
}

// Simplify an operation whose operands are simplified.
static struct ir_expr *fold_node(const struct fold *s, struct ir_expr *x)
{
    if (x->op == OP_select)
        return fold_select(s, x);
    if (x->n == 2 && x->type.kind == TYPE_bool) {
        enum truth t =
            ir_is_pure(x, false) ? facts_decide(s->facts, x) : TRUTH_UNKNOWN;
        return t == TRUTH_UNKNOWN ? fold_comparison(s, x)
                                  : ir_bool(s->arena, t == TRUTH_TRUE);
    }
    if (!type_is_index(x->type) || x->type.lanes != 1)
        return x;
    switch ((int)x->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_neg: return fold_sum(s, x);
    case OP_div:
    case OP_mod: return fold_division(s, x);
    case OP_ceildiv: return fold_ceildiv(s, x);
    case OP_min:
    case OP_max: return fold_extreme(s, x);
    default: return x;
    }
}

// Simplify an operand that is evaluated only where a condition has a value.
static struct ir_expr *fold_under(const struct fold *s, struct ir_expr *c,
                                  bool holds, struct ir_expr *x)
{
    struct facts_mark here = facts_mark(s->facts);
    facts_assume(s->facts, c, holds);
    struct ir_expr *r = fold_expr(s->arena, s->facts, x);
    facts_leave(s->facts, here);
    return r;
}

// Simplify the operands; those of lazy operations under their conditions.
static struct ir_expr *fold_operands(const struct fold *s, struct ir_expr *x)
{
    struct ir_expr **args = arena_array(s->arena, struct ir_expr *, x->n);
    bool changed = false;
    for (uint32_t i = 0; i < x->n; i++) {
        bool lazy = ir_op_info(x->op)->flags & OP_LAZY;
        bool holds = x->op == OP_and || (x->op == OP_select && i == 1);
        args[i] = lazy && i ? fold_under(s, args[0], holds, x->args[i])
                            : fold_expr(s->arena, s->facts, x->args[i]);
        changed |= args[i] != x->args[i];
    }
    return changed ? ir_at(s->arena, ir_with_args(s->arena, x, args), x->span)
                   : x;
}

struct ir_expr *fold_expr(struct arena *a, struct facts *f, struct ir_expr *x)
{
    struct fold s = {a, f};
    if (x->n == 0)
        return x;
    struct ir_expr *y = fold_operands(&s, x);
    struct ir_expr *r = fold_node(&s, y);
    return r == x ? x : ir_at(a, r, x->span);
}

struct ir_expr *fold_root(struct arena *a, struct facts *f, struct ir_expr *x)
{
    struct fold s = {a, f};
    return ir_at(a, fold_node(&s, x), x->span);
}

struct conditions fold_split(struct arena *a, struct ir_expr *x)
{
    struct conditions all = {0};
    if (x)
        fold_append(a, x, &all);
    return all;
}

void fold_append(struct arena *a, struct ir_expr *x, struct conditions *out)
{
    if (x->op == OP_and) {
        fold_append(a, x->args[0], out);
        fold_append(a, x->args[1], out);
    } else {
        vec_push(a, out, x);
    }
}

struct ir_expr *fold_all(struct arena *a, struct ir_expr *const *conditions,
                         size_t n)
{
    struct ir_expr *r = ir_bool(a, true);
    for (size_t i = 0; i < n; i++)
        r = ir_binary(a, OP_and, r, conditions[i]);
    return r;
}
