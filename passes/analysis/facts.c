// The facts of a walk: what loops, lets, stages and conditions teach.

#include "passes/analysis/facts.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/analysis/answers.h"
#include "passes/analysis/models.h"

// Take note that something is learnt: what was asked may have another answer.
static void step(struct facts *f)
{
    vec_push(f->arena, &f->states, ++f->newest);
}

const struct fact_var *facts_var(const struct facts *f,
                                 const struct ir_var *var)
{
    for (size_t i = f->vars.n; i-- > 0;)
        if (f->vars.at[i].var == var)
            return &f->vars.at[i];
    return NULL;
}

// Divide x >= 0 by the common factor of its terms, rounding the constant
// down: the same integers satisfy it.
static void tighten(struct affine *x)
{
    int64_t g = 0;
    for (size_t i = 0; i < x->terms.n; i++)
        g = num_gcd(g, x->terms.at[i].factor);
    if (g <= 1)
        return;
    for (size_t i = 0; i < x->terms.n; i++)
        x->terms.at[i].factor /= g;
    int64_t rest = x->constant % g;
    x->constant = x->constant / g - (rest < 0);
}

// Narrow the range of the variable if x >= 0 is a bound on just that one.
static void learn_range(struct facts *f, const struct affine *x)
{
    if (x->terms.n != 1 || x->terms.at[0].n != 1 ||
        x->terms.at[0].atoms[0]->op != OP_var || x->constant == INT64_MIN)
        return;
    const struct ir_var *var = x->terms.at[0].atoms[0]->u.var;
    const struct fact_var *old = facts_var(f, var);
    struct fact_var new = {.var = var, .range = interval_of_type(var->type)};
    if (old)
        new = *old;
    struct interval bound = interval_all();
    if (x->terms.at[0].factor > 0)
        bound.lo = -x->constant;
    else
        bound.hi = x->constant;
    new.range = interval_meet(new.range, bound);
    vec_push(f->arena, &f->vars, new);
    step(f);
}

// Learn that x >= 0.
static void learn(struct facts *f, struct affine x)
{
    if (x.failed || x.terms.n == 0)
        return;
    tighten(&x);
    learn_range(f, &x);
    vec_push(f->arena, &f->known, x);
    step(f);
}

// Learn that y - x + offset >= 0 for index values that never change: elements of
// inputs are such, too.
static void learn_at_most(struct facts *f, struct ir_expr *x, struct ir_expr *y,
                          int64_t offset)
{
    if (!type_is_index(x->type) || !ir_is_steady(x) || !ir_is_steady(y))
        return;
    struct affine low = affine_of(f->arena, x), high = affine_of(f->arena, y);
    struct affine d = affine_add(f->arena, &high, -1, &low);
    affine_offset(&d, offset);
    learn(f, d);
}

// Learn what f * x + c being a multiple of a number says of an atom x: of n + 8 and 16,
// that n is one of 8; of 2 * n and 8, that n is one of 4.
static void learn_atom_multiple(struct facts *f,
                                const struct fact_multiple *sum)
{
    struct affine form = affine_of(f->arena, sum->atom);
    if (form.failed || form.terms.n != 1 || form.terms.at[0].n != 1)
        return;
    const struct affine_term *t = form.terms.at;
    int64_t of = num_gcd(form.constant, sum->of);
    of /= num_gcd(t->factor, of);
    if (of > 1)
        vec_push(f->arena, &f->multiples,
                 ((struct fact_multiple){.atom = t->atoms[0], .of = of}));
}

// Learn from x % of == 0.
static void learn_multiple(struct facts *f, struct ir_expr *x,
                           struct ir_expr *of)
{
    struct fact_multiple m = {.atom = x};
    if (!ir_int_value(of, &m.of) || m.of <= 0 || !ir_is_stable(x))
        return;
    vec_push(f->arena, &f->multiples, m);
    learn_atom_multiple(f, &m);
    step(f);
}

// Return the comparison that holds where `op` does not.
static enum ir_op opposite(enum ir_op op)
{
    switch ((int)op) {
    case OP_lt: return OP_ge;
    case OP_le: return OP_gt;
    case OP_gt: return OP_le;
    case OP_ge: return OP_lt;
    case OP_eq: return OP_ne;
    case OP_ne: return OP_eq;
    default: return op;
    }
}

void facts_assume(struct facts *f, struct ir_expr *c, bool holds)
{
    enum ir_op op = holds ? c->op : opposite(c->op);
    if (c->op == OP_not)
        facts_assume(f, c->args[0], !holds);
    else if (c->op == (holds ? OP_and : OP_or)) {
        facts_assume(f, c->args[0], holds);
        facts_assume(f, c->args[1], holds);
    }
    if (c->n != 2 || !type_is_index(c->args[0]->type))
        return;
    struct ir_expr *x = c->args[0], *y = c->args[1];
    if (op == OP_lt || op == OP_le || op == OP_eq)
        learn_at_most(f, x, y, op == OP_lt ? -1 : 0);
    if (op == OP_gt || op == OP_ge || op == OP_eq)
        learn_at_most(f, y, x, op == OP_gt ? -1 : 0);
    if (op == OP_eq && x->op == OP_mod && ir_is_int_const(y, 0))
        learn_multiple(f, x->args[0], x->args[1]);
}

