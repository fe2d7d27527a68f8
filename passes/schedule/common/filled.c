// Whether the whole region of an array that a loop's iteration accesses is
// written.
//
//   for e in 0..16 { stage P(v in 16 = i * 8 + e) if e < 8 { S[v] = ... } }
//
// The region of a tail is that of a full tile: i * 8 .. i * 8 + 15.  P leaves
// out the second half, which other iterations of i may write.

#include "passes/schedule/common/move.h"
#include "passes/schedule/common/region.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

// Let the index of a store be inside of its array.
static void assume_inside(struct facts *f, const struct ir_stmt *store,
                          const struct map *bindings)
{
    struct arena *a = f->arena;
    for (uint32_t i = 0; i < store->u.store.n; i++) {
        struct ir_expr *at =
            ir_substitute(a, store->u.store.index[i], bindings, NULL);
        struct ir_expr *end = store->u.store.buffer->shape[i];
        facts_assume(f, ir_binary(a, OP_ge, at, ir_int(a, 0)), true);
        facts_assume(f, ir_binary(a, OP_lt, at, end), true);
    }
}

// Return whether a condition mentions a loop that counts a stage's reduction.
static bool is_of_reduction(struct pass *p, const struct ir_stmt *s,
                            const struct ir_expr *condition)
{
    bool found = false;
    struct ir_block loops = sched_loops(p, s);
    for (size_t i = 0; i < loops.n; i++) {
        const struct ir_var *var = loops.at[i]->u.loop.var;
        found |= (ir_stage_role(&s->u.stage, var) & STAGE_REDUCES) &&
                 ir_mentions(condition, var);
    }
    return found;
}

// Return whether what a stage leaves out of its region is outside of the array.
static bool fills(struct pass *p, struct ir_stmt *s,
                  const struct ir_buffer *array)
{
    if (s->kind != STMT_stage || !s->u.stage.predicate)
        return true;
    struct facts facts = facts_around(p->scratch, p->kernel, s);
    struct map bindings = ir_stage_bindings(p->scratch, &s->u.stage);
    ir_foreach_stmt(t, &s->u.stage.body)
        if (t->kind == STMT_store && t->u.store.buffer == array)
            assume_inside(&facts, t, &bindings);
    struct conditions all = fold_split(p->scratch, s->u.stage.predicate);
    bool fills = true;
    for (size_t i = 0; i < all.n; i++)
        fills &=
            facts_holds(&facts, all.at[i]) || is_of_reduction(p, s, all.at[i]);
    return fills;
}

// Return whether a region is proved to be inside of another one.
static bool is_inside(struct pass *p, const struct sched_region *region,
                      const struct sched_region *of)
{
    struct facts f;
    bool is = true;
    facts_start(&f, p->scratch, p->kernel);
    for (uint32_t i = 0; i < region->n; i++) {
        const struct sched_region_dim *x = &region->dims[i], *y = &of->dims[i];
        is &= facts_at_most(&f, y->base, x->base) &&
              facts_at_most(&f, ir_add(p->scratch, x->base, x->extent),
                            ir_add(p->scratch, y->base, y->extent));
    }
    return is;
}

// Return the region of one statement in the loop.
static struct sched_region region_of(const struct sched_region_query *query,
                                     struct ir_stmt *s)
{
    struct sched_region_query q = *query;
    q.only = s;
    return sched_region_find(&q);
}

// Return whether a statement that fills its region has all of `left` in it.
static bool is_made_up(const struct sched_region_query *query,
                       const struct sched_uses *uses,
                       const struct sched_region *left)
{
    struct pass *p = query->pass;
    vec_foreach_value(s, &uses->writers) {
        if (!sched_is_below(p, s, query->loop) || !fills(p, s, query->buffer))
            continue;
        struct sched_region whole = region_of(query, s);
        if (is_inside(p, left, &whole))
            return true;
    }
    return false;
}

bool sched_fills_region(const struct sched_region_query *query,
                        const struct sched_uses *uses)
{
    struct pass *p = query->pass;
    vec_foreach_value(s, &uses->writers) {
        if (!sched_is_below(p, s, query->loop) || fills(p, s, query->buffer))
            continue;
        struct sched_region left = region_of(query, s);
        if (!is_made_up(query, uses, &left))
            return false;
    }
    return true;
}
