// Which part of an array the statements of a kernel touch.

#include "passes/analysis/region.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

#include <stdlib.h>

// A walk over the kernel: it collects accesses, or moves their indices.
struct region_walk {
    const struct region_question *q;
    struct facts facts;
    struct map names; // iteration variables and `let`s -> what they stand for
    struct map loops; // variable -> its ir_for
    bool is_inside;   // below q->within
    struct region *out;
    const bool *moves; // NULL: collect
};

// What an expression is made of.
struct parts {
    const struct region_question *q;
    bool has_fixed, has_moving;
};

// Look at a part.
static void see_part(struct ir_expr *x, void *context)
{
    struct parts *p = context;
    if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
        p->has_moving = true;
    if (x->op != OP_var)
        return;
    if (x->u.var->kind == VAR_param || map_has(p->q->fixed, x->u.var))
        p->has_fixed = true;
    else
        p->has_moving = true;
}

// Return an expression in the variables of loops and parameters, simplified.
static struct ir_expr *expand(struct region_walk *w, struct ir_expr *x)
{
    x = ir_substitute(w->q->arena, x, &w->names, NULL);
    return fold_expr(w->q->arena, &w->facts, x);
}

// Return x + term.
static struct affine plus_term(struct arena *a, const struct affine *x,
                               const struct affine_term *term)
{
    struct affine one = {.terms = {(struct affine_term *)term, 1, 1}};
    return affine_add(a, x, 1, &one);
}

// Split an index into what is fixed, in the variables that stand for it, and
// the rest.  Returns false if one term has both.
static bool split(const struct region_walk *w, struct ir_expr *index,
                  struct affine *base, struct affine *rest)
{
    struct arena *a = w->q->arena;
    struct affine form = affine_of(a, index), fixed = affine_number(0);
    *rest = affine_number(form.constant);
    for (size_t i = 0; i < form.terms.n; i++) {
        struct parts parts = {.q = w->q};
        for (uint32_t k = 0; k < form.terms.at[i].n; k++)
            ir_each_expr(form.terms.at[i].atoms[k], see_part, &parts);
        if (parts.has_fixed && parts.has_moving)
            return false;
        struct affine *side = parts.has_fixed ? &fixed : rest;
        *side = plus_term(a, side, &form.terms.at[i]);
    }
    struct ir_expr *x = affine_expr(a, &fixed, index->type);
    *base = affine_of(a, ir_substitute(a, x, w->q->fixed, NULL));
    rest->failed |= base->failed ||
                    !num_add(rest->constant, base->constant, &rest->constant);
    base->constant = 0;
    return !form.failed && !rest->failed && type_is_index(index->type);
}

// Return x / by, rounded down; `by` is positive.
static int64_t floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

// Lower *most, a bound of x, with a fact: n * x is at most n * x + m * fact,
// where m and n take a term of x away.
static void refine(const struct region_walk *w, const struct affine *x,
                   const struct affine *fact, int64_t *most)
{
    struct arena *a = w->q->scratch;
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
        int64_t hi = facts_range_of(&w->facts, &sum).hi;
        if (hi != INT64_MAX && hi != INT64_MIN && floor_div(hi, n) < *most)
            *most = floor_div(hi, n);
    }
}

static struct interval moving_range(const struct region_walk *w,
                                    const struct affine *x);

// Return the range of an atom: of quotients and remainders by what is known
// of the dividend.
static struct interval atom_range(const struct region_walk *w,
                                  struct ir_expr *x)
{
    int64_t by;
    if ((x->op != OP_div && x->op != OP_mod) || !type_is_index(x->type) ||
        !ir_int_value(x->args[1], &by) || by <= 0)
        return facts_range(&w->facts, x);
    struct affine dividend = affine_of(w->q->scratch, x->args[0]);
    struct interval r = moving_range(w, &dividend), of = interval_of(by);
    return x->op == OP_div ? interval_div(r, of) : interval_mod(r, of);
}