void facts_enter_block(struct facts *f, const struct ir_stmt *s, uint32_t k)
{
    if (s->kind == STMT_if)
        facts_assume(f, s->u.branch.cond, k == 0);
}

bool facts_form(struct arena *a, const struct ir_expr *c, struct affine *form)
{
    bool less = c->op == OP_lt || c->op == OP_le;
    if (!less && c->op != OP_gt && c->op != OP_ge)
        return false;
    if (!type_is_index(c->args[0]->type) || c->type.lanes != 1)
        return false;
    struct affine x = affine_of(a, c->args[less ? 0 : 1]);
    struct affine y = affine_of(a, c->args[less ? 1 : 0]);
    *form = affine_add(a, &y, -1, &x);
    bool strict = c->op == OP_lt || c->op == OP_gt;
    form->failed |= !num_sub(form->constant, strict, &form->constant);
    return !form->failed;
}

// Declare a variable in a range.
static void declare(struct facts *f, const struct ir_var *var,
                    struct interval range, struct ir_expr *value)
{
    range = interval_meet(range, interval_of_type(var->type));
    struct fact_var new = {.var = var, .range = range, .value = value};
    vec_push(f->arena, &f->vars, new);
    step(f);
}

// Return the most that an expression may be: by its range, or by what is known
// of all of it.
static int64_t most(struct facts *f, struct ir_expr *x)
{
    int64_t most = facts_range(f, x).hi;
    struct affine form = affine_of(f->arena, x);
    for (size_t i = 0; i < f->known.n && form.terms.n; i++) {
        if (f->known.at[i].terms.n != form.terms.n)
            continue;
        struct affine d = affine_add(f->arena, &f->known.at[i], 1, &form);
        if (affine_is_number(&d) && d.constant < most)
            most = d.constant;
    }
    return most;
}

// Learn the range of a loop variable.
static void enter_loop(struct facts *f, const struct ir_for *loop)
{
    struct ir_expr *v = ir_read(f->arena, loop->var);
    struct interval range = {facts_range(f, loop->from).lo, INT64_MAX};
    int64_t step = 1, last = -1;
    int64_t to = most(f, loop->to);
    range.hi = to == INT64_MAX || to == INT64_MIN ? to : to - 1;
    declare(f, loop->var, range, NULL);
    ir_int_value(loop->step, &step);
    if (step > 1 && ir_is_stable(loop->from)) {
        struct affine from = affine_of(f->arena, loop->from);
        struct affine end = affine_of(f->arena, loop->to);
        if (facts_multiple(f, &from, step)) {
            learn_multiple(f, v, loop->step);
            last = facts_multiple(f, &end, step) ? -step : -1;
        }
    }
    learn_at_most(f, loop->from, v, 0);
    learn_at_most(f, v, loop->to, last);
}

// Learn the value of a `let`.
static void enter_let(struct facts *f, const struct ir_stmt *s)
{
    struct ir_expr *value = s->u.let.value;
    if (!type_is_integer(s->u.let.var->type) || value->type.lanes != 1)
        return;
    bool stable = ir_is_stable(value);
    declare(f, s->u.let.var, facts_range(f, value), stable ? value : NULL);
    struct ir_expr *v = ir_read(f->arena, s->u.let.var);
    learn_at_most(f, v, value, 0);
    learn_at_most(f, value, v, 0);
}

// Learn the ranges of a stage's iteration variables.
static void enter_stage(struct facts *f, const struct ir_stage *stage)
{
    vec_foreach(it, &stage->iters) {
        int64_t end = facts_range(f, it->extent).hi;
        bool open = end == INT64_MAX || end == INT64_MIN;
        declare(f, it->var, (struct interval){0, open ? end : end - 1}, NULL);
        learn_at_most(f, ir_read(f->arena, it->var), it->extent, -1);
    }
}

// Return whether a fact is about a reduction of a stage, or a loop over it.
static bool is_of_reduction(const struct affine *x,
                            const struct ir_stage *stage)
{
    bool found = false;
    for (size_t i = 0; i < x->terms.n; i++)
        for (uint32_t k = 0; k < x->terms.at[i].n; k++)
            found |= ir_stage_counts(stage, x->terms.at[i].atoms[k]);
    return found;
}

struct facts facts_of_init(const struct facts *f, const struct ir_stage *stage)
{
    struct facts r = *f;
    bool found = false;
    for (size_t i = 0; i < f->known.n && !found; i++)
        found = is_of_reduction(&f->known.at[i], stage);
    if (!found)
        return r;
    r.answers = answers_new(f->arena);
    r.models = models_new(f->arena);
    r.known.at = arena_array(f->arena, struct affine, f->known.n);
    r.known.cap = f->known.n;
    for (size_t i = 0; i < f->known.n; i++)
        r.known.at[i] = is_of_reduction(&f->known.at[i], stage)
                            ? affine_number(0)
                            : f->known.at[i];
    return r;
}

