// Proofs that an index expression is not negative.
//
// A form is proved by adding multiples of known facts until no term can be
// negative.  For 0 <= j < N and 0 <= i < M, with M * N <= 9 known:
//
//   9 - N * i - j          the term -j: subtract (N - 1 - j) >= 0
//   10 - N * i - N         the term -N * i: subtract N * (M - 1 - i) >= 0
//   10 - N * M             subtract (9 - M * N) >= 0
//   1                      proved
//
// Variables are taken away innermost first, so that facts, which speak of
// outer variables, lead to the sizes.  Short proofs are looked for before long
// ones.  Depth and number of steps are bounded: the search ends, and finds no
// proof then.

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/answers.h"
#include "passes/analysis/models.h"

enum { STEPS_MOST = 100 };

// How many facts may be used at a time, behind each round of a search for models.
static const int depths[MODELS_ROUNDS] = {2, 4, 8};

// A search.
struct proof {
    const struct facts *facts;
    int steps;   // left
    int deepest; // facts used at a time, for now
    bool is_cut; // more of them might have helped
};

// The facts that an atom brings along, such as x - c * (x / c) >= 0.
struct fact_list VEC(struct affine);

static bool prove(struct proof *p, const struct affine *x, int depth);

// Return whether an atom is never negative.
static bool is_nonnegative(const struct facts *f, const struct ir_expr *x)
{
    return facts_range(f, x).lo >= 0;
}

// Return whether no atom of a term is ever negative.
static bool all_nonnegative(const struct facts *f, const struct affine_term *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!is_nonnegative(f, t->atoms[i]))
            return false;
    return true;
}

// Return the rank of a variable or an index; 0 if it has none.
static size_t var_rank(const struct facts *f, const struct ir_expr *x)
{
    if (x->op == OP_index)
        return 1;
    for (size_t i = 0; x->op == OP_var && i < f->vars.n; i++)
        if (f->vars.at[i].var == x->u.var)
            return i + 1;
    return 0;
}

// Return how late a term should be kept: terms of newer variables go first,
// quotients and the like before the variables in them.
static size_t term_rank(const struct facts *f, const struct affine_term *t)
{
    size_t best = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        size_t newest = 0;
        ir_foreach_expr(x, t->atoms[i]) {
            size_t own = var_rank(f, x);
            newest = newest < own ? own : newest;
        }
        size_t rank = newest * 2 + (t->atoms[i]->n > 0) + 1;
        if (best < rank)
            best = rank;
    }
    return best;
}

// Find the term to get rid of first: the newest that may be negative; a
// negative constant last.  Returns false if there is none.
static bool worst_term(const struct facts *f, const struct affine *x,
                       struct affine_term *worst)
{
    size_t best = 0;
    bool found = false;
    vec_foreach(t, &x->terms) {
        if (t->factor > 0 && all_nonnegative(f, t))
            continue;
        size_t rank = term_rank(f, t);
        if (!found || rank > best) {
            *worst = *t;
            best = rank;
            found = true;
        }
    }
    if (!found && x->constant < 0) {
        *worst = (struct affine_term){.factor = x->constant};
        found = true;
    }
    return found;
}

// Append the fact x + factor * y + constant >= 0.
static void add_fact(struct arena *a, struct fact_list *out,
                     const struct affine *x, int64_t factor,
                     const struct affine *y, int64_t constant)
{
    struct affine d = affine_add(a, x, factor, y);
    affine_offset(&d, constant);
    if (!d.failed)
        vec_push(a, out, d);
}

// Append what holds of x / y, x % y and ceildiv(x, y) for x >= 0, y > 0.
static void quotient_facts(struct proof *p, struct ir_expr *atom,
                           struct fact_list *out)
{
    struct arena *a = p->facts->arena;
    struct affine x = affine_of(a, atom->args[0]);
    struct affine y = affine_of(a, atom->args[1]);
    if (!is_nonnegative(p->facts, atom->args[1]) || !prove(p, &x, 1))
        return;
    struct affine self = affine_atom(a, atom), zero = affine_number(0);
    struct affine whole = affine_mul(a, &self, &y);
    if (atom->op == OP_mod) {
        add_fact(a, out, &y, -1, &self, -1);
        add_fact(a, out, &x, -1, &self, 0);
    } else if (atom->op == OP_div) {
        add_fact(a, out, &x, -1, &whole, 0);
        struct affine up = affine_add(a, &whole, 1, &y);
        add_fact(a, out, &up, -1, &x, -1);
        if (affine_is_number(&y) && facts_multiple(p->facts, &x, y.constant))
            add_fact(a, out, &whole, -1, &x, 0);
    } else {
        add_fact(a, out, &whole, -1, &x, 0);
        struct affine up = affine_add(a, &x, 1, &y);
        add_fact(a, out, &up, -1, &whole, -1);
    }
    add_fact(a, out, &self, 1, &zero, 0);
}