// Return the range of the part of an index that moves.
static struct interval moving_range(const struct region_walk *w,
                                    const struct affine *x)
{
    struct interval r = interval_of(x->constant);
    struct affine zero = affine_number(0);
    struct affine minus = affine_add(w->q->scratch, &zero, -1, x);
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < x->terms.n; i++) {
        struct interval product = interval_of(x->terms.at[i].factor);
        for (uint32_t k = 0; k < x->terms.at[i].n; k++)
            product =
                interval_mul(product, atom_range(w, x->terms.at[i].atoms[k]));
        r = interval_add(r, product);
    }
    for (size_t i = 0; i < w->facts.known.n; i++) {
        refine(w, x, &w->facts.known.at[i], &r.hi);
        refine(w, &minus, &w->facts.known.at[i], &most);
    }
    if (most != INT64_MAX && most != INT64_MIN && -most > r.lo)
        r.lo = -most;
    return r;
}

// Return the greatest (or least) value of factor * v, v in 0 .. a size, as a sum of sizes; `failed` if the term is not like that.
static struct affine end_by_size(const struct region_walk *w,
                                 const struct affine_term *t, bool greatest)
{
    struct affine end = affine_number(0), one = affine_number(1);
    struct ir_expr *v = t->atoms[0];
    const struct ir_for *loop =
        t->n == 1 && v->op == OP_var ? map_get(&w->loops, v->u.var) : NULL;
    struct parts parts = {.q = w->q};
    if (loop)
        ir_each_expr(loop->to, see_part, &parts);
    end.failed = !loop || parts.has_moving || !ir_is_int_const(loop->from, 0);
    if (end.failed || greatest != (t->factor > 0))
        return end;
    struct affine to = affine_of(w->q->arena, loop->to);
    end = affine_add(w->q->arena, &end, t->factor, &to);
    return affine_add(w->q->arena, &end, -t->factor, &one);
}

// Return the greatest (or least) value of the part of an index that moves:
// the number `known` unless that is open, else in terms of sizes.
static struct affine end_of(const struct region_walk *w, const struct affine *x,
                            int64_t known, bool greatest)
{
    struct affine end = affine_number(known);
    if (known != INT64_MIN && known != INT64_MAX)
        return end;
    end = affine_number(x->constant);
    for (size_t i = 0; i < x->terms.n; i++) {
        const struct affine_term *t = &x->terms.at[i];
        struct affine zero = affine_number(0);
        struct affine alone = plus_term(w->q->arena, &zero, t);
        struct interval r = moving_range(w, &alone);
        int64_t side = greatest ? r.hi : r.lo;
        struct affine part = side == INT64_MIN || side == INT64_MAX
                                 ? end_by_size(w, t, greatest)
                                 : affine_number(side);
        end = affine_add(w->q->arena, &end, 1, &part);
    }
    return end;
}

static bool is_counting(const struct region_walk *w, const struct affine *x);

// Return the loop that counts a variable up from 0 by 1, or NULL.
static const struct ir_for *counter_of(const struct region_walk *w,
                                       const struct ir_expr *x)
{
    const struct ir_for *loop =
        x->op == OP_var ? map_get(&w->loops, x->u.var) : NULL;
    bool counts = loop && ir_is_int_const(loop->from, 0) &&
                  ir_is_int_const(loop->step, 1);
    return counts ? loop : NULL;
}

// Return how many values factor * v has if v takes all from 0 on, else 0.
static int64_t digit_extent(const struct region_walk *w,
                            const struct affine_term *t)
{
    struct ir_expr *v = t->atoms[0];
    bool is_part = v->op == OP_div || v->op == OP_mod;
    struct affine whole = affine_of(w->q->scratch, is_part ? v->args[0] : v);
    if (t->n != 1 || t->factor < 1 || whole.failed ||
        !(is_part ? is_counting(w, &whole) : counter_of(w, v) != NULL))
        return 0;
    struct interval r = atom_range(w, v);
    return r.lo == 0 && r.hi < INT32_MAX ? r.hi + 1 : 0;
}