void facts_enter(struct facts *f, const struct ir_stmt *s)
{
    if (s->kind == STMT_for)
        enter_loop(f, &s->u.loop);
    else if (s->kind == STMT_let)
        enter_let(f, s);
    else if (s->kind == STMT_stage)
        enter_stage(f, &s->u.stage);
    else if (s->kind == STMT_launch) {
        f->launch = &s->u.launch;
        step(f);
    }
}

// Learn what the `let`s before statement `i` of a path say.
static void enter_names(struct facts *f, const struct ir_path *path, uint32_t i)
{
    const struct ir_block *block = path->blocks[i];
    for (size_t k = 0; block->at[k] != path->stmts[i]; k++)
        if (block->at[k]->kind == STMT_let)
            facts_enter(f, block->at[k]);
}

void facts_enter_path(struct facts *f, const struct ir_path *path, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        enter_names(f, path, i);
        facts_enter(f, path->stmts[i]);
    }
    if (n < path->n)
        enter_names(f, path, n);
}

// The most operations of a guard that is used: larger ones compare estimates of
// times, which tell nothing of indices, and whose terms every search would try.
enum { GUARD_OPERATIONS_MOST = 48 };

// Learn the parts of a guard that are not too large.
static void enter_guard(struct facts *f, struct ir_expr *c)
{
    int n = 0;
    if (c->op == OP_and) {
        enter_guard(f, c->args[0]);
        enter_guard(f, c->args[1]);
        return;
    }
    ir_foreach_expr(x, c)
        if (++n > GUARD_OPERATIONS_MOST)
            return;
    facts_assume(f, c, true);
}

void facts_start(struct facts *f, struct arena *a,
                 const struct ir_kernel *kernel)
{
    *f = (struct facts){
        .arena = a, .answers = answers_new(a), .models = models_new(a)};
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        if (var && type_is_index(var->type))
            declare(f, var, (struct interval){0, INT64_MAX}, NULL);
    }
    for (size_t i = 0; i < kernel->where.n; i++)
        facts_assume(f, kernel->where.at[i], true);
    for (size_t i = 0; i < kernel->guard.n; i++)
        enter_guard(f, kernel->guard.at[i]);
}

struct facts facts_around(struct arena *a, struct ir_kernel *kernel,
                          const struct ir_stmt *s)
{
    struct facts f;
    struct ir_path path;
    facts_start(&f, a, kernel);
    ir_find(a, &kernel->body, s, &path);
    facts_enter_path(&f, &path, path.n - 1);
    return f;
}

struct facts_mark facts_mark(const struct facts *f)
{
    return (struct facts_mark){f->known.n, f->vars.n, f->multiples.n,
                               f->states.n, f->launch};
}

void facts_leave(struct facts *f, struct facts_mark mark)
{
    f->known.n = mark.known;
    f->vars.n = mark.vars;
    f->multiples.n = mark.multiples;
    f->states.n = mark.states;
    f->launch = mark.launch;
}

struct facts facts_at(const struct facts *f, struct facts_mark mark)
{
    struct facts r = *f;
    facts_leave(&r, mark);
    r.known.cap = r.known.n;
    r.vars.cap = r.vars.n;
    r.multiples.cap = r.multiples.n;
    r.states.cap = r.states.n;
    return r;
}

struct facts *facts_copy(const struct facts *f)
{
    struct facts *copy = arena_new(f->arena, struct facts);
    *copy = facts_at(f, (struct facts_mark){.launch = f->launch});
    vec_append(f->arena, &copy->known, &f->known);
    vec_append(f->arena, &copy->vars, &f->vars);
    vec_append(f->arena, &copy->multiples, &f->multiples);
    vec_append(f->arena, &copy->states, &f->states);
    return copy;
}

bool facts_are_same(const struct facts *f, const struct facts *copy)
{
    size_t n = f->states.n;
    return n == copy->states.n &&
           (!n || f->states.at[n - 1] == copy->states.at[n - 1]);
}

struct facts_inside facts_inside(struct facts *f, struct ir_stmt *s)
{
    struct facts_inside w = {.facts = f, .stmt = s, .outside = facts_mark(f)};
    facts_enter(f, s);
    w.around = facts_mark(f);
    return w;
}

struct ir_block *facts_next_inside(struct facts_inside *w)
{
    struct ir_block *blocks[IR_BLOCKS_MOST];
    uint32_t n = ir_stmt_blocks(w->stmt, blocks);
    if (w->next > 0)
        facts_leave(w->facts, w->around);
    if (w->next < n) {
        facts_enter_block(w->facts, w->stmt, w->next);
        return blocks[w->next++];
    }
    if (w->stmt->kind != STMT_let)
        facts_leave(w->facts, w->outside);
    return NULL;
}
