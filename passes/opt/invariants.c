// invariants: hoists quotients out of loops that do not change them.
//
//   for k in 0..K {                        let quotient = t / n
//     mbarrier_wait(full[k % 4], ...)  =>  for k in 0..K {
//     S[k] = A[t / n, k]                     mbarrier_wait(full[k % 4], ...)
//   }                                        S[k] = A[quotient, k]
//                                          }
//
// A name inside of the loop for what has been hoisted is replaced by it, so that
// quotients of quotients follow.
//
// LLVM does not hoist a division by a variable out of a loop that waits for
// something, or out of a branch, since it does not know that the divisor is not
// 0. So quotients of the block's indices that several branches of a launch compute
// are computed once, too, in front of all. A quotient that is not proved to be
// defined there stays where it is.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// The state of the walk.
struct invariants {
    struct pass *p;
    struct facts facts;
    bool changed;
};

// A loop, or a launch, whose quotients are looked for.
struct look {
    struct invariants *v;
    const struct ir_stmt *outer;
    struct map inside;   // what it declares, to itself
    struct map hoisted;  // `let`s that are names in `out`, to reads of these
    struct ir_block out; // a `let` for each quotient
};

// Note the variable that a statement declares.
static void note_declared(struct look *l, struct ir_stmt *s)
{
    if (s->kind == STMT_for)
        map_set(&l->inside, s->u.loop.var, s->u.loop.var);
    if (s->kind == STMT_let)
        map_set(&l->inside, s->u.let.var, s->u.let.var);
}

// Return whether an expression is a quotient, or a rest, that may stand in
// front of the loop, or at the begin of the launch: there, of the block's indices.
static bool is_invariant(struct look *l, struct ir_expr *x)
{
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    if (!divides || !type_is_index(x->type) || ir_is_const(x->args[1]) ||
        !ir_is_stable(x))
        return false;
    ir_foreach_expr(e, x)
        if ((e->op == OP_var && map_has(&l->inside, e->u.var)) ||
            (e->op == OP_index && l->outer->kind == STMT_launch &&
             axis_kind(e->u.axis) != AXIS_BLOCK))
            return false;
    return facts_is_total(&l->v->facts, x);
}

// Return the name of such an expression, declared in front of the loop.
static struct ir_expr *name_of(struct look *l, struct ir_expr *x)
{
    struct pass *p = l->v->p;
    vec_foreach_value(let, &l->out)
        if (ir_expr_equal(let->u.let.value, x))
            return ir_read(p->arena, let->u.let.var);
    const char *name = x->op == OP_mod ? "rest" : "quotient";
    struct ir_var *var = ir_var_new(p->arena, str_name(p->names, name), x->type,
                                    VAR_let, l->outer->span);
    struct ir_stmt *let = ir_stmt_let(p->arena, var, x);
    ir_append(p->arena, &l->out, ir_stmt_from(let, l->outer));
    facts_enter(&l->v->facts, let);
    return ir_read(p->arena, var);
}

// Replace an invariant expression by its name, and a name of a name by that.
static struct ir_expr *replace(struct arena *a, struct ir_expr *x,
                               void *context)
{
    struct look *l = context;
    (void)a;
    struct ir_expr *known =
        x->op == OP_var ? map_get(&l->hoisted, x->u.var) : NULL;
    if (known)
        return known;
    return is_invariant(l, x) ? name_of(l, x) : x;
}

// Return whether a statement, rewritten, is a `let` whose value was hoisted.
static bool is_hoisted(const struct look *l, const struct ir_stmt *s)
{
    if (s->kind != STMT_let || s->u.let.value->op != OP_var)
        return false;
    vec_foreach_value(let, &l->out)
        if (let->u.let.var == s->u.let.value->u.var)
            return true;
    return false;
}

// Replace invariant expressions in a block; `let`s that are names of them go.
static void replace_in(struct look *l, struct ir_block *block)
{
    struct arena *a = l->v->p->arena;
    size_t kept = 0;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_place(place, s)
            *place = ir_rewrite(a, *place, replace, l);
        ir_foreach_block(inner, s)
            replace_in(l, inner);
        if (is_hoisted(l, s))
            map_set(&l->hoisted, s->u.let.var, s->u.let.value);
        else
            block->at[kept++] = s;
    }
    block->n = kept;
}

// Begin to look for the quotients of a loop or a launch.
static struct look look_from(struct invariants *v, const struct ir_stmt *outer)
{
    struct arena *scratch = v->p->scratch;
    return (struct look){.v = v,
                         .outer = outer,
                         .inside = {.arena = scratch},
                         .hoisted = {.arena = scratch}};
}

// Put the quotients that a loop does not change in front of it; returns how
// many there are.
static size_t move_out(struct invariants *v, struct ir_block *block, size_t at)
{
    struct pass *p = v->p;
    struct look l = look_from(v, block->at[at]);
    map_set(&l.inside, l.outer->u.loop.var, l.outer->u.loop.var);
    ir_foreach_stmt(s, &block->at[at]->u.loop.body)
        note_declared(&l, s);
    replace_in(&l, &block->at[at]->u.loop.body);
    for (size_t i = 0; i < l.out.n; i++)
        ir_insert(p->arena, block, at + i, l.out.at[i]);
    v->changed |= l.out.n > 0;
    return l.out.n;
}

// Return how many branches there are in a block and below.
static size_t branches_in(struct ir_block *block)
{
    size_t n = 0;
    ir_foreach_stmt(s, block)
        n += s->kind == STMT_if;
    return n;
}

// Name the quotients of the block's indices that branches of a launch compute.
static void name_block_quotients(struct invariants *v, struct ir_stmt *launch,
                                 struct ir_block *body)
{
    struct pass *p = v->p;
    struct look l = look_from(v, launch);
    if (branches_in(body) < 2)
        return;
    ir_foreach_stmt(s, body)
        note_declared(&l, s);
    for (size_t i = 0; i < body->n; i++)
        if (body->at[i]->kind == STMT_if)
            ir_rewrite_in(p->arena, ir_alone(body->at[i]), replace, &l);
    for (size_t i = 0; i < l.out.n; i++)
        ir_insert(p->arena, body, i, l.out.at[i]);
    v->changed |= l.out.n > 0;
}

// Walk the statements of a block, each loop before those inside.
static void walk(struct invariants *v, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        if (block->at[i]->kind == STMT_for)
            i += move_out(v, block, i);
        facts_foreach_inside(inner, &v->facts, block->at[i]) {
            if (block->at[i]->kind == STMT_launch)
                name_block_quotients(v, block->at[i], inner);
            walk(v, inner);
        }
    }
}

enum pass_result pass_invariants(struct pass *p)
{
    struct invariants v = {.p = p};
    facts_start(&v.facts, p->scratch, p->kernel);
    walk(&v, &p->kernel->body);
    return v.changed ? PASS_CHANGED : PASS_SAME;
}
