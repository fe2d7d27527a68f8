// Where the reduction of a stage begins.

#include "passes/lower/guards_place.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/analysis/facts.h"
#include "passes/opt/fold.h"

bool place_is_reduce_loop(const struct ir_stmt *s, const struct ir_stage *stage)
{
    return s->kind == STMT_for &&
           ir_stage_role(stage, s->u.loop.var) == STAGE_REDUCES;
}

// Return whether its iterations run one after another in one thread.
static bool is_sequential(const struct ir_stmt *s)
{
    enum axis_kind kind = axis_kind(s->u.loop.axis);
    return kind == AXIS_SERIAL || kind == AXIS_UNROLL;
}

struct place place_find(struct pass *p, struct ir_stmt *s)
{
    struct place r = {.stage = &s->u.stage};
    ir_find(p->scratch, &p->kernel->body, s, &r.path);
    r.first = r.chain = r.path.n - 1;
    bool unbroken = true;
    for (uint32_t i = r.path.n - 1; i-- > 0;) {
        struct ir_stmt *outer = r.path.stmts[i];
        bool reduces = place_is_reduce_loop(outer, r.stage);
        unbroken = unbroken && reduces && is_sequential(outer) &&
                   outer->u.loop.body.n == 1;
        if (unbroken)
            r.chain = i;
        if (outer->kind == STMT_for &&
            (ir_stage_role(r.stage, outer->u.loop.var) & STAGE_REDUCES))
            r.first = i;
        if (reduces && axis_kind(outer->u.loop.axis) == AXIS_BLOCK)
            r.chain = r.path.n - 1;
    }
    return r;
}

bool place_init_uses(const struct place *at, const struct ir_var *name)
{
    bool uses = ir_block_mentions(&at->stage->init, name);
    vec_foreach(it, &at->stage->iters)
        uses |= !it->is_reduce && ir_mentions(it->binding, name);
    return uses;
}

// Return whether an expression mentions a name of a value of the reduction, in
// front of a level of the path. A name that the init uses does not count.
static bool mentions_name(const struct place *at, uint32_t level,
                          const struct ir_expr *x)
{
    const struct ir_block *block = at->path.blocks[level];
    for (size_t i = 0; i < at->path.index[level]; i++) {
        const struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_let && ir_mentions(x, s->u.let.var) &&
            !place_init_uses(at, s->u.let.var) &&
            place_mentions_reduction(at, s->u.let.value))
            return true;
    }
    return false;
}

bool place_mentions_reduction(const struct place *at, const struct ir_expr *x)
{
    for (uint32_t i = at->first; i + 1 < at->path.n; i++) {
        struct ir_stmt *s = at->path.stmts[i];
        if ((place_is_reduce_loop(s, at->stage) &&
             ir_mentions(x, s->u.loop.var)) ||
            mentions_name(at, i + 1, x))
            return true;
    }
    return false;
}

struct ir_expr *place_part_of(struct pass *p, const struct place *at,
                              struct ir_expr *condition, bool reduction)
{
    struct conditions kept = {0};
    struct conditions all = fold_split(p->scratch, condition);
    for (size_t i = 0; i < all.n; i++)
        if (place_mentions_reduction(at, all.at[i]) == reduction)
            vec_push(p->scratch, &kept, all.at[i]);
    return fold_all(p->arena, kept.at, kept.n);
}

// Return an expression in the first iteration of the loops of the reduction from
// a level of the path on.
static struct ir_expr *at_start(struct arena *a, const struct place *at,
                                uint32_t level, struct ir_expr *x)
{
    for (uint32_t i = level; i + 1 < at->path.n; i++) {
        const struct ir_for *loop = &at->path.stmts[i]->u.loop;
        if (place_is_reduce_loop(at->path.stmts[i], at->stage))
            x = ir_replace_var(a, x, loop->var, loop->from);
    }
    return x;
}

// Return whether a condition holds in the first iteration of the reduction, if
// there is any: without it, the init runs where it ran, and for no iterations.
static bool holds_at_first(struct pass *p, const struct place *at,
                           struct ir_expr *x)
{
    struct facts f;
    facts_start(&f, p->scratch, p->kernel);
    vec_foreach(it, &at->stage->iters) {
        struct ir_expr *extent =
            ir_stage_over_loops(p->scratch, at->stage, it->extent);
        struct ir_expr *some =
            ir_binary(p->scratch, OP_lt, ir_int(p->scratch, 0), extent);
        if (it->is_reduce)
            facts_assume(&f, some, true);
    }
    return facts_holds(&f, at_start(p->scratch, at, at->first, x));
}

bool place_may_miss_first(struct pass *p, const struct place *at)
{
    bool may = false;
    struct conditions all = {0};
    for (uint32_t i = at->first; i + 1 < at->path.n; i++)
        if (at->path.stmts[i]->kind == STMT_if)
            fold_append(p->scratch, at->path.stmts[i]->u.branch.cond, &all);
    for (size_t i = 0; i < all.n; i++)
        may |= place_mentions_reduction(at, all.at[i]) &&
               !holds_at_first(p, at, all.at[i]);
    return may;
}

struct ir_expr *place_began(struct arena *a, const struct place *at)
{
    struct ir_expr *r = ir_bool(a, true), *zero = ir_int(a, 0);
    vec_foreach(it, &at->stage->iters)
        if (it->is_reduce)
            r = ir_binary(a, OP_and, r,
                          ir_binary(a, OP_eq,
                                    at_start(a, at, at->chain, it->binding),
                                    zero));
    return r;
}

// Return what the predicate asks of the reduction that may hold later but not in
// the first iteration, of the chain or of all loops: of an aligned loop, that it
// is behind the row's begin. In front of that, the reduction may look as if it
// began. The guard of a tail is none of it: a reduction without elements has its
// init all the same.
static struct ir_expr *held_back(struct pass *p, const struct place *at)
{
    struct facts f;
    struct conditions late = {0};
    struct conditions all = fold_split(
        p->scratch, place_part_of(p, at, at->stage->predicate, true));
    facts_start(&f, p->scratch, p->kernel);
    facts_enter_path(&f, &at->path, at->path.n);
    if (at->stage->predicate)
        facts_assume(&f, at->stage->predicate, true);
    for (size_t i = 0; i < all.n; i++) {
        struct ir_expr *chain = at_start(p->scratch, at, at->chain, all.at[i]);
        struct ir_expr *loops = at_start(p->scratch, at, at->first, all.at[i]);
        if (!facts_holds(&f, chain) || !facts_holds(&f, loops))
            vec_push(p->scratch, &late, all.at[i]);
    }
    return fold_all(p->arena, late.at, late.n);
}

struct place place_find_to_lower(struct pass *p, struct ir_stmt *s)
{
    struct place at = place_find(p, s);
    if (!at.stage->has_init || at.first >= at.chain)
        return at;
    at.late = held_back(p, &at);
    if (!ir_is_true(at.late))
        at.chain = at.path.n - 1;
    return at;
}
