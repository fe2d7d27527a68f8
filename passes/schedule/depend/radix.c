// What an address determines, by reading each index as a number in mixed
// radix:
//
//   C[i_0 * 128 + i_1], i_1 in 0..128     determines i_0 and i_1
//   C[f / n, f % n]                       determines f / n and f % n, so f
//   C[f / 256, f / 128 % 2, f % 128]      determines f / 128, so f
//   C[i + j]                              determines nothing
//
// Two accesses agree on a digit if the parts that do not vary are equal, and the
// weights of it and of the digits in front.  A digit that both make of the same
// expression determines that.  What is not proved is not known.
//
//   C[i, 8 * j + k - n * i % 8]           determines i, and so j and k
//
// What one index determines does not vary in the others.  So do equations around
// both: where each is behind `if s == 1`, s is one number.

#include "passes/schedule/depend/access.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

// How an index is read.
struct reader {
    struct depend_nest *nest;
    const struct facts *facts;        // at its place
    const struct depend_known *known; // does not vary
};

// Return whether two iterations may see different values of an expression; not
// of the known variables.
static bool varies(const struct depend_nest *w, const struct depend_known *k,
                   struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_var && map_has(&w->varying, e->u.var) &&
            !depend_is_known(k, e->u.var))
            return true;
    return ir_flags(x) & (OP_READS | OP_WRITES);
}

// Return whether a term varies.
static bool term_varies(const struct reader *r, const struct affine_term *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (varies(r->nest, r->known, t->atoms[i]))
            return true;
    return false;
}

// Split a term into its weight and the one atom that varies.
// Returns false if none does, or several do.
static bool take_digit(const struct reader *r, const struct affine_term *t,
                       struct depend_digit *out)
{
    *out = (struct depend_digit){.weight = {.factor = t->factor}};
    out->weight.atoms =
        arena_array(r->nest->pass->scratch, struct ir_expr *, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!varies(r->nest, r->known, t->atoms[i]))
            out->weight.atoms[out->weight.n++] = t->atoms[i];
        else if (out->value)
            return false;
        else
            out->value = t->atoms[i];
    }
    return out->value != NULL;
}

// Return whether 0 <= rest < weight is proved.
static bool fits_below(const struct reader *r, const struct affine *rest,
                       const struct affine_term *weight)
{
    struct arena *a = r->nest->pass->scratch;
    struct affine one = affine_number(1), room;
    room = affine_scale(a, &one, weight);
    room = affine_add(a, &room, -1, rest);
    affine_offset(&room, -1);
    return facts_nonnegative(r->facts, rest) &&
           facts_nonnegative(r->facts, &room);
}

// Return whether a weight is not 0: each value of a digit is another number.
static bool counts(const struct reader *r, const struct affine_term *weight)
{
    struct affine one = affine_number(1);
    struct affine least = affine_scale(r->nest->pass->scratch, &one, weight);
    affine_offset(&least, -1);
    return !weight->n || facts_nonnegative(r->facts, &least);
}

// Move the leading digit of `rest` to `out`; false if none is leading.
static bool next_digit(const struct reader *r, struct affine *rest,
                       struct depend_radix *out)
{
    struct arena *a = r->nest->pass->scratch;
    for (size_t i = 0; i < rest->terms.n; i++) {
        struct depend_digit d;
        struct affine zero = affine_number(0), without = *rest;
        if (!take_digit(r, &rest->terms.at[i], &d))
            continue;
        struct affine one = affine_number(1);
        struct affine term = affine_scale(a, &one, &rest->terms.at[i]);
        without = affine_add(a, &without, -1, &term);
        if (without.terms.n ? !fits_below(r, &without, &d.weight)
                            : without.constant != 0 || !counts(r, &d.weight))
            continue;
        vec_push(a, &out->digits, d);
        *rest = affine_add(a, &without, 1, &zero);
        return true;
    }
    return false;
}

// Return an index as digits.
static struct depend_radix radix_of(const struct reader *r, struct ir_expr *x)
{
    struct arena *a = r->nest->pass->scratch;
    struct affine all = affine_of(a, x), rest = affine_number(0);
    struct depend_radix out = {.of = x, .base = affine_number(all.constant)};
    if (all.failed)
        return out;
    for (size_t i = 0; i < all.terms.n; i++) {
        struct affine term = {.terms = {&all.terms.at[i], 1, 1}};
        bool moves = term_varies(r, &all.terms.at[i]);
        struct affine *to = moves ? &rest : &out.base;
        *to = affine_add(a, to, 1, &term);
    }
    struct affine zero = affine_number(0);
    out.negated = rest.terms.n && rest.terms.at[0].factor < 0;
    if (out.negated)
        rest = affine_add(a, &zero, -1, &rest);
    while (rest.terms.n && next_digit(r, &rest, &out))
        continue;
    out.is_whole = !rest.terms.n;
    return out;
}

