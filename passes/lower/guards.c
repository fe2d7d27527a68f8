// guards: lowers stages to loops, branches and stores.
//
//   for k in 0..K {                           if i0 * 8 + i1 < M {
//     stage C(vi in M = i0 * 8 + i1,            let vi = i0 * 8 + i1
//             reduce vk in K = k)        =>     var C_acc: f32 = 0.0
//         if i0 * 8 + i1 < M {                  for k in 0..K {
//       init { C[vi] = 0.0 }                      C_acc = C_acc + A[vi, k]
//       C[vi] = C[vi] + A[vi, vk]               }
//     }                                         C[vi] = C_acc
//   }                                         }
//
// Predicates become branches, and move outward over the loops that they do not
// mention. If only the loops of the reduction are around the stage, the
// elements that it accumulates are variables meanwhile, and its init runs
// before the loops. Else the init becomes a nest of its own before the
// outermost loop of the reduction. If that is not possible, it runs in the
// first iteration, and in a nest of its own only if there is no iteration.

#include "passes/lower/guards.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/lower/accumulate.h"
#include "passes/lower/guards_place.h"
#include "passes/opt/fold.h"
#include "passes/pass.h"

// Return whether a statement in front of the path can be repeated without the
// reduction, or need not be.
static bool can_repeat(const struct place *at, const struct ir_stmt *s)
{
    if (s->kind != STMT_let)
        return s->kind != STMT_var;
    return ir_is_stable(s->u.let.value) &&
           (!place_mentions_reduction(at, s->u.let.value) ||
            !place_init_uses(at, s->u.let.var));
}

// Return whether what lies between the outermost loop of the reduction and
// the stage can be repeated without the reduction: loops and names of values
// that do not depend on it, and branches.
static bool can_split_init(const struct place *at)
{
    for (uint32_t i = at->first; i + 1 < at->path.n; i++) {
        struct ir_stmt *s = at->path.stmts[i];
        if (place_is_reduce_loop(s, at->stage))
            continue;
        bool is_then =
            s->kind == STMT_if && at->path.blocks[i + 1] == &s->u.branch.then;
        if (s->kind == STMT_for) {
            if ((ir_stage_role(at->stage, s->u.loop.var) & STAGE_REDUCES) ||
                place_mentions_reduction(at, s->u.loop.from) ||
                place_mentions_reduction(at, s->u.loop.to))
                return false;
        } else if (!is_then) {
            return false;
        }
    }
    for (uint32_t i = at->first + 1; i < at->path.n; i++) {
        const struct ir_block *block = at->path.blocks[i];
        for (size_t j = 0; j < at->path.index[i]; j++)
            if (!can_repeat(at, block->at[j]))
                return false;
    }
    return true;
}

// Return a stage that only runs the init of another.
static struct ir_stmt *init_stage(struct pass *p, const struct place *at)
{
    const struct ir_stage *old = at->stage;
    struct ir_stmt *s = ir_stmt_stage(p->arena, old->name);
    for (size_t i = 0; i < old->iters.n; i++)
        if (!old->iters.at[i].is_reduce)
            vec_push(p->arena, &s->u.stage.iters, old->iters.at[i]);
    ir_stmt_from(s, at->path.stmts[at->path.n - 1]);
    struct ir_expr *predicate = place_part_of(p, at, old->predicate, false);
    s->u.stage.predicate = ir_is_true(predicate) ? NULL : predicate;
    s->u.stage.body = old->init;
    return s;
}

// Return the names of values in front of a level of the path, but for those of the
// reduction, then a block.
static struct ir_block behind_names(struct pass *p, const struct place *at,
                                    uint32_t level,
                                    const struct ir_block *block)
{
    struct ir_block r = {0};
    const struct ir_block *around = at->path.blocks[level];
    for (size_t i = 0; i < at->path.index[level]; i++)
        if (around->at[i]->kind == STMT_let &&
            !place_mentions_reduction(at, around->at[i]->u.let.value))
            ir_append(p->arena, &r, around->at[i]);
    ir_append_all(p->arena, &r, block);
    return r;
}

