// What one index says of the region of its array: the index is a sum of what
// is fixed and what moves, and the ranges of the latter give its ends.

#include "passes/analysis/region_index.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

#include <stdlib.h>

// No tile is so long: a greater end is the bound of a size.
enum { TILE_MOST = 1 << 18 };

// What an expression is made of.
struct parts {
    bool has_fixed, has_moving;
};

// Look at what an expression is made of.
static void note_parts(const struct region_question *q, const struct ir_expr *x,
                       struct parts *p)
{
    p->has_moving |= (ir_flags(x) & (OP_READS | OP_WRITES)) != 0;
    ir_foreach_expr(e, x) {
        if (e->op != OP_var)
            continue;
        if (e->u.var->kind == VAR_param || map_has(q->fixed, e->u.var))
            p->has_fixed = true;
        else
            p->has_moving = true;
    }
}

// Return x + term.
static struct affine plus_term(struct arena *a, const struct affine *x,
                               const struct affine_term *term)
{
    struct affine one = {.terms = {(struct affine_term *)term, 1, 1}};
    return affine_add(a, x, 1, &one);
}

// Return an index with numbers for the variables that have one value only, as those
// of loops over a head in (h + head) / 4.
static struct ir_expr *without_units(const struct region_place *at,
                                     struct ir_expr *index)
{
    struct arena *a = at->q->arena;
    struct map units = {.arena = at->q->scratch};
    ir_foreach_expr(x, index) {
        if (x->op != OP_var || !map_get(&at->loops, x->u.var))
            continue;
        struct interval r = facts_range(&at->facts, x);
        if (r.lo == r.hi)
            map_set(&units, x->u.var, ir_const_int(a, x->type, r.lo));
    }
    return ir_substitute(a, index, &units, NULL);
}

// Split an index as it is.
static bool split(const struct region_place *at, struct ir_expr *index,
                  struct affine *base, struct affine *rest)
{
    struct arena *a = at->q->arena;
    struct affine form = affine_of(a, index), fixed = affine_number(0);
    *rest = affine_number(form.constant);
    for (size_t i = 0; i < form.terms.n; i++) {
        struct parts parts = {0};
        for (uint32_t k = 0; k < form.terms.at[i].n; k++)
            note_parts(at->q, form.terms.at[i].atoms[k], &parts);
        if (parts.has_fixed && parts.has_moving)
            return false;
        struct affine *side = parts.has_fixed ? &fixed : rest;
        *side = plus_term(a, side, &form.terms.at[i]);
    }
    struct ir_expr *x = affine_expr(a, &fixed, index->type);
    *base = affine_of(a, ir_substitute(a, x, at->q->fixed, NULL));
    rest->failed |= base->failed ||
                    !num_add(rest->constant, base->constant, &rest->constant);
    base->constant = 0;
    return !form.failed && !rest->failed && type_is_index(index->type);
}

bool region_split(const struct region_place *at, struct ir_expr *index,
                  struct affine *base, struct affine *rest)
{
    return split(at, index, base, rest) ||
           split(at, without_units(at, index), base, rest);
}

// Return x / by, rounded down; `by` is positive.
static int64_t floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

// Lower *most, a bound of x, with a fact: n * x is at most n * x + m * fact,
// where m and n take a term of x away.
static void refine(const struct region_place *at, const struct affine *x,
                   const struct affine *fact, int64_t *most)
{
    struct arena *a = at->q->scratch;
    struct affine_term rest;
    struct affine zero = affine_number(0);
    for (size_t i = 0; i < x->terms.n * fact->terms.n; i++) {
        const struct affine_term *t = &x->terms.at[i / fact->terms.n];
        const struct affine_term *by = &fact->terms.at[i % fact->terms.n];
        if ((t->factor > 0) == (by->factor > 0) || t->n != by->n ||
            !affine_atoms_divide(a, t, by, &rest))
            continue;
        int64_t g = num_gcd(t->factor, by->factor);
        int64_t n = llabs(by->factor / g), m = llabs(t->factor / g);
        struct affine sum = affine_add(a, &zero, n, x);
        sum = affine_add(a, &sum, m, fact);
        int64_t hi = facts_range_of(&at->facts, &sum).hi;
        if (hi != INT64_MAX && hi != INT64_MIN && floor_div(hi, n) < *most)
            *most = floor_div(hi, n);
    }
}

