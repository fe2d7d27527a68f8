// simplify: folds and canonicalises index arithmetic, and drops predicates,
// branches and loops that the loops and conditions around decide.
//
//   for i in 0..8 { if i < 8 { A[i] = B[i / 8] } }  =>
//   for i in 0..8 { A[i] = B[0] }
//
// Serial loops that run once are substituted away, but not those with marks
// that later passes look for. Loops that never run are dropped, and so are
// names of numbers and of names.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/ring.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/opt/fold.h"
#include "passes/pass.h"

// The state of the walk.
struct simplify {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct facts facts;
    bool changed;   // whether anything was
    struct map may; // variables of loops that may have no iteration
    const struct ir_for *ringed; // the last loop with rings: its slots stay
};

static void simplify_block(struct simplify *s, struct ir_block *block);

// Simplify the expression at a place.
static void simplify_place(struct simplify *s, struct ir_expr **place)
{
    struct ir_expr *x = fold_expr(s->arena, &s->facts, *place);
    s->changed |= x != *place;
    *place = x;
}

// Simplify the expressions of a statement itself.
static void simplify_exprs(struct simplify *s, struct ir_stmt *stmt)
{
    struct ir_stmt *once = ir_at_once(s->arena, stmt);
    ir_foreach_place(place, once)
        simplify_place(s, place);
    copies_again(s->arena, stmt, once);
}

// Replace a variable in the statements of a block from `at` on.
static void replace_in(struct simplify *s, struct ir_block *block, size_t at,
                       const struct ir_var *var, struct ir_expr *by)
{
    struct ir_block rest = *block;
    rest.at += at;
    rest.n -= at;
    ir_replace_in(s->arena, &rest, var, by);
    s->changed = true;
}

// Take a statement out of a block and put the statements of another there.
static void splice(struct simplify *s, struct ir_block *block, size_t at,
                   const struct ir_block *with)
{
    struct ir_block copy = *with;
    ir_splice(s->arena, block, at, &copy);
    s->changed = true;
}

// Return whether the loops of a stage's reduction decide what a loop or a branch
// says.
static bool is_counted(const struct ir_stage *stage, struct ir_stmt *around)
{
    if (around->kind == STMT_for &&
        (ir_stage_role(stage, around->u.loop.var) & STAGE_REDUCES))
        return true;
    ir_foreach_place(place, around)
        if (ir_stage_counts(stage, *place))
            return true;
    return false;
}

// Return what is known where a loop or a branch selects elements: inits below
// run in it though the loops of their reductions around may have no iteration.
static struct facts facts_of_inits(const struct simplify *s,
                                   struct ir_stmt *stmt)
{
    struct facts facts = s->facts;
    ir_foreach_stmt_from(t, stmt)
        if (t != stmt && t->kind == STMT_stage &&
            ir_stage_reduces(&t->u.stage) && !is_counted(&t->u.stage, stmt))
            facts = facts_of_init(&facts, &t->u.stage);
    return facts;
}

// Return how often a loop is proved to run: 0, 1, or 2 if that is not known.
static int iterations(struct simplify *s, const struct ir_for *loop)
{
    struct ir_expr *extent = ir_for_extent(s->arena, loop);
    extent = fold_expr(s->arena, &s->facts, extent);
    struct interval n = facts_range(&s->facts, extent);
    struct ir_expr *runs = ir_binary(s->arena, OP_lt, loop->from, loop->to);
    if (n.hi <= 0 || facts_decide(&s->facts, runs) == TRUTH_FALSE)
        return 0;
    return n.lo == 1 && n.hi == 1 ? 1 : 2;
}

// Simplify what a loop or a branch says; returns how often it is proved to run,
// as `iterations` does.
static int simplify_head(struct simplify *s, struct ir_stmt *stmt)
{
    struct facts all = s->facts;
    s->facts = facts_of_inits(s, stmt);
    simplify_exprs(s, stmt);
    int n = stmt->kind == STMT_for ? iterations(s, &stmt->u.loop) : 2;
    all.newest = s->facts.newest;
    s->facts = all;
    return n;
}

// Return whether the iterations of a loop run in one thread.
static bool is_sequential(const struct ir_for *loop)
{
    enum axis_kind kind = axis_kind(loop->axis);
    return kind != AXIS_BLOCK && kind != AXIS_THREAD;
}

