// Normal form of index expressions: a sum of products of atoms.

#include "ir/affine.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

#include <string.h>

// Replace a coefficient by its product with a number.
// Return false if the result has no magnitude.
static bool scale_by(int64_t *x, int64_t number)
{
    return num_mul(*x, number, x) && *x != INT64_MIN;
}

// The same for the sum.
static bool increase_by(int64_t *x, int64_t number)
{
    return num_add(*x, number, x) && *x != INT64_MIN;
}

// Return whether two terms have the same atoms, in any order.
static bool same_atoms(struct arena *a, const struct affine_term *x,
                       const struct affine_term *y)
{
    struct affine_term rest;
    if (x->n == 1 && y->n == 1)
        return ir_expr_equal(x->atoms[0], y->atoms[0]);
    return x->n == y->n && affine_atoms_divide(a, x, y, &rest);
}

// Add factor * term to x, merging it with a term of the same atoms.
static void add_term(struct arena *a, struct affine *x, int64_t factor,
                     const struct affine_term *term)
{
    struct affine_term new = *term;
    x->failed |= !scale_by(&new.factor, factor);
    if (x->failed || new.factor == 0)
        return;
    for (size_t i = 0; i < x->terms.n; i++) {
        struct affine_term *old = &x->terms.at[i];
        if (!same_atoms(a, old, term))
            continue;
        x->failed |= !increase_by(&old->factor, new.factor);
        if (old->factor == 0) {
            memmove(old, old + 1, (x->terms.n - i - 1) * sizeof *old);
            x->terms.n--;
        }
        return;
    }
    vec_push(a, &x->terms, new);
}

// Return a form that shares no storage with x, with room for `n` more terms.
static struct affine copy(struct arena *a, const struct affine *x, size_t n)
{
    struct affine r = *x;
    r.terms.cap = x->terms.n + n;
    r.terms.at = arena_array(a, struct affine_term, r.terms.cap);
    if (x->terms.n)
        memcpy(r.terms.at, x->terms.at, x->terms.n * sizeof *x->terms.at);
    return r;
}

struct affine affine_number(int64_t value)
{
    return (struct affine){.constant = value, .failed = value == INT64_MIN};
}

struct affine affine_atom(struct arena *a, struct ir_expr *x)
{
    struct {
        struct affine_term term;
        struct ir_expr *atom;
    } *one = arena_alloc(a, sizeof *one);
    one->atom = x;
    one->term = (struct affine_term){.factor = 1, .n = 1, .atoms = &one->atom};
    return (struct affine){.terms = {&one->term, 1, 1}};
}

// Of two forms one of which is a number, the sum shares the terms of the other:
// forms stay as they are.
struct affine affine_add(struct arena *a, const struct affine *x,
                         int64_t factor, const struct affine *y)
{
    struct affine r = y->terms.n ? copy(a, x, y->terms.n) : *x;
    int64_t constant = y->constant;
    r.failed |= y->failed || !scale_by(&constant, factor) ||
                !increase_by(&r.constant, constant);
    for (size_t i = 0; i < y->terms.n && !r.failed; i++)
        add_term(a, &r, factor, &y->terms.at[i]);
    return r;
}

void affine_offset(struct affine *x, int64_t number)
{
    x->failed |= !increase_by(&x->constant, number);
}

// Return the product of two terms; the factor is left to the caller.
static struct affine_term join_atoms(struct arena *a,
                                     const struct affine_term *x,
                                     const struct affine_term *y)
{
    struct affine_term r = {.n = x->n + y->n};
    r.atoms = arena_array(a, struct ir_expr *, r.n);
    if (x->n)
        memcpy(r.atoms, x->atoms, x->n * sizeof *x->atoms);
    if (y->n)
        memcpy(r.atoms + x->n, y->atoms, y->n * sizeof *y->atoms);
    return r;
}

struct affine affine_scale(struct arena *a, const struct affine *x,
                           const struct affine_term *by)
{
    struct affine r = {.failed = x->failed};
    for (size_t i = 0; i < x->terms.n && !r.failed; i++) {
        struct affine_term t = join_atoms(a, &x->terms.at[i], by);
        t.factor = by->factor;
        add_term(a, &r, x->terms.at[i].factor, &t);
    }
    struct affine_term last = *by;
    r.failed |= !scale_by(&last.factor, x->constant);
    if (by->n == 0)
        r.constant = last.factor;
    else
        add_term(a, &r, 1, &last);
    return r;
}

struct affine affine_mul(struct arena *a, const struct affine *x,
                         const struct affine *y)
{
    struct affine r = {.failed = x->failed || y->failed};
    for (size_t i = 0; i < y->terms.n && !r.failed; i++) {
        struct affine part = affine_scale(a, x, &y->terms.at[i]);
        r = affine_add(a, &r, 1, &part);
    }
    return affine_add(a, &r, y->constant, x);
}

struct affine affine_of(struct arena *a, struct ir_expr *x)
{
    int64_t value;
    if (ir_int_value(x, &value))
        return affine_number(value);
    bool is_sum = x->op == OP_add || x->op == OP_sub;
    if (!type_is_index(x->type) || x->type.lanes != 1 ||
        (!is_sum && x->op != OP_mul && x->op != OP_neg))
        return affine_atom(a, x);
    struct affine first = affine_of(a, x->args[0]);
    if (x->op == OP_neg) {
        struct affine zero = affine_number(0);
        return affine_add(a, &zero, -1, &first);
    }
    struct affine second = affine_of(a, x->args[1]);
    if (is_sum)
        return affine_add(a, &first, x->op == OP_add ? 1 : -1, &second);
    return affine_mul(a, &first, &second);
}