static struct interval moving_range(const struct region_place *at,
                                    const struct affine *x);

// Return the range of an atom: of quotients and remainders by what is known
// of the dividend.
static struct interval atom_range(const struct region_place *at,
                                  struct ir_expr *x)
{
    int64_t by;
    if ((x->op != OP_div && x->op != OP_mod) || !type_is_index(x->type) ||
        !ir_int_value(x->args[1], &by) || by <= 0)
        return facts_range(&at->facts, x);
    struct affine dividend = affine_of(at->q->scratch, x->args[0]);
    struct interval r = moving_range(at, &dividend), of = interval_of(by);
    return x->op == OP_div ? interval_div(r, of) : interval_mod(r, of);
}

// Return the range of the part of an index that moves.
static struct interval moving_range(const struct region_place *at,
                                    const struct affine *x)
{
    struct interval r = interval_of(x->constant);
    struct affine zero = affine_number(0);
    struct affine minus = affine_add(at->q->scratch, &zero, -1, x);
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < x->terms.n; i++) {
        struct interval product = interval_of(x->terms.at[i].factor);
        for (uint32_t k = 0; k < x->terms.at[i].n; k++)
            product =
                interval_mul(product, atom_range(at, x->terms.at[i].atoms[k]));
        r = interval_add(r, product);
    }
    for (size_t i = 0; i < at->facts.known.n; i++) {
        refine(at, x, &at->facts.known.at[i], &r.hi);
        refine(at, &minus, &at->facts.known.at[i], &most);
    }
    if (most != INT64_MAX && most != INT64_MIN && -most > r.lo)
        r.lo = -most;
    return r;
}

// Return the greatest (or least) value of factor * v, v in 0 .. a size, as a sum
// of sizes; `failed` if the term is not like that.
static struct affine end_by_size(const struct region_place *at,
                                 const struct affine_term *t, bool greatest)
{
    struct affine end = affine_number(0), one = affine_number(1);
    struct ir_expr *v = t->atoms[0];
    const struct ir_for *loop =
        t->n == 1 && v->op == OP_var ? map_get(&at->loops, v->u.var) : NULL;
    struct parts parts = {0};
    if (loop)
        note_parts(at->q, loop->to, &parts);
    end.failed = !loop || parts.has_moving || !ir_is_int_const(loop->from, 0);
    if (end.failed || greatest != (t->factor > 0))
        return end;
    struct affine to = affine_of(at->q->arena, loop->to);
    end = affine_add(at->q->arena, &end, t->factor, &to);
    return affine_add(at->q->arena, &end, -t->factor, &one);
}

// Return whether a number may be the end of a tile.
static bool is_near(int64_t end)
{
    return end > -TILE_MOST && end < TILE_MOST;
}

// Return whether a number is one, and not an end that is open.
static bool is_finite(int64_t end)
{
    return end != INT64_MIN && end != INT64_MAX;
}

// Return the greatest (or least) value of a term: the number `known` if that
// is near, else in terms of sizes if that can be said.
static struct affine end_of_term(const struct region_place *at,
                                 const struct affine_term *t, int64_t known,
                                 bool greatest)
{
    struct affine end = affine_number(known);
    if (!is_near(known))
        end = end_by_size(at, t, greatest);
    return end.failed && is_finite(known) ? affine_number(known) : end;
}