// Append what holds of min(x, y) and max(x, y).
static void extreme_facts(struct proof *p, struct ir_expr *atom,
                          struct fact_list *out)
{
    struct arena *a = p->facts->arena;
    struct affine self = affine_atom(a, atom), zero = affine_number(0);
    struct affine x = affine_of(a, atom->args[0]);
    struct affine y = affine_of(a, atom->args[1]);
    bool is_min = atom->op == OP_min;
    add_fact(a, out, is_min ? &x : &self, -1, is_min ? &self : &x, 0);
    add_fact(a, out, is_min ? &y : &self, -1, is_min ? &self : &y, 0);
    if (is_min && prove(p, &x, 1) && prove(p, &y, 1))
        add_fact(a, out, &self, 1, &zero, 0);
}

// Append the bounds of an atom that are numbers.
static void range_facts(struct proof *p, struct ir_expr *atom,
                        struct fact_list *out)
{
    struct arena *a = p->facts->arena;
    struct affine self = affine_atom(a, atom), number;
    struct interval r = facts_range(p->facts, atom);
    if (r.hi != INT64_MAX && r.hi != INT64_MIN) {
        number = affine_number(r.hi);
        add_fact(a, out, &number, -1, &self, 0);
    }
    if (r.lo != INT64_MAX && r.lo != INT64_MIN) {
        number = affine_number(r.lo);
        add_fact(a, out, &self, -1, &number, 0);
    }
}

// Append what holds of an index value: it is below the extent of the grid.
static void index_facts(struct proof *p, struct ir_expr *atom,
                        struct fact_list *out)
{
    struct arena *a = p->facts->arena;
    const struct ir_launch *launch = p->facts->launch;
    if (!launch || axis_kind(atom->u.axis) != AXIS_BLOCK)
        return;
    struct affine self = affine_atom(a, atom);
    struct affine grid =
        affine_of(a, launch->grid[axis_dimension(atom->u.axis)]);
    add_fact(a, out, &grid, -1, &self, -1);
}

// Append the facts that an atom brings along, other than its range.
static void atom_facts(struct proof *p, struct ir_expr *atom,
                       struct fact_list *out)
{
    if (atom->op == OP_div || atom->op == OP_mod || atom->op == OP_ceildiv)
        quotient_facts(p, atom, out);
    else if (atom->op == OP_min || atom->op == OP_max)
        extreme_facts(p, atom, out);
    else if (atom->op == OP_index)
        index_facts(p, atom, out);
}

// Append the facts that the atoms of a form bring along, and the ranges of
// those of one term.
static void form_facts(struct proof *p, const struct affine *x,
                       const struct affine_term *term, struct fact_list *out)
{
    for (uint32_t i = 0; i < term->n; i++)
        range_facts(p, term->atoms[i], out);
    for (size_t i = 0; i < x->terms.n; i++)
        for (uint32_t j = 0; j < x->terms.at[i].n; j++)
            atom_facts(p, x->terms.at[i].atoms[j], out);
}

// Return the number of atoms in the longest term.
static uint32_t degree(const struct affine *x)
{
    uint32_t most = 0;
    for (size_t i = 0; i < x->terms.n; i++)
        most = x->terms.at[i].n > most ? x->terms.at[i].n : most;
    return most;
}

// Try to remove a term of x by subtracting a multiple of a fact that has a
// part of that term with the same sign, then go on with what is left.  A
// multiple with longer products than x has leads nowhere.
static bool use_fact(struct proof *p, const struct affine *x,
                     const struct affine_term *worst, const struct affine *fact,
                     int depth)
{
    struct arena *a = p->facts->arena;
    for (size_t i = 0; i <= fact->terms.n; i++) {
        struct affine_term part = {.factor = fact->constant}, rest;
        if (i < fact->terms.n)
            part = fact->terms.at[i];
        if (part.factor == 0 || (part.factor > 0) != (worst->factor > 0) ||
            !affine_atoms_divide(a, &part, worst, &rest) ||
            (rest.n && rest.n + degree(fact) > degree(x)) ||
            !all_nonnegative(p->facts, &rest))
            continue;
        int64_t g = num_gcd(part.factor, worst->factor);
        struct affine_term scale = {.factor = part.factor / g};
        scale.factor = scale.factor < 0 ? -scale.factor : scale.factor;
        rest.factor = worst->factor / g;
        rest.factor = rest.factor < 0 ? -rest.factor : rest.factor;
        struct affine scaled =
            scale.factor == 1 ? *x : affine_scale(a, x, &scale);
        struct affine multiple = rest.n ? affine_scale(a, fact, &rest) : *fact;
        struct affine left =
            affine_add(a, &scaled, rest.n ? -1 : -rest.factor, &multiple);
        if (prove(p, &left, depth + 1))
            return true;
    }
    return false;
}

