// Moves branches out of loops.
//
//   for k in 0..K { if i < M { ... } }   =>   if i < M { for k in 0..K { ... } }

#include "passes/lower/guards.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/opt/fold.h"

// A walk that moves guards, with what is known outside of a loop.
struct mover {
    struct pass *p;
    struct facts facts;
};

// Return whether a condition may be asked outside of a loop.
static bool leaves_loop(const struct mover *m, struct ir_expr *condition,
                        const struct ir_for *loop)
{
    return ir_is_stable(condition) && !ir_mentions(condition, loop->var) &&
           axis_kind(loop->axis) != AXIS_BLOCK &&
           (facts_is_total(&m->facts, condition) ||
            facts_runs(&m->facts, loop));
}

// Return the branch that is all a loop does, or NULL.
static struct ir_stmt *only_branch(const struct ir_for *loop)
{
    struct ir_stmt *s = loop->body.n == 1 ? loop->body.at[0] : NULL;
    return s && s->kind == STMT_if && s->u.branch.otherwise.n == 0 ? s : NULL;
}

// Move the parts of the guard inside a loop that do not depend on it out of
// the loop at `at`.
static void move_guard(struct mover *m, struct ir_block *block, size_t at)
{
    struct pass *p = m->p;
    struct ir_stmt *s = block->at[at];
    struct ir_for *loop = &s->u.loop;
    struct ir_stmt *branch = only_branch(loop);
    struct conditions outer = {0}, inner = {0};
    if (!branch)
        return;
    struct conditions all = fold_split(p->scratch, branch->u.branch.cond);
    for (size_t i = 0; i < all.n; i++) {
        if (leaves_loop(m, all.at[i], loop))
            vec_push(p->scratch, &outer, all.at[i]);
        else
            vec_push(p->scratch, &inner, all.at[i]);
    }
    if (outer.n == 0)
        return;
    if (inner.n)
        branch->u.branch.cond = fold_all(p->arena, inner.at, inner.n);
    else
        loop->body = branch->u.branch.then;
    struct ir_stmt *moved =
        ir_stmt_if(p->arena, fold_all(p->arena, outer.at, outer.n));
    ir_stmt_from(moved, branch);
    ir_append(p->arena, &moved->u.branch.then, s);
    block->at[at] = moved;
}

// Return whether two neighbours are guards with the same condition, which the
// first does not change.
static bool are_equal_guards(const struct ir_stmt *x, const struct ir_stmt *y)
{
    return x->kind == STMT_if && y->kind == STMT_if &&
           x->u.branch.otherwise.n == 0 && y->u.branch.otherwise.n == 0 &&
           ir_is_stable(x->u.branch.cond) &&
           ir_expr_equal(x->u.branch.cond, y->u.branch.cond);
}

// Join a branch with the only statement in it, also a branch: their conditions
// may then leave loops one by one.
static void join_inner(struct arena *a, struct ir_stmt *s)
{
    struct ir_block *then = &s->u.branch.then;
    struct ir_stmt *inner = then->n == 1 ? then->at[0] : NULL;
    if (s->u.branch.otherwise.n || !inner || inner->kind != STMT_if ||
        inner->u.branch.otherwise.n || !ir_is_stable(inner->u.branch.cond))
        return;
    s->u.branch.cond =
        ir_binary(a, OP_and, s->u.branch.cond, inner->u.branch.cond);
    *then = inner->u.branch.then;
}

// Move the guards in a block and below.
static void move_in(struct mover *m, struct ir_block *block)
{
    struct arena *a = m->p->arena;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        facts_foreach_inside(inner, &m->facts, s)
            move_in(m, inner);
        if (s->kind == STMT_if)
            join_inner(a, s);
        if (s->kind == STMT_for)
            move_guard(m, block, i);
        if (i > 0 && are_equal_guards(block->at[i - 1], block->at[i])) {
            ir_append_all(a, &block->at[i - 1]->u.branch.then,
                          &block->at[i]->u.branch.then);
            ir_splice(a, block, i--, &(struct ir_block){0});
        }
    }
}

void guards_move(struct pass *p, struct ir_block *block)
{
    struct mover m = {.p = p};
    facts_start(&m.facts, p->scratch, p->kernel);
    move_in(&m, block);
}