// Return the greatest (or least) value of the part of an index that moves:
// the number `known` if that is near, else in terms of sizes if that can be
// said.
static struct affine end_of(const struct region_place *at,
                            const struct affine *x, int64_t known,
                            bool greatest)
{
    struct affine end = affine_number(known);
    if (is_near(known))
        return end;
    end = affine_number(x->constant);
    vec_foreach(t, &x->terms) {
        struct affine zero = affine_number(0);
        struct affine alone = plus_term(at->q->arena, &zero, t);
        struct interval r = moving_range(at, &alone);
        struct affine part =
            end_of_term(at, t, greatest ? r.hi : r.lo, greatest);
        end = affine_add(at->q->arena, &end, 1, &part);
    }
    return end.failed && is_finite(known) ? affine_number(known) : end;
}

static bool is_counting(const struct region_place *at, const struct affine *x);

// Return the loop that counts a variable up from 0 by 1, or NULL.
static const struct ir_for *counter_of(const struct region_place *at,
                                       const struct ir_expr *x)
{
    const struct ir_for *loop =
        x->op == OP_var ? map_get(&at->loops, x->u.var) : NULL;
    bool counts = loop && ir_for_counts(loop);
    return counts ? loop : NULL;
}

// Return how many values factor * v has if v takes all from 0 on, else 0.
static int64_t digit_extent(const struct region_place *at,
                            const struct affine_term *t)
{
    struct ir_expr *v = t->atoms[0];
    bool is_part = v->op == OP_div || v->op == OP_mod;
    struct affine whole = affine_of(at->q->scratch, is_part ? v->args[0] : v);
    if (t->n != 1 || t->factor < 1 || whole.failed ||
        !(is_part ? is_counting(at, &whole) : counter_of(at, v) != NULL))
        return 0;
    struct interval r = atom_range(at, v);
    return r.lo == 0 && r.hi < INT32_MAX ? r.hi + 1 : 0;
}

// Return whether a sum takes all values from 0 to its greatest: its terms are
// the digits of a number whose weights fit, as of 8 * i + j, j in 0..8.
static bool is_counting(const struct region_place *at, const struct affine *x)
{
    int64_t weight = 1;
    bool *used = arena_array(at->q->scratch, bool, x->terms.n + 1);
    int64_t *extents = arena_array(at->q->scratch, int64_t, x->terms.n + 1);
    size_t found = 0, last;
    for (size_t i = 0; i < x->terms.n; i++)
        extents[i] = digit_extent(at, &x->terms.at[i]);
    do {
        last = found;
        for (size_t i = 0; i < x->terms.n; i++) {
            int64_t n = extents[i];
            if (used[i] || n == 0 || n > INT32_MAX / weight ||
                (n > 1 && x->terms.at[i].factor != weight))
                continue;
            weight *= n;
            used[i] = true;
            found++;
        }
    } while (found > last);
    return x->constant == 0 && found == x->terms.n;
}

// Return whether the part of an index that moves takes all values between its
// ends.
static bool takes_all(const struct region_place *at, const struct affine *x)
{
    struct affine moving = *x;
    moving.constant = 0;
    bool is_loop = x->terms.n == 1 && x->terms.at[0].n == 1 &&
                   x->terms.at[0].factor == 1 &&
                   counter_of(at, x->terms.at[0].atoms[0]);
    return is_loop || is_counting(at, &moving);
}

struct region_dim region_of_index(const struct region_place *at,
                                  struct ir_expr *index)
{
    struct region_dim d = {0};
    struct affine rest;
    d.is_known = region_split(at, index, &d.base, &rest);
    if (!d.is_known)
        return d;
    struct interval r = moving_range(at, &rest);
    d.lo = end_of(at, &rest, r.lo, false);
    d.hi = end_of(at, &rest, r.hi, true);
    d.is_known = !d.lo.failed && !d.hi.failed;
    d.is_dense = d.is_known && takes_all(at, &rest);
    return d;
}
