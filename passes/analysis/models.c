// Models are made by choosing numbers, innermost variable first and the sizes
// last, each from the range that the facts on it and what is chosen leave:
//
//   0 <= i < ceildiv(N, 64), 0 <= t < 64, 64 * i + t < N
//   t = 0, i = 0, and N is at least 1: a model in which t < N - 1 fails
//
// It is the end of the range that makes the claim smaller.  What a `let` is
// follows in the end.  There is no way back from a choice; what comes out is a
// model only if all facts hold in it.

#include "passes/analysis/models.h"

#include "ir/base/num.h"
#include "ir/build.h"

enum {
    LEAVES_MOST = 62,
    MODELS_MOST = 16,
    POSITIONS = 6, // axes of blocks and threads
    SMS = 132      // any number would do
};

// How to go about a model: how far to go where a range is open, how far from
// its beginning to stay, and whether a `let` is its value from the start.
struct way {
    int64_t reach, aside;
    bool by_value;
};

// The ways, those first that most often come to something; a round of the search is
// so many of them.
static const struct way ways[] = {
    {4351, 0, false}, {59, 1, true},       {4351, 1, false},
    {4351, 0, true},  {2097407, 0, false},
};
enum { WAYS = sizeof ways / sizeof *ways };
static const size_t ends[MODELS_ROUNDS] = {1, 2, WAYS};

// Beyond what a model is made with.
static const int64_t LARGE = INT64_C(1) << 31;

// In the set of leaves of a form that cannot be evaluated.
static const uint64_t OTHER = UINT64_C(1) << LEAVES_MOST;

// A variable or position.
struct leaf {
    const struct ir_var *var; // NULL for a position
    enum axis axis;
    int64_t value;
    bool is_set;
};

// A model.  The value of a variable without a leaf is that of its `let`.
struct model {
    const struct facts *facts;       // who asks
    struct leaf leaves[LEAVES_MOST]; // positions first
    size_t n;
    uint32_t *states; // what was known
    size_t depth;
};

struct models {
    struct model *at[MODELS_MOST];
    size_t n; // found so far; the newest are kept
};

struct models *models_new(struct arena *a)
{
    return arena_new(a, struct models);
}

// Return the leaf of a variable, or NULL.
static struct leaf *leaf_of_var(struct model *m, const struct ir_var *var)
{
    for (size_t i = m->n; i-- > POSITIONS;)
        if (m->leaves[i].var == var)
            return &m->leaves[i];
    return NULL;
}

// Return the leaf that an expression is, or NULL.
static struct leaf *leaf_of(struct model *m, const struct ir_expr *x)
{
    if (x->op == OP_var)
        return leaf_of_var(m, x->u.var);
    bool is_position = x->op == OP_index && x->u.axis >= AXIS_block_x &&
                       x->u.axis < AXIS_block_x + POSITIONS;
    return is_position ? &m->leaves[x->u.axis - AXIS_block_x] : NULL;
}

// Return the value of the `let` that an expression names, NULL if it names none
// or a leaf.
static const struct ir_expr *let_value(struct model *m, const struct ir_expr *x)
{
    if (x->op != OP_var || leaf_of_var(m, x->u.var))
        return NULL;
    const struct fact_var *known = facts_var(m->facts, x->u.var);
    return known ? known->value : NULL;
}

// Compute an operation on two numbers; the first operand of a division or shift
// is not negative, the second positive.
static bool compute(enum ir_op op, int64_t x, int64_t y, int64_t *out)
{
    bool divides =
        op == OP_div || op == OP_mod || op == OP_ceildiv || op == OP_shr;
    if (divides && (x < 0 || y <= 0 || (op == OP_shr && y > 62)))
        return false;
    switch ((int)op) {
    case OP_add: return num_add(x, y, out);
    case OP_sub: return num_sub(x, y, out);
    case OP_mul: return num_mul(x, y, out);
    case OP_div: return num_div(x, y, out);
    case OP_mod: return num_mod(x, y, out);
    case OP_ceildiv: return num_ceildiv(x, y, out);
    case OP_min: *out = x < y ? x : y; return true;
    case OP_max: *out = x > y ? x : y; return true;
    case OP_shr: *out = x >> y; return true;
    case OP_lt: *out = x < y; return true;
    case OP_le: *out = x <= y; return true;
    case OP_gt: *out = x > y; return true;
    case OP_ge: *out = x >= y; return true;
    case OP_eq: *out = x == y; return true;
    case OP_ne: *out = x != y; return true;
    default: return false;
    }
}

