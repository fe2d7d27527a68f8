// Whether two accesses may be to a common element: first those of two
// families at once, then, if they may, one by one.

#include "passes/proof/pairs.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/proof/positions.h"

// Questions about accesses of two wide families, one by one: after so many, or so many
// without a proof, the rest is open.
enum { SINGLE_QUESTIONS_MOST = 1000, OPEN_MOST = 16 };

void family_add(struct arena *a, struct family_set *set, const struct family *f)
{
    for (size_t i = 0; i < set->n; i++) {
        if (set->at[i] == f)
            return;
    }
    vec_push(a, set, f);
}

void families_add(struct arena *a, struct family_set *set,
                  const struct family_set *more)
{
    for (size_t i = 0; i < more->n; i++)
        family_add(a, set, more->at[i]);
}

// Return whether atomics of a scope meet those of another block.
static bool is_wide(const struct access *x)
{
    return x->is_atomic && x->atomic_scope != SCOPE_block;
}

bool families_conflict(const struct family *x, const struct family *y,
                       bool blocks_differ)
{
    const struct access *f = x->first, *g = y->first;
    if (f->buffer != g->buffer || space_is_own(f->buffer->space) ||
        !(f->writes || g->writes))
        return false;
    return blocks_differ ? !(is_wide(f) && is_wide(g))
                         : !(f->is_atomic && g->is_atomic);
}

// One side of a question: an access, or a whole family of them.
struct part {
    const struct scope *scope;
    const struct ir_buffer *buffer;
    struct ir_expr **base;
    const struct offsets *offsets;
    const uint32_t *count;
};

// Return the first element along a dimension that a side accesses.
static struct sum first_element(struct system *s, const struct part *x,
                                uint32_t d, enum side side)
{
    struct linear *l = &s->linear;
    const struct offsets *o = &x->offsets[d];
    struct sum r = system_value(s, x->base[d], side);
    struct sum lo = linear_number(o->lo), zero = linear_number(0);
    r = linear_plus(l, r, 1, &lo);
    if (!o->step)
        return r;
    struct sum times = linear_add_unknown(l);
    linear_require(l, &times, &zero, 0);
    linear_require(l, &zero, &times, (o->hi - o->lo) / o->step);
    return linear_plus(l, r, o->step, &times);
}

// Require that both sides access a common element along a dimension.
static void require_overlap(struct system *s, const struct part *x,
                            const struct part *y, uint32_t d)
{
    struct linear *l = &s->linear;
    if (!x->base[d] || !y->base[d]) {
        s->is_exact = false;
        return;
    }
    struct sum first = first_element(s, x, d, FIRST);
    struct sum second = first_element(s, y, d, SECOND);
    if (x->count[d] == 1 && y->count[d] == 1) {
        linear_require_equal(l, &first, &second);
        return;
    }
    linear_require(l, &first, &second, (int64_t)x->count[d] - 1);
    linear_require(l, &second, &first, (int64_t)y->count[d] - 1);
}

// Return the whole that two indices are quotient and rest of; NULL if they are
// of no whole.
static struct ir_expr *whole_of(const struct ir_expr *x,
                                const struct ir_expr *y)
{
    bool fit = x && y && x->op == OP_div && y->op == OP_mod &&
               ir_expr_equal(x->args[0], y->args[0]) &&
               ir_expr_equal(x->args[1], y->args[1]);
    return fit ? x->args[0] : NULL;
}

// Return whether a side accesses one element along a dimension, at its base.
static bool is_plain(const struct part *x, uint32_t d)
{
    const struct offsets *o = &x->offsets[d];
    return x->base[d] && o->lo == 0 && o->hi == 0 && x->count[d] == 1;
}

// Require what follows where both sides have quotient and rest by the same
// number as two of their indices: the whole is the same.
static void require_wholes(struct system *s, const struct part *x,
                           const struct part *y, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        for (uint32_t j = 0; j < rank; j++) {
            if (!is_plain(x, i) || !is_plain(x, j) || !is_plain(y, i) ||
                !is_plain(y, j))
                continue;
            struct ir_expr *first = whole_of(x->base[i], x->base[j]);
            struct ir_expr *second = whole_of(y->base[i], y->base[j]);
            if (!first || !second)
                continue;
            struct sum by = system_value(s, x->base[i]->args[1], FIRST);
            struct sum same = system_value(s, y->base[i]->args[1], SECOND);
            if (memcmp(&by, &same, sizeof by) != 0)
                continue;
            struct sum a = system_value(s, first, FIRST);
            struct sum b = system_value(s, second, SECOND);
            linear_require_equal(&s->linear, &a, &b);
        }
    }
}

