// align_loop -- let a loop over rows begin at an aligned element.
//
//   for i in 0..m { for j in 0..n { Y[i, j] = f(X[i, j]) } }
//     =>   align_loop(j, 4)
//   for i in 0..m {
//     let j_skew = i * n % 4
//     for j in 0..n + 3 {
//       Y[i, j - j_skew] = f(X[i, j - j_skew])
//         if j_skew <= j && j - j_skew < n } }
//
// Iterations whose number is a multiple of 4 are then at elements that lie a
// multiple of 4 from the array's begin, whatever the length of a row: split by
// 4 and vectorized, the loop loads and stores whole vectors, and one by one only
// what lies in front of the first and behind the last of a row.  The order of
// iterations stays, so every such loop can be aligned.
//
// The array is the first of several dimensions along whose last one the loop
// moves, of those that the stage stores, then of those that it reads.  Loops of
// other stages over the same rows get the same j_skew.
//
// Requires:
//  1. the loop is serial, counts from 0 and has no annotation   E0607 E0608
//                                                               E0623
//  2. it holds one stage alone, which moves along such an array,
//     and was not aligned before                               E0673
//  3. the number is at least 2                                  E0673

#include "passes/schedule/prim.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/layout.h"
#include "passes/analysis/facts.h"

// What is aligned.
struct row {
    struct sched_call *call;
    struct ir_stmt *loop, *stage;
    int64_t unit;         // elements
    struct ir_expr *from; // the place of the row's first element
};

// Return whether an expression has a value of a `let`, as that of a loop which was
// aligned before.
static bool has_let(const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_var && e->u.var->kind == VAR_let)
            return true;
    return false;
}

// Find the place of the element that an access is at in iteration 0 of the loop;
// false if the loop does not move along rows of the array.
static bool find_place(struct row *r, const struct ir_buffer *b,
                       struct ir_expr *const *index)
{
    struct arena *a = r->call->pass->arena;
    const struct ir_var *var = r->loop->u.loop.var;
    struct map vars = {.arena = r->call->pass->scratch};
    vec_foreach(it, &r->stage->u.stage.iters)
        map_set(&vars, it->var, it->binding);
    struct affine rest,
        at = affine_of(
            a, ir_substitute(a, layout_place(a, b, index), &vars, NULL));
    int64_t factor;
    if (b->rank < 2 || !affine_linear(a, &at, var, &factor, &rest) ||
        factor != 1)
        return false;
    r->from = affine_expr(a, &rest, var->type);
    return !has_let(r->from);
}

// Find the row that the stage moves along.
static bool find_row(struct row *r)
{
    ir_foreach_stmt(s, &r->stage->u.stage.body)
        if (s->kind == STMT_store &&
            find_place(r, s->u.store.buffer, s->u.store.index))
            return true;
    ir_foreach_expr_in(x, &r->stage->u.stage.body)
        if (x->op == OP_load && find_place(r, x->u.buffer, x->args))
            return true;
    return false;
}

// Check everything and find the row.
static bool make_row(struct sched_call *c, struct row *r)
{
    *r = (struct row){
        .call = c, .loop = sched_arg(c, 0), .unit = c->args.at[1].number};
    const char *wrong = NULL;
    if (!sched_check_serial(c, r->loop) || !sched_check_plain(c, r->loop) ||
        !sched_check_from_zero(c, r->loop))
        return false;
    r->stage = r->loop->u.loop.body.n == 1 ? r->loop->u.loop.body.at[0] : NULL;
    if (r->unit < 2)
        wrong = "rows are aligned to 2 elements or more";
    else if (!r->stage || r->stage->kind != STMT_stage)
        wrong = "it holds something else than one stage";
    else if (!find_row(r))
        wrong = "its stage moves along no row of an array";
    return !wrong || sched_refuse(c, r->loop, "to be aligned", D_align_row,
                                  r->loop->u.loop.var->name, wrong);
}

// Put the number of the only iteration in the place of loops that have one;
// returns the block of the innermost other loop that the row's place depends on.
static struct ir_block *outermost_block(struct row *r)
{
    struct pass *p = r->call->pass;
    struct ir_path path = sched_path(p, r->loop);
    struct ir_block *block = path.blocks[0];
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        struct ir_stmt *s = path.stmts[i];
        int64_t extent;
        if (s->kind != STMT_for || !ir_mentions(r->from, s->u.loop.var))
            continue;
        if (ir_int_value(ir_for_extent(p->scratch, &s->u.loop), &extent) &&
            extent == 1)
            r->from = ir_replace_var(p->arena, r->from, s->u.loop.var,
                                     s->u.loop.from);
        else
            block = &s->u.loop.body;
    }
    return block;
}

// Return the place of the row in its unit, at least 0 also in front of the array.
static struct ir_expr *skew_value(struct row *r)
{
    struct pass *p = r->call->pass;
    struct ir_expr *unit = ir_int(p->arena, r->unit);
    struct affine form = affine_of(p->arena, r->from);
    if (form.constant < 0)
        form.constant = form.constant % r->unit + r->unit;
    struct ir_expr *place =
        affine_expr(p->arena, &form, r->loop->u.loop.var->type);
    struct ir_expr *rest = ir_binary(p->arena, OP_mod, place, unit);
    struct ir_path path = sched_path(p, r->loop);
    struct facts f;
    facts_start(&f, p->scratch, p->kernel);
    facts_enter_path(&f, &path, path.n - 1);
    if (facts_holds(&f,
                    ir_binary(p->scratch, OP_ge, place, ir_int(p->scratch, 0))))
        return rest;
    return ir_binary(p->arena, OP_mod, ir_add(p->arena, rest, unit), unit);
}

// Return the variable that says how many elements a row begins behind an aligned
// one: one that is there, or a new one.
static struct ir_var *skew_of(struct row *r)
{
    struct pass *p = r->call->pass;
    struct ir_block *block = outermost_block(r);
    struct ir_var *var = r->loop->u.loop.var;
    struct ir_expr *value = skew_value(r);
    for (size_t i = 0; i < block->n; i++)
        if (block->at[i]->kind == STMT_let &&
            ir_expr_equal(block->at[i]->u.let.value, value))
            return block->at[i]->u.let.var;
    struct ir_var *skew =
        ir_var_new(p->arena, arena_printf(p->arena, "%s_skew", var->name),
                   var->type, VAR_let, var->span);
    struct ir_stmt *let = ir_stmt_let(p->arena, skew, value);
    let->span = r->loop->span;
    ir_insert(p->arena, block, 0, let);
    return skew;
}

bool sched_align_loop(struct sched_call *c)
{
    struct row r;
    if (!make_row(c, &r))
        return false;
    struct arena *a = c->pass->arena;
    struct ir_for *l = &r.loop->u.loop;
    struct ir_expr *skew = ir_read(a, skew_of(&r)), *extent = l->to;
    struct ir_expr *number = ir_sub(a, ir_read(a, l->var), skew);
    sched_renumber(c->pass, r.loop, number);
    l->to = ir_add(a, extent, ir_int(a, r.unit - 1));
    sched_guard(c->pass, &l->body,
                ir_binary(a, OP_le, skew, ir_read(a, l->var)));
    sched_guard(c->pass, &l->body, ir_binary(a, OP_lt, number, extent));
    return true;
}