// Return the radix of an expression, or NULL.
static const struct depend_radix *find_radix(const struct depend_access *x,
                                             const struct ir_expr *of)
{
    const struct depend_reading *r = x->reading;
    for (size_t i = 0; i < r->radices.n; i++)
        if (ir_expr_equal(r->radices.at[i].of, of))
            return &r->radices.at[i];
    return NULL;
}

// Add the radices of the expressions that may become known from radix `i` of
// an access: what its quotients divide.
static void add_parts(const struct reader *reader,
                      const struct depend_access *x, size_t i)
{
    struct depend_reading *r = x->reading;
    for (size_t d = 0; d < r->radices.at[i].digits.n; d++) {
        struct ir_expr *part = r->radices.at[i].digits.at[d].value;
        if (part->op != OP_div && part->op != OP_cast)
            continue;
        if (!find_radix(x, part->args[0]))
            vec_push(reader->nest->pass->scratch, &r->radices,
                     radix_of(reader, part->args[0]));
    }
}

// Read the indices of an access, once.
static void read_radices(struct depend_nest *w, const struct depend_access *x)
{
    struct depend_known none = {0};
    struct depend_reading *r = x->reading;
    if (r->facts)
        return;
    r->facts = depend_facts_at(w, x);
    struct reader reader = {w, r->facts, &none};
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        vec_push(w->pass->scratch, &r->radices, radix_of(&reader, x->index[i]));
    for (size_t i = 0; i < r->radices.n; i++)
        add_parts(&reader, x, i);
}

// Return whether an expression is among the known ones.
static bool is_known(const struct depend_known *k, const struct ir_expr *x)
{
    for (size_t i = 0; i < k->n; i++)
        if (ir_expr_equal(k->at[i], x))
            return true;
    return false;
}

// Add an expression to the known ones.
static void know(struct depend_nest *w, struct depend_known *k,
                 struct ir_expr *x)
{
    if (!is_known(k, x))
        vec_push(w->pass->scratch, k, x);
}

// Return whether two digits have the same weight.
static bool same_weight(struct depend_nest *w, const struct depend_digit *x,
                        const struct depend_digit *y)
{
    struct affine_term rest;
    return x->weight.factor == y->weight.factor && x->weight.n == y->weight.n &&
           affine_atoms_divide(w->pass->scratch, &x->weight, &y->weight, &rest);
}

// Add what two equal numbers have in common: as long as the weights are the same,
// so are the digits, whatever they are made of.
static void know_common(struct depend_nest *w, struct depend_known *k,
                        const struct depend_radix *x,
                        const struct depend_radix *y)
{
    struct affine d = affine_add(w->pass->scratch, &x->base, -1, &y->base);
    if (d.failed || d.terms.n || d.constant || x->negated != y->negated)
        return;
    for (size_t i = 0; i < x->digits.n && i < y->digits.n; i++) {
        if (!same_weight(w, &x->digits.at[i], &y->digits.at[i]))
            return;
        if (ir_expr_equal(x->digits.at[i].value, y->digits.at[i].value))
            know(w, k, x->digits.at[i].value);
    }
}

// Add the dividend of x / n or x % n if both are known.
static void know_dividend(struct depend_nest *w, struct depend_known *k,
                          const struct ir_expr *x)
{
    vec_foreach_value(y, k) {
        enum ir_op other = x->op == OP_div ? OP_mod : OP_div;
        if (y->op == other && ir_expr_equal(x->args[0], y->args[0]) &&
            ir_expr_equal(x->args[1], y->args[1]) &&
            !varies(w, k, x->args[1])) {
            know(w, k, x->args[0]);
            return;
        }
    }
}

// Return whether an expression is the product of two others.
static bool is_product(struct arena *a, struct ir_expr *x, struct ir_expr *n,
                       struct ir_expr *m)
{
    struct affine form = affine_of(a, x), both = affine_of(a, ir_mul(a, n, m));
    struct affine rest = affine_add(a, &form, -1, &both);
    return !rest.failed && affine_is_number(&rest) && rest.constant == 0;
}