// Return whether an expression has the same value on both sides.
static bool is_same(struct system *s, const struct ir_expr *expr)
{
    struct ir_expr *x = (struct ir_expr *)expr;
    struct sum a = system_value(s, x, FIRST), b = system_value(s, x, SECOND);
    return memcmp(&a, &b, sizeof a) == 0 ||
           !(system_may_be_less(s, &a, &b) || system_may_be_less(s, &b, &a));
}

// Return the rest that belongs to a quotient of the first side by sizes, or NULL.
static struct ir_expr *rest_of(struct system *s, const struct leaf *l)
{
    const struct ir_expr *x = l->expr;
    if (l->side != FIRST || x->op != OP_div || ir_is_const(x->args[1]) ||
        !ir_is_of_params(x->args[1]))
        return NULL;
    return ir_binary(s->arena, OP_mod, x->args[0], x->args[1]);
}

// Require that a whole is the same where quotient and rest by sizes are: blocks
// that have the same tile of each of several dimensions are one block.
static void require_digits(struct system *s)
{
    size_t n = s->leaves.n;
    bool *done = arena_array(s->arena, bool, n + 1), found = true;
    while (found) {
        found = false;
        for (size_t i = 0; i < n; i++) {
            struct leaf l = s->leaves.at[i];
            struct ir_expr *rest = done[i] ? NULL : rest_of(s, &l);
            if (!rest || !is_same(s, l.expr) || !is_same(s, rest))
                continue;
            struct sum a = system_value(s, l.expr->args[0], FIRST);
            struct sum b = system_value(s, l.expr->args[0], SECOND);
            linear_require_equal(&s->linear, &a, &b);
            done[i] = found = true;
        }
    }
}

// Return whether a product of a side has the same value on the other one: both
// threads are at the positions that it is made of.
static bool is_common(struct system *s, const struct ir_expr *x)
{
    if (x->op == OP_var && x->u.var->kind == VAR_param)
        return true;
    if (x->op != OP_mul)
        return positions_is_one(x) && is_same(s, x);
    return is_common(s, x->args[0]) && is_common(s, x->args[1]);
}

// Require that products of both sides are the same where what they are made of
// is: `thread.y * n` of threads that access one row.
static void require_products(struct system *s)
{
    for (size_t i = 0, n = s->leaves.n; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            struct leaf x = s->leaves.at[i], y = s->leaves.at[j];
            if (x.side != FIRST || y.side != SECOND || x.expr->op != OP_mul ||
                !ir_expr_equal(x.expr, y.expr) || !is_common(s, x.expr))
                continue;
            struct sum a = linear_unknown(x.unknown);
            struct sum b = linear_unknown(y.unknown);
            linear_require_equal(&s->linear, &a, &b);
        }
    }
}

// Require that the second side is in the next iteration.
static void go_back(struct system *s, const struct scope *loop)
{
    struct ir_expr *var = ir_read(s->arena, (struct ir_var *)loop->var);
    int64_t step;
    if (!ir_int_value(loop->step, &step))
        return;
    struct sum first = system_value(s, var, FIRST), by = linear_number(step);
    struct sum second = system_value(s, var, SECOND);
    first = linear_plus(&s->linear, first, 1, &by);
    linear_require_equal(&s->linear, &first, &second);
}

// Return whether two parts may be to a common element.
static bool may_conflict(struct system *s, const struct pair_question *q,
                         const struct part *x, const struct part *y)
{
    system_begin(s, q->relation);
    system_enter(s, x->scope, FIRST);
    system_enter(s, y->scope, SECOND);
    if (q->relation.back)
        go_back(s, q->relation.back);
    uint32_t rank = x->buffer->rank;
    for (uint32_t d = 0; d < rank; d++)
        require_overlap(s, x, y, d);
    require_wholes(s, x, y, rank);
    require_products(s);
    if (q->relation.blocks_differ && !s->is_loose)
        require_digits(s);
    return q->may_differ(s, q->context);
}

