// reorder_block_iter_var -- permute the iteration variables of a stage.
//
//   stage C(vi in m = i, vj in n = j)   =>   reorder_block_iter_var(C, 1, 0)
//   stage C(vj in n = j, vi in m = i)
//
// The loops stay: this is about what counts iteration variables by their
// place, such as index maps.
//
// Requires:
//  1. it is a stage                                         E0653
//  2. the order is a permutation of 0, 1 ... n - 1          E0683
//  3. a variable stays behind those on which its extent
//     depends                                               E0683

#include "passes/schedule/prim.h"

// Return whether the order names each variable once.
static bool is_permutation(const struct sched_call *c, size_t n)
{
    bool ok = c->args.n - 1 == n;
    for (size_t i = 0; ok && i < n; i++) {
        int64_t at = c->args.at[i + 1].number;
        ok = at >= 0 && (uint64_t)at < n;
        for (size_t k = 0; ok && k < i; k++)
            ok = c->args.at[k + 1].number != at;
    }
    return ok;
}

// Return a variable that would stand in front of one on which its extent
// depends; NULL if there is none.
static const struct ir_iter *find_early(const struct sched_call *c,
                                        const struct ir_stage *stage)
{
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_iter *it = &stage->iters.at[c->args.at[i + 1].number];
        for (size_t k = i + 1; k < stage->iters.n; k++)
            if (ir_mentions(it->extent,
                            stage->iters.at[c->args.at[k + 1].number].var))
                return it;
    }
    return NULL;
}

bool sched_reorder_block_iter_var(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *s = sched_arg(c, 0);
    struct ir_stage *stage = &s->u.stage;
    if (s->kind != STMT_stage)
        return sched_refuse(c, s, "not a stage", D_stage_wanted,
                            sched_name_of(s));
    size_t n = stage->iters.n;
    if (!is_permutation(c, n))
        return sched_refuse(
            c, s, "to be remapped", D_remap_stage, stage->name,
            arena_printf(p->scratch,
                         "this is no permutation of its %zu variables", n));
    const struct ir_iter *early = find_early(c, stage);
    if (early)
        return sched_refuse(
            c, s, "to be remapped", D_remap_stage, stage->name,
            arena_printf(p->scratch,
                         "the extent of `%s` depends on one behind it",
                         early->var->name));
    struct ir_iter *old = arena_array(p->scratch, struct ir_iter, n);
    for (size_t i = 0; i < n; i++)
        old[i] = stage->iters.at[i];
    for (size_t i = 0; i < n; i++)
        stage->iters.at[i] = old[c->args.at[i + 1].number];
    return true;
}