// Prove x >= 0 within what is left of the search.
static bool prove(struct proof *p, const struct affine *x, int depth)
{
    struct affine_term worst;
    if (x->failed || p->steps-- <= 0)
        return false;
    if (facts_range_of(p->facts, x).lo >= 0 || !worst_term(p->facts, x, &worst))
        return true;
    p->is_cut |= depth >= p->deepest;
    if (depth >= p->deepest)
        return false;
    struct fact_list own = {0};
    form_facts(p, x, &worst, &own);
    for (size_t i = own.n; i-- > 0;)
        if (own.at[i].terms.n > 1 && use_fact(p, x, &worst, &own.at[i], depth))
            return true;
    const struct facts *f = p->facts;
    for (size_t i = f->known.n; i-- > 0;)
        if (use_fact(p, x, &worst, &f->known.at[i], depth))
            return true;
    for (size_t i = 0; i < own.n; i++)
        if (own.at[i].terms.n <= 1 && use_fact(p, x, &worst, &own.at[i], depth))
            return true;
    return false;
}

// Search for a proof of x >= 0 that adds up to `deepest` facts.
static bool search(struct proof *p, const struct affine *x, int deepest)
{
    struct arena *a = p->facts->arena;
    struct arena_mark mark = arena_mark(a);
    p->deepest = deepest;
    p->is_cut = false;
    bool proved = prove(p, x, 0);
    arena_release(a, mark);
    return proved;
}

bool facts_nonnegative(const struct facts *f, const struct affine *x)
{
    struct proof p = {.facts = f, .steps = STEPS_MOST};
    enum answer before = answers_find(f, x);
    if (before != ANSWER_NONE)
        return before == ANSWER_PROVED;
    if (models_refute(f, x))
        return false;
    bool proved = search(&p, x, 1);
    for (size_t i = 0; i < MODELS_ROUNDS && p.is_cut && !proved; i++) {
        if (models_search(f, x, i))
            break;
        proved = search(&p, x, depths[i]);
    }
    answers_add(f, x, proved);
    return proved;
}

bool facts_at_most(const struct facts *f, struct ir_expr *x, struct ir_expr *y)
{
    struct affine low = affine_of(f->arena, x), rest = affine_of(f->arena, y);
    rest = affine_add(f->arena, &rest, -1, &low);
    return !rest.failed && facts_nonnegative(f, &rest);
}

// Return x of ceildiv(x, n): it is positive where the quotient is.
static struct ir_expr *dividend(struct ir_expr *to)
{
    int64_t n;
    while (to->op == OP_ceildiv && ir_int_value(to->args[1], &n) && n > 0)
        to = to->args[0];
    return to;
}

bool facts_runs(const struct facts *f, const struct ir_for *loop)
{
    bool is_counted = ir_is_int_const(loop->from, 0);
    struct ir_expr *to = is_counted ? dividend(loop->to) : loop->to;
    return facts_holds(f, ir_binary(f->arena, OP_lt, loop->from, to));
}

// Decide a comparison of integers by their ranges.
static enum truth decide_ranges(enum ir_op op, struct interval x,
                                struct interval y)
{
    switch ((int)op) {
    case OP_lt:
        return x.hi < y.lo ? TRUTH_TRUE : x.lo >= y.hi ? TRUTH_FALSE : 0;
    case OP_le:
        return x.hi <= y.lo ? TRUTH_TRUE : x.lo > y.hi ? TRUTH_FALSE : 0;
    case OP_gt: return decide_ranges(OP_lt, y, x);
    case OP_ge: return decide_ranges(OP_le, y, x);
    case OP_eq: return x.hi < y.lo || y.hi < x.lo ? TRUTH_FALSE : 0;
    case OP_ne: return x.hi < y.lo || y.hi < x.lo ? TRUTH_TRUE : 0;
    default: return TRUTH_UNKNOWN;
    }
}

// Return the truth of the opposite.
static enum truth negate(enum truth t)
{
    return t == TRUTH_TRUE ? TRUTH_FALSE : t == TRUTH_FALSE ? TRUTH_TRUE : t;
}

// Decide whether form + offset >= 0; *form >= 0 is the comparison.  Here and below
// it need not be found that something fails if `only_true`.
static enum truth decide_form(const struct facts *f, const struct affine *form,
                              bool only_true)
{
    if (facts_nonnegative(f, form))
        return TRUTH_TRUE;
    if (only_true)
        return TRUTH_UNKNOWN;
    struct affine minus_one = affine_number(-1);
    struct affine other = affine_add(f->arena, &minus_one, -1, form);
    return facts_nonnegative(f, &other) ? TRUTH_FALSE : TRUTH_UNKNOWN;
}