// Return a loop like another one, or a branch without what it asks of the
// reduction, around a block.
static struct ir_stmt *around_block(struct pass *p, const struct place *at,
                                    const struct ir_stmt *s,
                                    const struct ir_block *block)
{
    const struct ir_for *l = &s->u.loop;
    struct ir_stmt *outer;
    if (s->kind == STMT_for) {
        outer = ir_stmt_for(p->arena, l->var, l->from, l->to, l->step, l->axis);
        outer->u.loop.attrs = l->attrs;
        outer->u.loop.body = *block;
    } else {
        outer =
            ir_stmt_if(p->arena, place_part_of(p, at, s->u.branch.cond, false));
        outer->u.branch.then = *block;
    }
    return ir_stmt_from(outer, s);
}

// Put the statements of a block under a condition of a stage.
static void guard(struct arena *a, struct ir_block *block,
                  struct ir_expr *condition, const struct ir_stmt *from)
{
    if (ir_is_true(condition))
        return;
    struct ir_stmt *branch = ir_stmt_if(a, condition);
    ir_stmt_from(branch, from);
    ir_enclose(a, block, branch, &branch->u.branch.then);
}

// Return whether an expression has a meaning in front of the reduction.
static bool has_meaning_before(const struct place *at, const struct ir_expr *x)
{
    bool has = true;
    for (uint32_t i = at->first; i + 1 < at->path.n; i++) {
        const struct ir_stmt *s = at->path.stmts[i];
        const struct ir_block *block = at->path.blocks[i + 1];
        has &= s->kind != STMT_for || !ir_mentions(x, s->u.loop.var);
        for (size_t j = 0; j < at->path.index[i + 1]; j++)
            has &= block->at[j]->kind != STMT_let ||
                   !ir_mentions(x, block->at[j]->u.let.var);
    }
    return has;
}

// Return the condition that a reduction has no iteration, as far as that can be
// asked in front of it; not of elements that a predicate leaves out, for which
// there may be nothing to ask.
static struct ir_expr *is_empty(struct pass *p, const struct place *at)
{
    struct arena *a = p->arena;
    struct ir_expr *r = ir_bool(a, false), *there = ir_bool(a, true);
    struct conditions all = fold_split(
        p->scratch, place_part_of(p, at, at->stage->predicate, false));
    for (size_t i = 0; i < all.n; i++)
        if (has_meaning_before(at, all.at[i]))
            there = ir_binary(a, OP_and, there, all.at[i]);
    vec_foreach(it, &at->stage->iters) {
        struct ir_expr *extent = ir_stage_over_loops(a, at->stage, it->extent);
        if (it->is_reduce && has_meaning_before(at, extent))
            r = ir_binary(a, OP_or, r,
                          ir_binary(a, OP_le, extent, ir_int(a, 0)));
    }
    return ir_binary(a, OP_and, there, r);
}

// Put the init of a stage, in copies of the loops that are not the
// reduction's, before the outermost loop of the reduction; only for a reduction
// without iterations if the first one might be left out.
static void split_init(struct pass *p, const struct place *at)
{
    bool is_only_if_empty = place_may_miss_first(p, at);
    struct ir_block nest = {0};
    ir_append(p->arena, &nest, init_stage(p, at));
    for (uint32_t i = at->path.n - 1; i-- > at->first;) {
        struct ir_stmt *s = at->path.stmts[i];
        nest = behind_names(p, at, i + 1, &nest);
        if (place_is_reduce_loop(s, at->stage))
            continue;
        s = around_block(p, at, s, &nest);
        nest = (struct ir_block){0};
        ir_append(p->arena, &nest, s);
    }
    nest = ir_copy_block(p->arena, &nest, NULL, NULL);
    if (is_only_if_empty)
        guard(p->arena, &nest, is_empty(p, at), at->path.stmts[at->path.n - 1]);
    for (size_t i = nest.n; i-- > 0;)
        ir_insert(p->arena, at->path.blocks[at->first],
                  at->path.index[at->first], nest.at[i]);
    if (is_only_if_empty)
        return;
    at->stage->has_init = false;
    at->stage->init = (struct ir_block){0};
}

// Return whether an expression mentions what a block declares.
static bool mentions_declared(const struct ir_expr *x,
                              const struct ir_block *block)
{
    ir_foreach_stmt(s, block) {
        const struct ir_var *var = s->kind == STMT_for ? s->u.loop.var
                                   : s->kind == STMT_let || s->kind == STMT_var
                                       ? s->u.let.var
                                       : NULL;
        if (var && ir_mentions(x, var))
            return true;
    }
    return false;
}