// Return the atoms of a term times the magnitude of its factor.
static struct ir_expr *term_expr(struct arena *a, const struct affine_term *t,
                                 struct type type)
{
    struct ir_expr *r = t->atoms[0];
    for (uint32_t i = 1; i < t->n; i++)
        r = ir_mul(a, r, t->atoms[i]);
    int64_t magnitude = t->factor < 0 ? -t->factor : t->factor;
    return ir_mul(a, r, ir_const_int(a, type, magnitude));
}

struct ir_expr *affine_expr(struct arena *a, const struct affine *x,
                            struct type type)
{
    struct ir_expr *r = NULL;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (size_t i = 0; i < x->terms.n; i++) {
            const struct affine_term *t = &x->terms.at[i];
            if ((t->factor > 0) != (sign > 0))
                continue;
            struct ir_expr *y = term_expr(a, t, type);
            if (!r && sign < 0)
                r = ir_const_int(a, type, x->constant);
            r = !r ? y : ir_binary(a, sign > 0 ? OP_add : OP_sub, r, y);
        }
        if (sign > 0 && r && x->constant < 0 && x->constant != INT64_MIN)
            r = ir_sub(a, r, ir_const_int(a, type, -x->constant));
        else if (sign > 0 && r)
            r = ir_add(a, r, ir_const_int(a, type, x->constant));
    }
    return r ? r : ir_const_int(a, type, x->constant);
}

bool affine_is_number(const struct affine *x)
{
    return !x->failed && x->terms.n == 0;
}

// Return the place of an atom in a term among those that are left, or the
// number of its atoms.
static uint32_t find_atom(const struct affine_term *t, uint64_t left,
                          const struct ir_expr *atom)
{
    uint32_t i = 0;
    while (i < t->n && (!(left >> i & 1) || t->atoms[i]->op != atom->op ||
                        !ir_expr_equal(t->atoms[i], atom)))
        i++;
    return i;
}

bool affine_atoms_divide(struct arena *a, const struct affine_term *part,
                         const struct affine_term *whole,
                         struct affine_term *rest)
{
    uint64_t left = ~(uint64_t)0;
    if (part->n > whole->n || whole->n > 64)
        return false;
    for (uint32_t i = 0; i < part->n; i++) {
        uint32_t j = find_atom(whole, left, part->atoms[i]);
        if (j == whole->n)
            return false;
        left &= ~((uint64_t)1 << j);
    }
    *rest = (struct affine_term){.factor = 1};
    if (part->n == whole->n)
        return true;
    rest->atoms = arena_array(a, struct ir_expr *, whole->n - part->n);
    for (uint32_t i = 0; i < whole->n; i++) {
        if (left >> i & 1)
            rest->atoms[rest->n++] = whole->atoms[i];
    }
    return true;
}

// Return the only term of a divisor, or its number as one without atoms.
static bool single_term(const struct affine *x, struct affine_term *out)
{
    *out = (struct affine_term){.factor = x->constant};
    if (x->terms.n == 1 && x->constant == 0)
        *out = x->terms.at[0];
    else if (x->terms.n)
        return false;
    return !x->failed && out->factor != 0 && out->factor != INT64_MIN;
}

// Split a number into d * quotient + rest with 0 <= rest < |d|.
static void divide_floor(int64_t x, int64_t d, int64_t *quotient, int64_t *rest)
{
    int64_t magnitude = d < 0 ? -d : d;
    int64_t r = x % magnitude;
    r = r < 0 ? r + magnitude : r;
    bool fits = num_sub(x, r, quotient);
    *quotient = fits ? *quotient / d : 0;
    *rest = fits ? r : x;
}

bool affine_divide(struct arena *a, const struct affine *x,
                   const struct affine *divisor, struct affine *quotient,
                   struct affine *rest)
{
    struct affine_term d, left;
    if (x->failed || !single_term(divisor, &d))
        return false;
    *quotient = *rest = affine_number(0);
    if (d.n == 0)
        divide_floor(x->constant, d.factor, &quotient->constant,
                     &rest->constant);
    else
        rest->constant = x->constant;
    for (size_t i = 0; i < x->terms.n; i++) {
        const struct affine_term *t = &x->terms.at[i];
        bool divides =
            t->factor % d.factor == 0 && affine_atoms_divide(a, &d, t, &left);
        if (!divides) {
            add_term(a, rest, 1, t);
        } else if (left.n == 0) {
            affine_offset(quotient, t->factor / d.factor);
        } else {
            add_term(a, quotient, t->factor / d.factor, &left);
        }
    }
    return !quotient->failed && !rest->failed;
}

bool affine_linear(struct arena *a, const struct affine *x,
                   const struct ir_var *var, int64_t *factor,
                   struct affine *rest)
{
    *factor = 0;
    *rest = affine_number(x->constant);
    rest->failed = x->failed;
    for (size_t i = 0; i < x->terms.n; i++) {
        const struct affine_term *t = &x->terms.at[i];
        if (!ir_any_mentions(t->n, t->atoms, var))
            add_term(a, rest, 1, t);
        else if (t->n == 1 && t->atoms[0]->op == OP_var)
            *factor = t->factor;
        else
            return false;
    }
    return !x->failed;
}
