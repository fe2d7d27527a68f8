// Dependences carried by loops, from the places that statements touch.
//
// The address of an element is a function of the loops around the access.
// If the address determines the value of a loop, no two iterations of that
// loop touch the same element.  Whether it does is found out by reading each
// index as a number in mixed radix:
//
//   C[i_0 * 128 + i_1], i_1 in 0..128     determines i_0 and i_1
//   C[f / n, f % n]                       determines f / n and f % n, so f
//   C[i + j]                              determines nothing
//
// Two accesses agree on a digit if the parts that do not vary are equal, and
// so are the digits in front.  The answer is conservative: what is not proved
// to be independent meets.

#include "passes/schedule/depend.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"

// A digit of an index: `weight` times a value that varies.
struct digit {
    struct affine_term weight; // its atoms do not vary
    struct ir_expr *value;
};

// A number in mixed radix: base + digits + rest, where each digit weighs more
// than everything behind it.
struct radix {
    struct ir_expr *of; // the expression
    struct affine base; // what does not vary
    bool negated;       // the digits count downwards
    struct VEC(struct digit) digits;
};

// A read or a write of an element.
struct access {
    const struct ir_buffer *buffer;
    const struct ir_stmt *stmt;
    bool writes, is_atomic;
    struct VEC(struct radix) radices; // the indices, then parts of them
};

// The state of a test.
struct walk {
    struct pass *pass;
    struct facts facts;
    struct map values;  // what lets and iteration variables stand for
    struct map varying; // variables that may differ between two iterations
    struct map inner;   // arrays and scalars declared inside the loops
    const struct ir_stmt *stmt; // being walked
    struct VEC(struct access) accesses;
    struct depend_meeting scalar; // an outer scalar that is assigned to
};

// The expressions that an address determines.
struct known VEC(struct ir_expr *);

static void walk_block(struct walk *w, struct ir_block *block);

// Look for what varies: the context of see_varying.
struct varying {
    const struct map *vars;
    bool found;
};

// Note a variable that varies, or an element of an array.
static void see_varying(struct ir_expr *x, void *context)
{
    struct varying *v = context;
    v->found |= (x->op == OP_var && map_has(v->vars, x->u.var)) ||
                (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES));
}

// Return whether two iterations may see different values of an expression.
static bool varies(const struct walk *w, struct ir_expr *x)
{
    struct varying v = {&w->varying, false};
    ir_each_expr(x, see_varying, &v);
    return v.found;
}

// Split a term into its weight and the one atom that varies.
// Returns false if none does, or several do.
static bool take_digit(struct walk *w, const struct affine_term *t,
                       struct digit *out)
{
    *out = (struct digit){.weight = {.factor = t->factor}};
    out->weight.atoms = arena_array(w->pass->scratch, struct ir_expr *, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!varies(w, t->atoms[i]))
            out->weight.atoms[out->weight.n++] = t->atoms[i];
        else if (out->value)
            return false;
        else
            out->value = t->atoms[i];
    }
    return out->value != NULL;
}

// Return whether 0 <= rest < weight is proved.
static bool fits_below(struct walk *w, const struct affine *rest,
                       const struct affine_term *weight)
{
    struct arena *a = w->pass->scratch;
    struct affine one = affine_number(1), room;
    room = affine_scale(a, &one, weight);
    room = affine_add(a, &room, -1, rest);
    room = affine_add(a, &room, -1, &one);
    return facts_nonnegative(&w->facts, rest) &&
           facts_nonnegative(&w->facts, &room);
}

// Move the leading digit of `rest` to `out`; false if none is leading.
static bool next_digit(struct walk *w, struct affine *rest, struct radix *out)
{
    struct arena *a = w->pass->scratch;
    for (size_t i = 0; i < rest->terms.n; i++) {
        struct digit d;
        struct affine zero = affine_number(0), without = *rest;
        if (!take_digit(w, &rest->terms.at[i], &d))
            continue;
        struct affine one = affine_number(1);
        struct affine term = affine_scale(a, &one, &rest->terms.at[i]);
        without = affine_add(a, &without, -1, &term);
        if (without.terms.n ? !fits_below(w, &without, &d.weight)
                            : without.constant != 0)
            continue;
        vec_push(a, &out->digits, d);
        *rest = affine_add(a, &without, 1, &zero);
        return true;
    }
    return false;
}