// Evaluate an expression; false if it is not known what it is.
static bool eval(struct model *m, const struct ir_expr *x, int64_t *out)
{
    int64_t first, second;
    if (ir_int_value(x, out))
        return true;
    if (x->op == OP_select)
        return eval(m, x->args[0], &first) &&
               eval(m, x->args[first ? 1 : 2], out);
    if (x->op == OP_resident)
        return eval(m, x->args[0], &first) && num_mul(first, SMS, out);
    if (x->op == OP_var || x->op == OP_index) {
        const struct leaf *l = leaf_of(m, x);
        const struct ir_expr *value = l ? NULL : let_value(m, x);
        if (value)
            return eval(m, value, out);
        *out = l ? l->value : 0;
        return l && l->is_set;
    }
    return x->n == 2 && type_is_index(x->args[0]->type) && x->type.lanes == 1 &&
           eval(m, x->args[0], &first) && eval(m, x->args[1], &second) &&
           compute(x->op, first, second, out);
}

// Evaluate a term.
static bool eval_term(struct model *m, const struct affine_term *t,
                      int64_t *out)
{
    int64_t atom;
    *out = t->factor;
    for (uint32_t i = 0; i < t->n; i++)
        if (!eval(m, t->atoms[i], &atom) || !num_mul(*out, atom, out))
            return false;
    return true;
}

// Evaluate a form.
static bool eval_form(struct model *m, const struct affine *x, int64_t *out)
{
    int64_t term;
    *out = x->constant;
    for (size_t i = 0; i < x->terms.n; i++)
        if (!eval_term(m, &x->terms.at[i], &term) || !num_add(*out, term, out))
            return false;
    return !x->failed;
}

// Return whether x >= 0 is known to fail.
static bool fails(struct model *m, const struct affine *x)
{
    int64_t value;
    return eval_form(m, x, &value) && value < 0;
}

// Return the range of a leaf by itself; that of a block once the sizes are
// chosen.
static struct interval leaf_range(const struct facts *f, struct model *m,
                                  const struct leaf *l)
{
    int64_t end, most = axis_most(l->axis);
    if (l->var)
        return facts_var(f, l->var)->range;
    if (!f->launch)
        return (struct interval){0, most - 1};
    int d = axis_dimension(l->axis);
    if (axis_kind(l->axis) == AXIS_THREAD)
        return (struct interval){0, (int64_t)f->launch->block[d] - 1};
    if (!eval(m, f->launch->grid[d], &end) || end > most)
        end = most;
    return (struct interval){0, end - 1};
}

// Return whether everything known holds.
static bool holds(const struct facts *f, struct model *m)
{
    int64_t value;
    for (size_t i = 0; i < m->n; i++) {
        struct interval v = interval_of(m->leaves[i].value);
        if (!m->leaves[i].is_set ||
            !interval_within(v, leaf_range(f, m, &m->leaves[i])))
            return false;
    }
    for (size_t i = 0; i < f->known.n; i++)
        if (!eval_form(m, &f->known.at[i], &value) || value < 0)
            return false;
    vec_foreach(x, &f->multiples)
        if (!eval(m, x->atom, &value) || value % x->of)
            return false;
    return true;
}

// Add the leaves of everything known; false if there are too many.
static bool add_leaves(const struct facts *f, struct model *m, bool by_value)
{
    while (m->n < POSITIONS) {
        enum axis axis = AXIS_block_x + (enum axis)m->n;
        m->leaves[m->n++] = (struct leaf){.axis = axis};
    }
    for (size_t i = 0; i < f->vars.n; i++) {
        if ((by_value && f->vars.at[i].value) ||
            leaf_of_var(m, f->vars.at[i].var))
            continue;
        if (m->n == LEAVES_MOST)
            return false;
        m->leaves[m->n++] = (struct leaf){.var = f->vars.at[i].var};
    }
    return true;
}

// A use of a leaf: factor * leaf, or factor * the quotient of leaf and divisor.
struct use {
    int64_t factor, divisor;
    bool is_up; // the quotient is rounded up
};

// Find how a term that cannot be evaluated uses a leaf; false if in no such
// way.
static bool find_use(struct model *m, const struct affine_term *t,
                     const struct leaf *l, struct use *out)
{
    int64_t value;
    *out = (struct use){t->factor, 0, false};
    for (uint32_t i = 0; i < t->n; i++) {
        const struct ir_expr *x = t->atoms[i];
        if (eval(m, x, &value)) {
            if (!num_mul(out->factor, value, &out->factor))
                return false;
            continue;
        }
        bool is_quotient = x->op == OP_div || x->op == OP_ceildiv;
        if (out->divisor || leaf_of(m, is_quotient ? x->args[0] : x) != l)
            return false;
        out->divisor = 1;
        out->is_up = x->op == OP_ceildiv;
        if (is_quotient && !eval(m, x->args[1], &out->divisor))
            return false;
    }
    return out->factor != 0 && out->divisor > 0;
}