// Return a family as a part, and one of its accesses.
static struct part part_of_all(const struct family *f)
{
    return (struct part){f->scope, f->first->buffer, f->base, f->offsets,
                         f->first->count};
}

// Return an access as a part.
static struct part part_of(struct system *s, const struct access *x)
{
    uint32_t rank = x->buffer->rank;
    struct ir_expr **base = arena_array(s->arena, struct ir_expr *, rank + 1);
    for (uint32_t d = 0; d < rank; d++)
        base[d] = x->count[d] ? x->index[d] : NULL;
    return (struct part){x->scope, x->buffer, base,
                         arena_array(s->arena, struct offsets, rank + 1),
                         x->count};
}

// Return what is known of wide families, whatever the conditions around.
static struct pair_answer *find_answer(struct system *s,
                                       const struct pair_question *q,
                                       struct family *x, const struct family *y)
{
    const struct relation *r = &q->relation;
    const struct scope *common = r->common;
    while (common && !common->var)
        common = common->up;
    vec_foreach(a, &x->answers) {
        if (a->other == y && a->common == common && a->back == r->back &&
            a->claim == q->claim && a->kind == q->kind)
            return a;
    }
    struct part both[SIDES] = {part_of_all(x), part_of_all(y)};
    s->is_loose = true;
    bool may = may_conflict(s, q, &both[FIRST], &both[SECOND]);
    s->is_loose = false;
    struct pair_answer new = {y, common, r->back, q->claim, q->kind, may, 0, 0};
    vec_push(s->arena, &x->answers, new);
    return &x->answers.at[x->answers.n - 1];
}

// Return whether two parts may be to a common element; so they may after too
// many questions.
static bool may_conflict_here(struct system *s, const struct pair_question *q,
                              struct pair_answer *a, const struct part *x,
                              const struct part *y)
{
    if (a->asked >= SINGLE_QUESTIONS_MOST || a->open >= OPEN_MOST) {
        s->is_cut = true;
        return true;
    }
    bool may = may_conflict(s, q, x, y);
    a->asked++;
    a->open += may;
    return may;
}

// Note that a claim is open for two accesses.
static void note_open(struct system *s, const struct pair_question *q,
                      struct access *x, struct access *y)
{
    bool is_cut = s->is_cut || system_is_spent(s);
    enum proof_reason reason = is_cut                     ? REASON_budget
                               : q->reason != REASON_none ? q->reason
                               : s->is_exact              ? REASON_model
                                                          : REASON_open;
    bool is_new = !x->claims[q->claim].is_open || !y->claims[q->claim].is_open;
    struct proof_values sizes = {0};
    if (is_new && !is_cut)
        sizes = system_sizes(s, s->arena);
    for (int i = 0; i < SIDES; i++) {
        struct access *of = i ? y : x;
        if (!of->claims[q->claim].is_open)
            of->claims[q->claim].sizes = sizes;
        access_open(of, q->claim, reason, i ? x : y);
    }
}

// Return whether the claim is open for all members of a family.
static bool is_open(const struct family *f, enum proof_claim claim)
{
    for (size_t i = 0; i < f->members.n; i++) {
        if (!f->members.at[i]->claims[claim].is_open)
            return false;
    }
    return true;
}

void pair_ask(struct system *s, const struct pair_question *q,
              const struct family *x, const struct family *y)
{
    struct part both[SIDES] = {part_of_all(x), part_of_all(y)};
    if (is_open(x, q->claim) && is_open(y, q->claim))
        return;
    struct pair_answer *known = find_answer(s, q, x->wide, y->wide);
    s->is_cut = false;
    if (!known->may_conflict ||
        !may_conflict_here(s, q, known, &both[FIRST], &both[SECOND]))
        return;
    bool is_single = x->members.n * y->members.n == 1;
    for (size_t i = 0; i < x->members.n; i++) {
        for (size_t j = 0; j < y->members.n; j++) {
            struct access *first = x->members.at[i], *second = y->members.at[j];
            struct part a = part_of(s, first), b = part_of(s, second);
            if (is_single || may_conflict_here(s, q, known, &a, &b))
                note_open(s, q, first, second);
        }
    }
}