// Return an index as digits.
static struct radix radix_of(struct walk *w, struct ir_expr *x)
{
    struct arena *a = w->pass->scratch;
    struct affine all = affine_of(a, x), rest = affine_number(0);
    struct affine one = affine_number(1);
    struct radix r = {.of = x, .base = affine_number(all.constant)};
    if (all.failed)
        return r;
    for (size_t i = 0; i < all.terms.n; i++) {
        struct affine term = affine_scale(a, &one, &all.terms.at[i]);
        bool moves = varies(w, affine_expr(a, &term, type_scalar(TYPE_int)));
        struct affine *to = moves ? &rest : &r.base;
        *to = affine_add(a, to, 1, &term);
    }
    struct affine zero = affine_number(0);
    r.negated = rest.terms.n && rest.terms.at[0].factor < 0;
    if (r.negated)
        rest = affine_add(a, &zero, -1, &rest);
    while (rest.terms.n && next_digit(w, &rest, &r))
        continue;
    return r;
}

// Return the radix of an expression, or NULL.
static const struct radix *find_radix(const struct access *x,
                                      const struct ir_expr *of)
{
    for (size_t i = 0; i < x->radices.n; i++) {
        if (ir_expr_equal(x->radices.at[i].of, of))
            return &x->radices.at[i];
    }
    return NULL;
}

// Add the radices of the expressions that may become known from radix `i` of
// an access: what its quotients divide.
static void add_parts(struct walk *w, struct access *x, size_t i)
{
    for (size_t d = 0; d < x->radices.at[i].digits.n; d++) {
        struct ir_expr *part = x->radices.at[i].digits.at[d].value;
        if (part->op != OP_div && part->op != OP_cast)
            continue;
        if (!find_radix(x, part->args[0]))
            vec_push(w->pass->scratch, &x->radices, radix_of(w, part->args[0]));
    }
}

// Remember an access to an array that outlives an iteration.
static void add_access(struct walk *w, const struct ir_buffer *buffer,
                       struct ir_expr *const *index, bool writes,
                       bool is_atomic)
{
    if (map_has(&w->inner, buffer))
        return;
    struct access x = {buffer, w->stmt, writes, is_atomic, {NULL, 0, 0}};
    for (uint32_t i = 0; i < buffer->rank; i++)
        vec_push(w->pass->scratch, &x.radices, radix_of(w, index[i]));
    for (size_t i = 0; i < x.radices.n; i++)
        add_parts(w, &x, i);
    vec_push(w->pass->scratch, &w->accesses, x);
}

// Remember the accesses of one node of an expression.
static void see_access(struct ir_expr *x, void *context)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (flags & OP_WRITES)
        add_access(context, x->u.buffer, x->args, true, true);
    else if (flags & OP_READS)
        add_access(context, x->u.buffer, x->args, false, false);
}

// Return an expression in terms of loops, after noting what it reads.
static struct ir_expr *walk_expr(struct walk *w, struct ir_expr *x)
{
    x = ir_substitute(w->pass->scratch, x, &w->values, NULL);
    ir_each_expr(x, see_access, w);
    return x;
}

// Declare a variable inside the loops.
static void declare(struct walk *w, struct ir_var *var)
{
    map_set(&w->varying, var, var);
    map_set(&w->inner, var, var);
}

// Walk a loop.
static void walk_loop(struct walk *w, struct ir_stmt *s)
{
    struct facts_mark mark = facts_mark(&w->facts);
    walk_expr(w, s->u.loop.from);
    walk_expr(w, s->u.loop.to);
    declare(w, s->u.loop.var);
    facts_enter(&w->facts, s);
    walk_block(w, &s->u.loop.body);
    facts_leave(&w->facts, mark);
}

// Walk a block behind a condition, which may be NULL.
static void walk_guarded(struct walk *w, struct ir_expr *condition, bool holds,
                         struct ir_block *block)
{
    struct facts_mark mark = facts_mark(&w->facts);
    if (condition)
        facts_assume(&w->facts, condition, holds);
    walk_block(w, block);
    facts_leave(&w->facts, mark);
}