// Narrow a range to where use + rest >= 0.
static void narrow(const struct use *u, int64_t rest, struct interval *r)
{
    int64_t bound, size = u->factor < 0 ? -u->factor : u->factor;
    int64_t by = u->divisor, over = u->is_up ? by - 1 : 0;
    if (u->factor > 0) {
        bound = rest > 0 ? -(rest / size) : (-rest + size - 1) / size;
        if (bound * by - over > r->lo)
            r->lo = bound * by - over;
    } else {
        bound = rest < 0 ? -((-rest + size - 1) / size) : rest / size;
        if (bound * by + by - 1 - over < r->hi)
            r->hi = bound * by + by - 1 - over;
    }
}

// Return whether a number is small enough to calculate with.
static bool is_moderate(int64_t x)
{
    return x > -LARGE && x < LARGE;
}

// Narrow the range of a leaf by a fact in which nothing else is open.
static void narrow_by(struct model *m, const struct affine *fact,
                      const struct leaf *l, struct interval *r)
{
    struct use use = {0};
    int64_t term, rest = fact->constant;
    vec_foreach(t, &fact->terms) {
        if (eval_term(m, t, &term)) {
            if (!num_add(rest, term, &rest))
                return;
        } else if (use.factor || !find_use(m, t, l, &use)) {
            return;
        }
    }
    if (use.factor && is_moderate(use.factor) && is_moderate(use.divisor) &&
        is_moderate(rest))
        narrow(&use, rest, r);
}

// Return 1 if an expression grows with a leaf, -1 if it falls, 0 if neither or
// both.
static int direction_of(struct model *m, const struct ir_expr *x,
                        const struct leaf *l)
{
    const struct ir_expr *value = let_value(m, x);
    if (value)
        return direction_of(m, value, l);
    if (leaf_of(m, x) == l)
        return 1;
    if (x->n != 2 || x->op == OP_mod)
        return 0;
    int first = direction_of(m, x->args[0], l);
    int second = direction_of(m, x->args[1], l);
    return first ? first : x->op == OP_sub ? -second : second;
}

// Return the same of a form.
static int direction(struct model *m, const struct affine *x,
                     const struct leaf *l)
{
    int r = 0;
    for (size_t i = 0; i < x->terms.n && !r; i++) {
        const struct affine_term *t = &x->terms.at[i];
        for (uint32_t j = 0; j < t->n && !r; j++)
            r = direction_of(m, t->atoms[j], l) * (t->factor < 0 ? -1 : 1);
    }
    return r;
}

// Return the set of the leaves in an expression; OTHER for a variable of which
// nothing is known.
static uint64_t leaves_in(struct model *m, const struct ir_expr *x)
{
    uint64_t set = 0;
    const struct leaf *l = leaf_of(m, x);
    const struct ir_expr *value = let_value(m, x);
    if (value)
        return leaves_in(m, value);
    if (l || x->op == OP_var)
        return l ? UINT64_C(1) << (l - m->leaves) : OTHER;
    for (uint32_t i = 0; i < x->n; i++)
        set |= leaves_in(m, x->args[i]);
    return set;
}

// Return the set of the leaves in a form.
static uint64_t leaves_of(struct model *m, const struct affine *x)
{
    uint64_t set = 0;
    for (size_t i = 0; i < x->terms.n; i++)
        for (uint32_t j = 0; j < x->terms.at[i].n; j++)
            set |= leaves_in(m, x->terms.at[i].atoms[j]);
    return set;
}

// A model in the making.
struct attempt {
    const struct facts *facts;
    const struct affine *claim;
    struct model model;
    struct VEC(struct affine) known; // facts, and that blocks are in the grid
    uint64_t *open; // of each of these, the leaves that are not chosen
    struct way way;
};

// Return the number that a leaf is known to be a multiple of, 1 if of none.
static int64_t multiple_of(const struct facts *f, const struct leaf *l)
{
    for (size_t i = f->multiples.n; i-- > 0;) {
        const struct fact_multiple *m = &f->multiples.at[i];
        if (l->var && m->atom->op == OP_var && m->atom->u.var == l->var)
            return m->of;
    }
    return 1;
}

