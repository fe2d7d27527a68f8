// What is known to be a multiple of a number.

#include "passes/analysis/facts.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/equal.h"

// Return the value of an atom that has one alone, as a size has behind the guard
// `n == 64`, or 0.
static int64_t only_value(const struct facts *f, const struct ir_expr *x)
{
    const struct fact_var *var =
        x->op == OP_var ? facts_var(f, x->u.var) : NULL;
    return var && var->range.lo == var->range.hi ? var->range.lo : 0;
}

// Return a number that the atom is known to be a multiple of.
static int64_t atom_multiple(const struct facts *f, const struct ir_expr *x)
{
    int64_t best = 1, value = only_value(f, x);
    if (value > 0)
        return value;
    vec_foreach(m, &f->multiples) {
        int64_t both = best / num_gcd(best, m->of);
        if (ir_expr_equal(m->atom, x) && !num_mul(both, m->of, &best))
            return best;
    }
    return best;
}

// Return whether a remainder, which may be another atom, is a multiple of `of`:
// both operands are.
static bool remainder_multiple(const struct facts *f, const struct ir_expr *x,
                               int64_t of)
{
    if (x->op != OP_mod)
        return false;
    struct affine value = affine_of(f->arena, x->args[0]);
    struct affine by = affine_of(f->arena, x->args[1]);
    return facts_multiple(f, &value, of) && facts_multiple(f, &by, of);
}

// Return whether a term is a multiple of `of`.
static bool term_multiple(const struct facts *f, const struct affine_term *t,
                          int64_t of)
{
    int64_t left = of / num_gcd(of, t->factor);
    for (uint32_t i = 0; i < t->n && left > 1; i++) {
        left /= num_gcd(left, atom_multiple(f, t->atoms[i]));
        const struct fact_var *var =
            t->atoms[i]->op == OP_var ? facts_var(f, t->atoms[i]->u.var) : NULL;
        if (left > 1 && var && var->value) {
            struct affine value = affine_of(f->arena, var->value);
            if (facts_multiple(f, &value, left))
                left = 1;
        }
        if (left > 1 && remainder_multiple(f, t->atoms[i], left))
            left = 1;
    }
    return left == 1;
}

// Return the a % b of which a term is some times, if its difference from as many
// times a is a multiple of `of`, as that of a and a % b is one of b; or NULL. A
// variable is what it was declared as.
static struct ir_expr *remainder_of(const struct facts *f,
                                    const struct affine_term *t, int64_t of)
{
    int64_t by, period;
    struct ir_expr *x = t->atoms[0];
    const struct fact_var *var =
        x->op == OP_var ? facts_var(f, x->u.var) : NULL;
    if (var && var->value)
        x = var->value;
    return t->n == 1 && x->op == OP_mod && ir_int_value(x->args[1], &by) &&
                   num_mul(t->factor, by, &period) && period % of == 0
               ? x
               : NULL;
}

// Return the form with a in the place of each such a % b, which is a multiple of
// `of` if and only if the form is: x + y - x % 8 is one of 8 if y is.
static struct affine without_remainders(const struct facts *f,
                                        const struct affine *x, int64_t of)
{
    struct affine all = *x;
    for (size_t i = 0; i < x->terms.n; i++) {
        const struct affine_term *t = &x->terms.at[i];
        struct ir_expr *remainder = remainder_of(f, t, of);
        if (!remainder)
            continue;
        struct affine whole = affine_of(f->arena, remainder->args[0]);
        struct affine rest = affine_atom(f->arena, t->atoms[0]);
        all = affine_add(f->arena, &all, t->factor, &whole);
        all = affine_add(f->arena, &all, -t->factor, &rest);
    }
    return all;
}

// Return the form less as many times a sum that is known to be a multiple of some
// number as takes one of its terms away: x - y is one of 4 if x + 3 * y is.
static struct affine without_sum(const struct facts *f, const struct affine *x,
                                 const struct affine *sum)
{
    struct affine_term rest;
    for (size_t i = 0; i < sum->terms.n; i++)
        for (size_t k = 0; k < x->terms.n; k++) {
            const struct affine_term *t = &sum->terms.at[i];
            const struct affine_term *of = &x->terms.at[k];
            if (of->factor % t->factor ||
                !affine_atoms_divide(f->arena, t, of, &rest))
                continue;
            rest.factor = 1;
            struct affine one =
                rest.n ? affine_scale(f->arena, sum, &rest) : *sum;
            return affine_add(f->arena, x, -(of->factor / t->factor), &one);
        }
    return *x;
}

// Return the form less the sums that are known to be multiples of `of`.
static struct affine without_sums(const struct facts *f, const struct affine *x,
                                  int64_t of)
{
    struct affine all = *x;
    vec_foreach(m, &f->multiples) {
        struct affine sum = affine_of(f->arena, m->atom);
        if (m->of % of == 0 && !sum.failed && sum.terms.n > 1 && !all.failed)
            all = without_sum(f, &all, &sum);
    }
    return all;
}

// Return whether the constant and every term of a form are multiples of `of`.
static bool parts_are_multiples(const struct facts *f, const struct affine *x,
                                int64_t of)
{
    if (x->failed || x->constant % of)
        return false;
    for (size_t i = 0; i < x->terms.n; i++)
        if (!term_multiple(f, &x->terms.at[i], of))
            return false;
    return true;
}

bool facts_multiple(const struct facts *f, const struct affine *x, int64_t of)
{
    if (x->failed || of <= 0)
        return false;
    struct affine all = without_remainders(f, x, of);
    if (parts_are_multiples(f, &all, of))
        return true;
    if (all.failed || all.terms.n < 2)
        return false;
    all = without_sums(f, &all, of);
    return parts_are_multiples(f, &all, of);
}