// Walk a stage: its iteration variables stand for their bindings.
static void walk_stage(struct walk *w, struct ir_stmt *s)
{
    struct ir_stage *stage = &s->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        struct ir_iter *it = &stage->iters.at[i];
        map_set(&w->values, it->var, walk_expr(w, it->binding));
    }
    struct ir_expr *predicate = stage->predicate;
    if (predicate)
        predicate = walk_expr(w, predicate);
    walk_guarded(w, predicate, true, &stage->init);
    walk_guarded(w, predicate, true, &stage->body);
}

// Walk a `let`, which stands for its value, or a `var`, which does not.
static void walk_let(struct walk *w, struct ir_stmt *s)
{
    struct ir_expr *value = walk_expr(w, s->u.let.value);
    declare(w, s->u.let.var);
    if (s->kind == STMT_let)
        map_set(&w->values, s->u.let.var, value);
}

// Walk an assignment.
static void walk_assign(struct walk *w, struct ir_stmt *s)
{
    walk_expr(w, s->u.let.value);
    if (!map_has(&w->inner, s->u.let.var) && !w->scalar.name)
        w->scalar = (struct depend_meeting){s->u.let.var->name, s, s};
}

// Walk a store.
static void walk_store(struct walk *w, struct ir_stmt *s)
{
    uint32_t n = s->u.store.n;
    struct ir_expr **index =
        arena_array(w->pass->scratch, struct ir_expr *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        index[i] = walk_expr(w, s->u.store.index[i]);
    add_access(w, s->u.store.buffer, index, true, false);
    walk_expr(w, s->u.store.value);
}

// Walk a branch.
static void walk_branch(struct walk *w, struct ir_stmt *s)
{
    struct ir_expr *condition = walk_expr(w, s->u.branch.cond);
    walk_guarded(w, condition, true, &s->u.branch.then);
    walk_guarded(w, condition, false, &s->u.branch.otherwise);
}

// Walk a statement.
static void walk_stmt(struct walk *w, struct ir_stmt *s)
{
    w->stmt = s;
    switch (s->kind) {
    case STMT_for: walk_loop(w, s); break;
    case STMT_if: walk_branch(w, s); break;
    case STMT_let: walk_let(w, s); break;
    case STMT_var: walk_let(w, s); break;
    case STMT_assign: walk_assign(w, s); break;
    case STMT_store: walk_store(w, s); break;
    case STMT_eval: walk_expr(w, s->u.value); break;
    case STMT_alloc: map_set(&w->inner, s->u.buffer, s->u.buffer); break;
    case STMT_stage: walk_stage(w, s); break;
    case STMT_barrier:
    case STMT_sync:
    case STMT_launch:
    case STMT_COUNT: break;
    }
}

// Walk the statements of a block.
static void walk_block(struct walk *w, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++)
        walk_stmt(w, block->at[i]);
}

// Return whether an expression is among the known ones.
static bool is_known(const struct known *k, const struct ir_expr *x)
{
    for (size_t i = 0; i < k->n; i++) {
        if (ir_expr_equal(k->at[i], x))
            return true;
    }
    return false;
}

// Add an expression to the known ones.
static void know(struct walk *w, struct known *k, struct ir_expr *x)
{
    if (!is_known(k, x))
        vec_push(w->pass->scratch, k, x);
}

// Return whether two digits are the same function of the loops.
static bool same_digit(struct walk *w, const struct digit *x,
                       const struct digit *y)
{
    struct affine_term rest;
    return x->weight.factor == y->weight.factor && x->weight.n == y->weight.n &&
           affine_atoms_divide(w->pass->scratch, &x->weight, &y->weight,
                               &rest) &&
           ir_expr_equal(x->value, y->value);
}

// Add what two equal numbers have in common.
static void know_common(struct walk *w, struct known *k, const struct radix *x,
                        const struct radix *y)
{
    struct affine d = affine_add(w->pass->scratch, &x->base, -1, &y->base);
    if (d.failed || d.terms.n || d.constant || x->negated != y->negated)
        return;
    for (size_t i = 0; i < x->digits.n && i < y->digits.n; i++) {
        if (!same_digit(w, &x->digits.at[i], &y->digits.at[i]))
            return;
        know(w, k, x->digits.at[i].value);
    }
}