// Simplify a block under facts that end with it.
static void simplify_inside(struct simplify *s, struct ir_block *block,
                            const struct ir_stmt *entered,
                            struct ir_expr *condition, bool holds)
{
    struct facts_mark here = facts_mark(&s->facts);
    if (entered)
        facts_enter(&s->facts, entered);
    if (condition)
        facts_assume(&s->facts, condition, holds);
    simplify_block(s, block);
    facts_leave(&s->facts, here);
}

// Simplify a loop; returns false if other statements took its place.
static bool simplify_loop(struct simplify *s, struct ir_block *block, size_t at)
{
    struct ir_stmt *stmt = block->at[at];
    struct ir_for *loop = &stmt->u.loop;
    int n = simplify_head(s, stmt);
    bool once = n == 1 && ir_is_stable(loop->from);
    bool is_marked =
        ir_loop_is_marked(loop) && s->kernel->level == LEVEL_stages;
    if (once)
        replace_in(s, &loop->body, 0, loop->var, loop->from);
    if (once && is_sequential(loop) && !is_marked) {
        splice(s, block, at, &loop->body);
        return false;
    }
    struct ir_expr *runs = ir_binary(s->arena, OP_lt, loop->from, loop->to);
    if (!facts_holds(&s->facts, runs))
        map_set(&s->may, loop->var, stmt);
    if (loop->rings.n)
        s->ringed = loop;
    if (n > 0)
        simplify_inside(s, &loop->body, stmt, NULL, false);
    if (loop->body.n && (n > 0 || ir_has(&loop->body, STMT_stage)))
        return true;
    splice(s, block, at, &(struct ir_block){0});
    return false;
}

// Simplify an `if`; returns false if other statements took its place.
static bool simplify_branch(struct simplify *s, struct ir_block *block,
                            size_t at)
{
    struct ir_stmt *stmt = block->at[at];
    simplify_head(s, stmt);
    struct ir_expr *cond = stmt->u.branch.cond;
    if (ir_is_true(cond) || ir_is_false(cond)) {
        splice(s, block, at,
               ir_is_true(cond) ? &stmt->u.branch.then
                                : &stmt->u.branch.otherwise);
        return false;
    }
    simplify_inside(s, &stmt->u.branch.then, NULL, cond, true);
    simplify_inside(s, &stmt->u.branch.otherwise, NULL, cond, false);
    if (stmt->u.branch.then.n || stmt->u.branch.otherwise.n ||
        !ir_is_pure(cond, false))
        return true;
    splice(s, block, at, &(struct ir_block){0});
    return false;
}

// Simplify the init of a stage.  That of a reduction runs though the loops
// around may have no iteration, so nothing that follows from one is used.
static void simplify_init(struct simplify *s, struct ir_stmt *stmt)
{
    struct ir_stage *stage = &stmt->u.stage;
    struct facts all = s->facts;
    bool reduces = false;
    for (size_t i = 0; i < stage->iters.n; i++)
        reduces |= stage->iters.at[i].is_reduce;
    if (!reduces) {
        simplify_inside(s, &stage->init, stmt, stage->predicate, true);
        return;
    }
    facts_start(&s->facts, all.arena, s->kernel);
    simplify_block(s, &stage->init);
    s->facts = all;
}

// Return those conjuncts of a predicate that the reduction decides, or the
// others.
static struct ir_expr *part_of(struct simplify *s, struct ir_stage *stage,
                               bool reduction)
{
    struct conditions kept = {0};
    struct conditions all = fold_split(s->facts.arena, stage->predicate);
    for (size_t i = 0; i < all.n; i++)
        if (ir_stage_counts(stage, all.at[i]) == reduction)
            vec_push(s->facts.arena, &kept, all.at[i]);
    return fold_all(s->arena, kept.at, kept.n);
}

// Return whether an iteration variable is no longer bound to a loop that selects
// elements, counts the reduction, too, and may have no iteration.
static bool hides(const struct simplify *s, const struct ir_stage *stage,
                  const struct ir_expr *old, const struct ir_expr *now)
{
    ir_foreach_expr(x, old)
        if (x->op == OP_var && map_has(&s->may, x->u.var) &&
            (ir_stage_role(stage, x->u.var) & STAGE_REDUCES) &&
            !ir_mentions(now, x->u.var))
            return true;
    return false;
}