// Choose a number for a leaf; false if none is left.
static bool choose(struct attempt *t, size_t at)
{
    struct leaf *l = &t->model.leaves[at];
    struct interval r = leaf_range(t->facts, &t->model, l);
    for (size_t i = 0; i < t->known.n; i++) {
        if (t->open[i] == UINT64_C(1) << at)
            narrow_by(&t->model, &t->known.at[i], l, &r);
        t->open[i] &= ~(UINT64_C(1) << at);
    }
    if (r.lo < -t->way.reach)
        r.lo = -t->way.reach;
    if (r.lo > r.hi || r.lo > LARGE)
        return false;
    if (r.hi > r.lo + t->way.reach) {
        r.hi = r.lo + t->way.reach;
        r.lo += t->way.aside;
    }
    int64_t of = multiple_of(t->facts, l), first = r.lo + of - 1;
    bool is_last = direction(&t->model, t->claim, l) < 0;
    l->value =
        is_last ? r.hi - (r.hi % of + of) % of : first - (first % of + of) % of;
    l->is_set = true;
    return true;
}

// Take the facts, and that the positions of blocks are in the grid.
static void take_facts(struct attempt *t)
{
    struct arena *a = t->facts->arena;
    const struct ir_launch *launch = t->facts->launch;
    vec_append(a, &t->known, &t->facts->known);
    for (int i = 0; launch && i < POSITIONS; i++) {
        enum axis axis = AXIS_block_x + (enum axis)i;
        if (axis_kind(axis) != AXIS_BLOCK)
            continue;
        struct affine grid = affine_of(a, launch->grid[axis_dimension(axis)]);
        struct affine self = affine_atom(a, ir_index_value(a, axis));
        struct affine room = affine_add(a, &grid, -1, &self);
        affine_offset(&room, -1);
        vec_push(a, &t->known, room);
    }
    t->open = arena_array(a, uint64_t, t->known.n);
    for (size_t i = 0; i < t->known.n; i++)
        t->open[i] = leaves_of(&t->model, &t->known.at[i]);
}

// Give each `let` its value, where that can be evaluated.
static void follow_lets(struct attempt *t)
{
    for (size_t i = POSITIONS; i < t->model.n; i++) {
        struct leaf *l = &t->model.leaves[i];
        const struct ir_expr *value = facts_var(t->facts, l->var)->value;
        if (value)
            eval(&t->model, value, &l->value);
    }
}

// Make a model that has a chance to refute the claim.
static bool make(struct attempt *t)
{
    struct model *m = &t->model;
    if (!add_leaves(t->facts, m, t->way.by_value))
        return false;
    take_facts(t);
    for (size_t i = 0; i < POSITIONS; i++)
        if (!choose(t, i))
            return false;
    for (size_t i = m->n; i-- > POSITIONS;)
        if (!choose(t, i))
            return false;
    follow_lets(t);
    return holds(t->facts, m);
}

// Return whether at least as much was known when a model was found.
static bool is_model(const struct facts *f, const struct model *m)
{
    size_t n = f->states.n;
    return m->depth >= n && (!n || m->states[n - 1] == f->states.at[n - 1]);
}

bool models_refute(const struct facts *f, const struct affine *x)
{
    struct models *all = f->models;
    for (size_t i = 0; i < all->n && i < MODELS_MOST; i++) {
        all->at[i]->facts = f;
        if (is_model(f, all->at[i]) && fails(all->at[i], x))
            return true;
    }
    return false;
}

// Keep a model of what is known now.
static void keep(const struct facts *f, const struct model *m)
{
    struct model *new = arena_new(f->arena, struct model);
    *new = *m;
    new->depth = f->states.n;
    new->states = arena_array(f->arena, uint32_t, new->depth);
    for (size_t i = 0; i < new->depth; i++)
        new->states[i] = f->states.at[i];
    f->models->at[f->models->n++ % MODELS_MOST] = new;
}

bool models_search(const struct facts *f, const struct affine *x, size_t round)
{
    for (size_t i = round ? ends[round - 1] : 0; i < ends[round]; i++) {
        struct attempt t = {
            .facts = f, .claim = x, .model = {.facts = f}, .way = ways[i]};
        struct arena_mark mark = arena_mark(f->arena);
        bool is_refuted = make(&t) && fails(&t.model, x);
        arena_release(f->arena, mark);
        if (is_refuted) {
            keep(f, &t.model);
            return true;
        }
    }
    return false;
}