// Return whether a sum takes all values from 0 to its greatest: its terms are
// the digits of a number whose weights fit, as of 8 * i + j, j in 0..8.
static bool is_counting(const struct region_walk *w, const struct affine *x)
{
    int64_t weight = 1;
    bool *used = arena_array(w->q->scratch, bool, x->terms.n + 1);
    size_t found = 0, last;
    do {
        last = found;
        for (size_t i = 0; i < x->terms.n; i++) {
            int64_t n = digit_extent(w, &x->terms.at[i]);
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
static bool takes_all(const struct region_walk *w, const struct affine *x)
{
    struct affine moving = *x;
    moving.constant = 0;
    bool is_loop = x->terms.n == 1 && x->terms.at[0].n == 1 &&
                   x->terms.at[0].factor == 1 &&
                   counter_of(w, x->terms.at[0].atoms[0]);
    return is_loop || is_counting(w, &moving);
}

// Return what one index says of its dimension.
static struct region_dim dim_of(const struct region_walk *w,
                                struct ir_expr *index)
{
    struct region_dim d = {0};
    struct affine rest;
    d.is_known = split(w, index, &d.base, &rest);
    if (!d.is_known)
        return d;
    struct interval r = moving_range(w, &rest);
    d.lo = end_of(w, &rest, r.lo, false);
    d.hi = end_of(w, &rest, r.hi, true);
    d.is_known = !d.lo.failed && !d.hi.failed;
    d.is_dense = d.is_known && takes_all(w, &rest);
    return d;
}

// Return x - y as a number; false if it is none.
static bool distance(const struct region_walk *w, const struct affine *x,
                     const struct affine *y, int64_t *by)
{
    struct affine d = affine_add(w->q->arena, x, -1, y);
    *by = d.constant;
    return affine_is_number(&d);
}

// Widen a dimension by another one.
static void join(const struct region_walk *w, struct region_dim *x,
                 const struct region_dim *y)
{
    int64_t base = 0, lo = 0, hi = 0;
    x->is_known = x->is_known && y->is_known &&
                  distance(w, &x->base, &y->base, &base) && base == 0 &&
                  distance(w, &y->lo, &x->lo, &lo) &&
                  distance(w, &y->hi, &x->hi, &hi);
    bool grows = lo < 0 || hi > 0;
    x->is_dense = grows ? y->is_dense && lo <= 0 && hi >= 0 : x->is_dense;
    x->lo = lo < 0 ? y->lo : x->lo;
    x->hi = hi > 0 ? y->hi : x->hi;
}

// Add an index to what is known of its dimension.
static void collect(struct region_walk *w, struct region_dim *dim,
                    struct ir_expr *index, struct span span)
{
    struct ir_expr *x = expand(w, index);
    struct region_dim one = dim_of(w, x), old = *dim;
    if (w->out->is_touched)
        join(w, dim, &one);
    else
        *dim = one;
    dim->culprit = old.culprit;
    dim->span = old.span;
    if (region_extent(dim) == 0 && !dim->culprit) {
        dim->culprit = x;
        dim->span = span;
    }
}

// Return the index of a dimension that moves, after its move.
static struct ir_expr *moved(struct region_walk *w,
                             const struct region_dim *dim,
                             struct ir_expr *index)
{
    struct affine base, rest;
    split(w, expand(w, index), &base, &rest);
    rest.constant -= dim->lo.constant;
    struct ir_expr *x = affine_expr(w->q->arena, &rest, index->type);
    return ir_at(w->q->arena, fold_expr(w->q->arena, &w->facts, x),
                 index->span);
}

// Look at an access; returns its indices, after their move.
static struct ir_expr **see_access(struct region_walk *w,
                                   struct ir_expr *const *index,
                                   struct span span, unsigned flags)
{
    struct region *r = w->out;
    enum region_access of = w->q->access;
    bool counts =
        w->is_inside && (of == REGION_all ||
                         (flags & (of == REGION_loads ? OP_READS : OP_WRITES)));
    struct ir_expr **new = arena_array(w->q->arena, struct ir_expr *, r->rank);
    for (uint32_t i = 0; i < r->rank; i++) {
        new[i] = index[i];
        if (w->moves && w->moves[i])
            new[i] = moved(w, &r->dims[i], index[i]);
        else if (!w->moves && counts)
            collect(w, &r->dims[i], index[i], span);
    }
    r->is_touched |= counts;
    return new;
}

// Look at a node that may be an access; returns it or what replaces it.
static struct ir_expr *see_node(struct arena *a, struct ir_expr *x,
                                void *context)
{
    struct region_walk *w = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if (!(flags & (OP_READS | OP_WRITES)) || x->u.buffer != w->q->buffer)
        return x;
    struct ir_expr **args = arena_array(a, struct ir_expr *, x->n);
    struct ir_expr **index = see_access(w, x->args, x->span, flags);
    for (uint32_t i = 0; i < x->n; i++)
        args[i] = i < w->out->rank ? index[i] : x->args[i];
    return w->moves ? ir_at(a, ir_with_args(a, x, args), x->span) : x;
}

// Look at the accesses in the expression at a place.
static void see_place(struct ir_expr **place, void *context)
{
    struct region_walk *w = context;
    struct ir_expr *x = ir_rewrite(w->q->arena, *place, see_node, w);
    if (w->moves)
        *place = x;
}

// Let a variable stand for an expression from here on.
static void name(struct region_walk *w, const struct ir_var *var,
                 struct ir_expr *value)
{
    if (ir_is_stable(value))
        map_set(&w->names, var, expand(w, value));
}

static void walk(struct region_walk *w, struct ir_block *block);

// Look at a block inside a statement, or where a condition holds or does not.
static void walk_inside(struct region_walk *w, const struct ir_stmt *s,
                        struct ir_block *block, struct ir_expr *condition,
                        bool holds)
{
    struct facts_mark here = facts_mark(&w->facts);
    bool cuts = !w->q->whole_tiles;
    if (s && (s->kind != STMT_stage || cuts))
        facts_enter(&w->facts, s);
    if (condition && cuts) {
        condition = ir_substitute(w->q->arena, condition, &w->names, NULL);
        facts_assume(&w->facts, condition, holds);
    }
    walk(w, block);
    facts_leave(&w->facts, here);
}

// Look at a statement.
static void walk_stmt(struct region_walk *w, struct ir_stmt *s)
{
    ir_stmt_exprs(s, see_place, w);
    if (s->kind == STMT_store && s->u.store.buffer == w->q->buffer) {
        struct ir_expr **index =
            see_access(w, s->u.store.index, s->span, OP_WRITES);
        s->u.store.index = w->moves ? index : s->u.store.index;
    } else if (s->kind == STMT_for) {
        map_set(&w->loops, s->u.loop.var, &s->u.loop);
        walk_inside(w, s, &s->u.loop.body, NULL, false);
    } else if (s->kind == STMT_if) {
        walk_inside(w, NULL, &s->u.branch.then, s->u.branch.cond, true);
        walk_inside(w, NULL, &s->u.branch.otherwise, s->u.branch.cond, false);
    } else if (s->kind == STMT_stage) {
        for (size_t i = 0; i < s->u.stage.iters.n; i++)
            name(w, s->u.stage.iters.at[i].var, s->u.stage.iters.at[i].binding);
        struct ir_expr *predicate = s->u.stage.predicate;
        walk_inside(w, s, &s->u.stage.init, predicate, true);
        walk_inside(w, s, &s->u.stage.body, predicate, true);
    } else if (s->kind == STMT_let) {
        facts_enter(&w->facts, s);
        name(w, s->u.let.var, s->u.let.value);
    }
}

// Look at the statements of a block.
static void walk(struct region_walk *w, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&w->facts);
    for (size_t i = 0; i < block->n; i++) {
        bool was_inside = w->is_inside;
        w->is_inside |= block->at[i] == w->q->within;
        walk_stmt(w, block->at[i]);
        w->is_inside = was_inside;
    }
    facts_leave(&w->facts, here);
}

// Start a walk over the whole kernel.
static void start(const struct region_question *q, struct region *r,
                  const bool *moves)
{
    struct region_walk w = {.q = q,
                            .names = {.arena = q->scratch},
                            .loops = {.arena = q->scratch},
                            .is_inside = !q->within,
                            .out = r,
                            .moves = moves};
    facts_start(&w.facts, q->scratch, q->kernel);
    walk(&w, &q->kernel->body);
}

int64_t region_extent(const struct region_dim *dim)
{
    int64_t n;
    if (!dim->is_known || !affine_is_number(&dim->lo) ||
        !affine_is_number(&dim->hi) ||
        !num_sub(dim->hi.constant, dim->lo.constant, &n) || !num_add(n, 1, &n))
        return 0;
    return n > 0 ? n : 0;
}

struct region region_find(const struct region_question *q)
{
    struct region r = {.rank = q->buffer->rank};
    r.dims = arena_array(q->arena, struct region_dim, r.rank);
    for (uint32_t i = 0; i < r.rank; i++)
        r.dims[i] = (struct region_dim){.is_known = true};
    start(q, &r, NULL);
    return r;
}

void region_shift(const struct region_question *q, const struct region *r,
                  const bool *moves)
{
    struct region copy = *r;
    start(q, &copy, moves);
}