// Simplify what an iteration variable is bound to.  A loop that selects elements
// goes on to do so if it also counts the reduction and may have no iteration:
// without one the init would run.
static void simplify_binding(struct simplify *s, struct ir_stage *stage,
                             struct ir_iter *it)
{
    struct ir_expr *old = it->binding;
    bool changed = s->changed;
    simplify_place(s, &it->binding);
    if (it->is_reduce || it->binding == old ||
        !hides(s, stage, old, it->binding))
        return;
    it->binding = old;
    s->changed = changed;
}

// Simplify the predicate of a reduction and what its iteration variables are
// bound to, in which the reduction may decide less then.  What selects elements
// is needed for the init, too.
static void simplify_reduction(struct simplify *s, struct ir_stage *stage)
{
    struct facts all = s->facts;
    bool has_predicate = stage->predicate;
    struct ir_expr *parts[2] = {0};
    struct facts_mark here = facts_mark(&all);
    for (int reduces = 0; has_predicate && reduces < 2; reduces++)
        parts[reduces] = part_of(s, stage, reduces);
    for (int reduces = 0; reduces < 2; reduces++) {
        all.newest = s->facts.newest;
        s->facts = reduces ? all : facts_of_init(&all, stage);
        vec_foreach(it, &stage->iters) {
            if (it->is_reduce != reduces)
                continue;
            simplify_place(s, &it->extent);
            simplify_binding(s, stage, it);
        }
        if (reduces && has_predicate)
            facts_assume(&s->facts, parts[0], true);
        if (has_predicate)
            simplify_place(s, &parts[reduces]);
    }
    facts_leave(&s->facts, here);
    if (has_predicate)
        stage->predicate = fold_all(s->arena, parts, 2);
}

// Simplify a stage: its predicate in the terms of the loops around, the rest
// in those of its iteration variables.
static void simplify_stage(struct simplify *s, struct ir_stmt *stmt)
{
    struct ir_stage *stage = &stmt->u.stage;
    if (ir_stage_reduces(stage))
        simplify_reduction(s, stage);
    else
        simplify_exprs(s, stmt);
    if (stage->predicate && ir_is_true(stage->predicate))
        stage->predicate = NULL;
    simplify_init(s, stmt);
    simplify_inside(s, &stage->body, stmt, stage->predicate, true);
}

// Return whether a `let` is the slot of an iteration in a ring.
static bool is_slot(const struct simplify *s, const struct ir_stmt *let)
{
    bool found = false;
    for (size_t i = 0; s->ringed && i < ir_ring_slots(s->ringed); i++)
        found |= ir_ring_slot(s->ringed, i) == let;
    return found;
}

// Simplify a `let`; returns false if it only named a number or a value that
// has a name, and was taken out.
static bool simplify_let(struct simplify *s, struct ir_block *block, size_t at)
{
    struct ir_stmt *stmt = block->at[at];
    bool stays = is_slot(s, stmt);
    if (!stays)
        simplify_exprs(s, stmt);
    struct ir_expr *x = stmt->u.let.value;
    bool is_name = x->op == OP_var && x->u.var->kind != VAR_mutable;
    if (stays || (!ir_is_const(x) && !is_name)) {
        facts_enter(&s->facts, stmt);
        return true;
    }
    replace_in(s, block, at + 1, stmt->u.let.var, x);
    splice(s, block, at, &(struct ir_block){0});
    return false;
}

// Simplify the statement at a place; returns false if others took its place.
static bool simplify_stmt(struct simplify *s, struct ir_block *block, size_t at)
{
    struct ir_stmt *stmt = block->at[at];
    switch ((int)stmt->kind) {
    case STMT_for: return simplify_loop(s, block, at);
    case STMT_if: return simplify_branch(s, block, at);
    case STMT_let: return simplify_let(s, block, at);
    case STMT_stage: simplify_stage(s, stmt); return true;
    case STMT_launch:
        simplify_exprs(s, stmt);
        simplify_inside(s, &stmt->u.launch.body, stmt, NULL, false);
        return true;
    default: simplify_exprs(s, stmt); return true;
    }
}

// Simplify the statements of a block.
static void simplify_block(struct simplify *s, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&s->facts);
    for (size_t i = 0; i < block->n;)
        i += simplify_stmt(s, block, i);
    facts_leave(&s->facts, here);
}

enum pass_result pass_simplify(struct pass *p)
{
    struct simplify s = {
        .arena = p->arena, .kernel = p->kernel, .may = {.arena = p->scratch}};
    facts_start(&s.facts, p->scratch, p->kernel);
    simplify_block(&s, &p->kernel->body);
    return s.changed ? PASS_CHANGED : PASS_SAME;
}