// Decide x == y: both x <= y and y <= x, or one of them not.
static enum truth decide_equal(const struct facts *f, struct ir_expr *x,
                               struct ir_expr *y, bool only_true)
{
    struct affine low = affine_of(f->arena, x), high = affine_of(f->arena, y);
    struct affine up = affine_add(f->arena, &high, -1, &low);
    struct affine down = affine_add(f->arena, &low, -1, &high);
    enum truth first = decide_form(f, &up, only_true);
    if (only_true && first != TRUTH_TRUE)
        return TRUTH_UNKNOWN;
    enum truth second = decide_form(f, &down, only_true);
    if (first == TRUTH_FALSE || second == TRUTH_FALSE)
        return TRUTH_FALSE;
    return first == TRUTH_TRUE && second == TRUTH_TRUE ? TRUTH_TRUE
                                                       : TRUTH_UNKNOWN;
}

static enum truth decide_comparison(const struct facts *f, struct ir_expr *c,
                                    bool only_true);

// Return the quotient that is x, or a part of the sum x, whose other part is
// then *rest; NULL if there is none.
static const struct ir_expr *quotient_in(struct ir_expr *x,
                                         struct ir_expr **rest)
{
    for (int i = 0; x->op == OP_add && i < 2; i++) {
        if (x->args[i]->op == OP_div) {
            *rest = x->args[1 - i];
            return x->args[i];
        }
    }
    return x->op == OP_div ? x : NULL;
}

// Decide x / d + r < y as x < (y - r) * d, where d is positive and x is not
// negative.
static enum truth decide_quotient(const struct facts *f, struct ir_expr *sum,
                                  struct ir_expr *y, bool only_true)
{
    struct arena *a = f->arena;
    struct ir_expr *r = NULL;
    const struct ir_expr *quotient = quotient_in(sum, &r);
    if (!quotient || !facts_is_total(f, quotient))
        return TRUTH_UNKNOWN;
    struct ir_expr *x = quotient->args[0], *d = quotient->args[1];
    struct affine whole = affine_of(a, x);
    if (!facts_nonnegative(f, &whole))
        return TRUTH_UNKNOWN;
    y = r ? ir_binary(a, OP_sub, y, r) : y;
    return decide_comparison(f, ir_binary(a, OP_lt, x, ir_mul(a, y, d)),
                             only_true);
}

// Decide a comparison of two integers.
static enum truth decide_comparison(const struct facts *f, struct ir_expr *c,
                                    bool only_true)
{
    struct ir_expr *x = c->args[0], *y = c->args[1];
    if (!type_is_integer(x->type) || x->type.lanes != 1)
        return TRUTH_UNKNOWN;
    enum truth t = decide_ranges(c->op, facts_range(f, x), facts_range(f, y));
    struct affine form;
    if (t != TRUTH_UNKNOWN || !type_is_index(x->type))
        return t;
    if (facts_form(f->arena, c, &form))
        t = decide_form(f, &form, only_true);
    if (t == TRUTH_UNKNOWN && c->op == OP_lt)
        t = decide_quotient(f, x, y, only_true);
    if (c->op == OP_eq)
        return decide_equal(f, x, y, only_true);
    return c->op == OP_ne ? negate(decide_equal(f, x, y, false)) : t;
}

// Decide a condition.
static enum truth decide(const struct facts *f, struct ir_expr *c,
                         bool only_true)
{
    if (ir_is_true(c))
        return TRUTH_TRUE;
    if (ir_is_false(c))
        return TRUTH_FALSE;
    if (c->op == OP_not)
        return negate(decide(f, c->args[0], false));
    if (c->op == OP_and || c->op == OP_or) {
        enum truth decisive = c->op == OP_and ? TRUTH_FALSE : TRUTH_TRUE;
        enum truth x = decide(f, c->args[0], only_true);
        if (x == decisive || (only_true && c->op == OP_and && !x))
            return x;
        enum truth y = decide(f, c->args[1], only_true);
        if (y == decisive)
            return y;
        return x == y ? x : TRUTH_UNKNOWN;
    }
    return c->n == 2 ? decide_comparison(f, c, only_true) : TRUTH_UNKNOWN;
}

enum truth facts_decide(const struct facts *f, struct ir_expr *condition)
{
    return decide(f, condition, false);
}

bool facts_holds(const struct facts *f, struct ir_expr *condition)
{
    return decide(f, condition, true) == TRUTH_TRUE;
}