// Add the quotient x / n if x / n % m and x / (n * m) are known: of x / n, they
// are the last digit in the base m and those in front of it.
static void know_quotient(struct depend_nest *w, struct depend_known *k,
                          struct ir_expr *x, struct ir_expr *digit)
{
    struct ir_expr *quotient = digit->args[0];
    if (quotient->op == OP_div &&
        ir_expr_equal(x->args[0], quotient->args[0]) &&
        !varies(w, k, digit->args[1]) &&
        is_product(w->pass->scratch, x->args[1], quotient->args[1],
                   digit->args[1]))
        know(w, k, quotient);
}

// Add what known digits in front of, or behind, a quotient or a remainder make
// known.
static void know_joined(struct depend_nest *w, struct depend_known *k,
                        struct ir_expr *known)
{
    for (size_t i = 0; i < k->n; i++) {
        struct ir_expr *other = k->at[i];
        if (known->op == OP_div && other->op == OP_mod)
            know_quotient(w, k, known, other);
        if (known->op == OP_mod && other->op == OP_div)
            know_quotient(w, k, other, known);
    }
}

// Add what follows from a known expression in both accesses.
static void know_consequences(struct depend_nest *w, struct depend_known *k,
                              struct ir_expr *known,
                              const struct depend_access *x,
                              const struct depend_access *y)
{
    const struct depend_radix *in_x = find_radix(x, known);
    const struct depend_radix *in_y = find_radix(y, known);
    if (in_x && in_y)
        know_common(w, k, in_x, in_y);
    if (known->op == OP_div || known->op == OP_mod)
        know_dividend(w, k, known);
    know_joined(w, k, known);
    if (known->op == OP_cast && type_is_integer(known->args[0]->type) &&
        type_bits(known->args[0]->type) <= type_bits(known->type))
        know(w, k, known->args[0]);
}

// Read the indices that have a rest again, given what is known; returns whether
// that makes more known.
static bool read_again(struct depend_nest *w, struct depend_known *k,
                       const struct depend_access *x,
                       const struct depend_access *y)
{
    size_t before = k->n;
    struct reader of_x = {w, x->reading->facts, k};
    struct reader of_y = {w, y->reading->facts, k};
    for (uint32_t i = 0; i < x->buffer->rank && before; i++) {
        if (x->reading->radices.at[i].is_whole &&
            y->reading->radices.at[i].is_whole)
            continue;
        struct depend_radix in_x = radix_of(&of_x, x->index[i]);
        struct depend_radix in_y = radix_of(&of_y, y->index[i]);
        know_common(w, k, &in_x, &in_y);
    }
    return k->n > before;
}

// Return whether a step of a path is under that condition.
static bool is_under(const struct domain_step *step,
                     const struct ir_expr *condition)
{
    return step->condition && step->holds &&
           ir_expr_equal(step->condition, condition);
}

// Add what conditions around both accesses say to be equal to what does not vary.
static void know_pinned(struct depend_nest *w, struct depend_known *k,
                        const struct depend_access *x,
                        const struct depend_access *y)
{
    vec_foreach(step, &x->path) {
        const struct ir_expr *c = step->holds ? step->condition : NULL;
        bool is_shared = false;
        if (!c || c->op != OP_eq || !type_is_integer(c->args[0]->type) ||
            varies(w, k, c->args[1]))
            continue;
        vec_foreach(other, &y->path)
            is_shared |= is_under(other, c);
        if (is_shared)
            know(w, k, c->args[0]);
    }
}

struct depend_known depend_common(struct depend_nest *w,
                                  const struct depend_access *x,
                                  const struct depend_access *y)
{
    struct depend_known known = {0};
    size_t done = 0;
    read_radices(w, x);
    read_radices(w, y);
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        know_common(w, &known, &x->reading->radices.at[i],
                    &y->reading->radices.at[i]);
    know_pinned(w, &known, x, y);
    do {
        for (; done < known.n; done++)
            know_consequences(w, &known, known.at[done], x, y);
    } while (read_again(w, &known, x, y));
    return known;
}

bool depend_is_known(const struct depend_known *k, const struct ir_var *var)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->at[i]->op == OP_var && k->at[i]->u.var == var)
            return true;
    return false;
}