// Add the dividend of x / n or x % n if both are known.
static void know_dividend(struct walk *w, struct known *k,
                          const struct ir_expr *x)
{
    for (size_t i = 0; i < k->n; i++) {
        const struct ir_expr *y = k->at[i];
        enum ir_op other = x->op == OP_div ? OP_mod : OP_div;
        if (y->op == other && ir_expr_equal(x->args[0], y->args[0]) &&
            ir_expr_equal(x->args[1], y->args[1]) && !varies(w, x->args[1])) {
            know(w, k, x->args[0]);
            return;
        }
    }
}

// Add what follows from a known expression in both accesses.
static void know_consequences(struct walk *w, struct known *k,
                              const struct ir_expr *known,
                              const struct access *x, const struct access *y)
{
    const struct radix *in_x = find_radix(x, known);
    const struct radix *in_y = find_radix(y, known);
    if (in_x && in_y)
        know_common(w, k, in_x, in_y);
    if (known->op == OP_div || known->op == OP_mod)
        know_dividend(w, k, known);
    if (known->op == OP_cast && type_is_integer(known->args[0]->type) &&
        type_bits(known->args[0]->type) <= type_bits(known->type))
        know(w, k, known->args[0]);
}

// Note in `out` the loops whose iterations may meet in these two accesses.
static void test_pair(struct walk *w, const struct access *x,
                      const struct access *y, struct ir_stmt *const *loops,
                      size_t n, struct depend_meeting *out)
{
    struct known known = {0};
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        know_common(w, &known, &x->radices.at[i], &y->radices.at[i]);
    for (size_t i = 0; i < known.n; i++)
        know_consequences(w, &known, known.at[i], x, y);
    for (size_t i = 0; i < n; i++) {
        const struct ir_expr *v =
            ir_read(w->pass->scratch, loops[i]->u.loop.var);
        if (!out[i].name && !is_known(&known, v))
            out[i] = (struct depend_meeting){x->buffer->name, x->stmt, y->stmt};
    }
}

// Test all pairs of accesses of which one writes.
static void test_pairs(struct walk *w, struct ir_stmt *const *loops, size_t n,
                       struct depend_meeting *out)
{
    for (size_t i = 0; i < w->accesses.n; i++) {
        const struct access *x = &w->accesses.at[i];
        for (size_t j = 0; j < w->accesses.n && x->writes; j++) {
            const struct access *y = &w->accesses.at[j];
            if (y->buffer == x->buffer && !(x->is_atomic && y->is_atomic) &&
                (j >= i || !y->writes))
                test_pair(w, x, y, loops, n, out);
        }
    }
}

// Learn of the loops around; the serial ones vary if `across`.
static void enter_around(struct walk *w, const struct ir_path *path,
                         bool across)
{
    for (size_t i = 0; i + 1 < path->n; i++) {
        struct ir_stmt *s = path->stmts[i];
        facts_enter(&w->facts, s);
        if (s->kind != STMT_for)
            continue;
        enum axis_kind kind = axis_kind(s->u.loop.axis);
        if (across && kind != AXIS_BLOCK && kind != AXIS_THREAD)
            map_set(&w->varying, s->u.loop.var, s);
    }
}

// Return whether a loop runs at most once.
static bool runs_once(const struct ir_stmt *loop)
{
    return ir_is_int_const(loop->u.loop.from, 0) &&
           ir_is_int_const(loop->u.loop.to, 1);
}

void depend_test(struct pass *p, struct ir_stmt *const *loops, size_t n,
                 bool across, struct depend_meeting *out)
{
    struct walk w = {.pass = p};
    struct ir_path path;
    w.values.arena = w.varying.arena = w.inner.arena = p->scratch;
    facts_start(&w.facts, p->scratch, p->kernel);
    if (ir_find(p->scratch, &p->kernel->body, loops[0], &path))
        enter_around(&w, &path, across);
    walk_stmt(&w, loops[0]);
    for (size_t i = 0; i < n; i++)
        out[i] = w.scalar;
    test_pairs(&w, loops, n, out);
    for (size_t i = 0; i < n; i++) {
        if (runs_once(loops[i]))
            out[i] = (struct depend_meeting){0};
    }
}