// Return whether an index stays the same over the loops of the reduction, and
// has a meaning outside of them.
static bool is_invariant(const struct ir_expr *x, const void *context)
{
    const struct place *at = context;
    vec_foreach(it, &at->stage->iters)
        if (it->is_reduce && ir_mentions(x, it->var))
            return false;
    return !mentions_declared(x, &at->stage->body) && ir_is_stable(x) &&
           !place_mentions_reduction(at, x);
}

// Return whether a variable is used several times in a block, and never in a
// dividend.
static bool pays_let(const struct ir_block *block, const struct ir_var *var)
{
    int n = 0;
    ir_foreach_expr_in(x, block) {
        n += x->op == OP_var && x->u.var == var;
        if ((x->op == OP_div || x->op == OP_mod) &&
            ir_mentions(x->args[0], var))
            return false;
    }
    return n > 1;
}

// Put the binding of each spatial (or each reduction) variable in place of
// it, or a `let` at the start of `at` if it is long and used more than once;
// but not where parts of it are used, which are often shorter.
static void bind_iters(struct pass *p, const struct ir_stmt *s, bool reduce,
                       struct ir_block *at)
{
    const struct ir_stage *stage = &s->u.stage;
    struct map vars = {.arena = p->scratch};
    size_t lets = 0;
    vec_foreach(it, &stage->iters) {
        if (it->is_reduce != reduce)
            continue;
        if (it->binding->n == 0 || !pays_let(at, it->var)) {
            map_set(&vars, it->var, it->binding);
            continue;
        }
        struct ir_var *var = ir_var_new(p->arena, it->var->name, it->var->type,
                                        VAR_let, it->var->span);
        struct ir_stmt *let = ir_stmt_let(p->arena, var, it->binding);
        let->span = it->binding->span;
        let->by = s->by;
        map_set(&vars, it->var, ir_read(p->arena, var));
        ir_insert(p->arena, at, lets++, let);
    }
    ir_substitute_in(p->arena, at, &vars, NULL);
}

// Put loops, branches and stores in place of a stage and its chain.
static void lower_stage(struct pass *p, const struct place *at)
{
    struct arena *a = p->arena;
    struct ir_stage *stage = at->stage;
    struct ir_stmt *outermost = at->path.stmts[at->chain];
    const struct ir_stmt *s = at->path.stmts[at->path.n - 1];
    struct ir_block out = {0}, inner = stage->body, init = stage->init;
    struct accumulators kept = {0};
    if (at->chain + 1 < at->path.n)
        accumulate_find(p, &stage->body, &stage->init, is_invariant, at, &kept);
    accumulate_replace(a, &inner, &kept);
    bind_iters(p, s, true, &inner);
    guard(a, &inner, place_part_of(p, at, stage->predicate, true), s);
    if (at->late)
        guard(a, &init, ir_binary(a, OP_and, at->late, place_began(a, at)), s);
    accumulate_begin(p, &init, &kept, &out);
    if (at->chain + 1 < at->path.n) {
        at->path.stmts[at->path.n - 2]->u.loop.body = inner;
        ir_append(a, &out, outermost);
    } else {
        ir_append_all(a, &out, &inner);
    }
    accumulate_end(p, &kept, &out);
    bind_iters(p, s, false, &out);
    guard(a, &out, place_part_of(p, at, stage->predicate, false), s);
    ir_splice(a, at->path.blocks[at->chain], at->path.index[at->chain], &out);
}

enum pass_result pass_guards(struct pass *p)
{
    struct ir_block stages = ir_stages_of(p->scratch, &p->kernel->body);
    for (size_t i = 0; i < stages.n; i++) {
        struct place at = place_find(p, stages.at[i]);
        if (at.stage->has_init && at.first < at.chain && can_split_init(&at))
            split_init(p, &at);
    }
    stages = ir_stages_of(p->scratch, &p->kernel->body);
    for (size_t i = 0; i < stages.n; i++) {
        struct place at = place_find_to_lower(p, stages.at[i]);
        lower_stage(p, &at);
    }
    guards_move(p, &p->kernel->body);
    return stages.n ? PASS_CHANGED : PASS_SAME;
}
