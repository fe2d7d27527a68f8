// transform_block_layout -- count the iterations of a stage otherwise.
//
//   for i in 0..m { for j in 0..16 { stage C(vi = i, vj = j) { C[vi, vj] } } }
//     =>   transform_block_layout(C, (i, j) -> (i * 16 + j))
//   for ax0 in 0..m * 16 { stage C(v0 = ax0) { C[v0 / 16, v0 % 16] } }
//
// Where the map adds iterations, a predicate leaves them out. An index of an
// array that is one of the map's becomes one variable, not its parts.
//
// Requires:
//  1. it is a stage                                            E0653
//  2. its loops are its iteration variables, one by one, with
//     nothing else between them and no predicate               E0683
//  3. the loops are serial and not annotated                   E0607 E0608
//  4. the map has an index for each variable, one to one       E0679 E0680
//  5. no new index mixes elements with the reduction           E0683
//  6. iterations of different elements are independent, and a
//     reduction in another order combines as it likes          E0683

#include "passes/analysis/reducer.h"
#include "passes/schedule/common/index_map.h"
#include "passes/schedule/common/iter_loops.h"
#include "passes/schedule/common/stage_nest.h"
#include "passes/schedule/depend/depend.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"

// What is remapped.
struct remapping {
    struct sched_iter_loops of;
    struct index_map map;
};

// Return whether a digit counts a reduction.
static bool reduces(const struct remapping *r, const struct index_digit *g)
{
    return r->of.stage->u.stage.iters.at[g->var].is_reduce;
}

// Return whether the digits of the reduction count it in the same order as
// its variables do.
static bool keeps_order(const struct remapping *r)
{
    const struct index_digit *last = NULL;
    const struct index_digits *all = &r->map.digits;
    for (size_t i = 0; i < all->n;) {
        size_t end = i + 1;
        while (end < all->n && all->at[end].result == all->at[i].result)
            end++;
        for (size_t k = end; k-- > i;) {
            const struct index_digit *g = &all->at[k];
            if (!reduces(r, g))
                continue;
            if (last && (g->var < last->var ||
                         (g->var == last->var && g->lower > last->lower)))
                return false;
            last = g;
        }
        i = end;
    }
    return true;
}

// Check that no new index mixes both kinds of variables.
static bool check_kinds(const struct sched_call *c, const struct remapping *r)
{
    const struct index_digits *all = &r->map.digits;
    for (size_t i = 1; i < all->n; i++)
        if (all->at[i].result == all->at[i - 1].result &&
            reduces(r, &all->at[i]) != reduces(r, &all->at[i - 1]))
            return sched_refuse_remap(
                c, r->of.stage, "an index mixes elements with the reduction");
    return true;
}

// Check that the iterations may run in the order of the map.
static bool check_order(const struct sched_call *c, const struct remapping *r)
{
    struct pass *p = c->pass;
    struct reducer reducer;
    for (size_t i = 0; i < r->of.n; i++) {
        struct depend_conflict m;
        if (r->of.stage->u.stage.iters.at[i].is_reduce ||
            !depend_carried(p, r->of.loops[i], AXIS_vector, false, &m))
            continue;
        return sched_refuse_remap(
            c, r->of.stage,
            arena_printf(p->scratch, "iterations of `%s` may conflict in `%s`",
                         r->of.loops[i]->u.loop.var->name, m.name));
    }
    if (keeps_order(r) || (reducer_find(p, &r->of.stage->u.stage, &reducer) &&
                           reducer.kind != REDUCER_position))
        return true;
    return sched_refuse_remap(
        c, r->of.stage, "its reduction depends on the order of iterations");
}

// Return the extents of the iteration variables.
static struct ir_expr **extents_of(struct pass *p, const struct ir_stage *stage)
{
    size_t n = stage->iters.n;
    struct ir_expr **r = arena_array(p->scratch, struct ir_expr *, n);
    for (size_t i = 0; i < n; i++)
        r[i] = stage->iters.at[i].extent;
    return r;
}

// Check everything and fill `r` in.
static bool check(const struct sched_call *c, struct remapping *r)
{
    struct ir_stmt *s = sched_arg(c, 0);
    if (s->kind != STMT_stage)
        return sched_refuse(c, s, "not a stage", D_stage_wanted,
                            sched_name_of(s));
    struct ir_expr **extents = extents_of(c->pass, &s->u.stage);
    return sched_find_iter_loops(c, s, &r->of) &&
           index_map_check(c, c->args.at[1].map, extents,
                           (uint32_t)s->u.stage.iters.n, s->u.stage.name,
                           &r->map) &&
           check_kinds(c, r) && check_order(c, r);
}

// Mark the new iteration variables that count the reduction.
static void mark_reductions(const struct remapping *r, struct ir_stage *stage,
                            const bool *was_reduce)
{
    vec_foreach(g, &r->map.digits)
        stage->iters.at[g->result].is_reduce |= was_reduce[g->var];
}

// What the map says of the old variables, and the new variable that is the same.
struct renaming {
    uint32_t n;
    struct ir_expr **was, **is;
};

// Return the new variable that an expression is, or the expression.
static struct ir_expr *rename_index(struct arena *a, struct ir_expr *x,
                                    void *context)
{
    const struct renaming *r = context;
    (void)a;
    for (uint32_t i = 0; i < r->n; i++)
        if (ir_expr_equal(x, r->was[i]))
            return r->is[i];
    return x;
}

// Put the new variables in the place of what the map makes of the old ones: an
// index that is one of the map's stays one variable.
static void rename_indices(struct pass *p, const struct remapping *r,
                           struct ir_var *const *old, struct ir_expr **index)
{
    struct ir_stage *stage = &r->of.stage->u.stage;
    struct ir_expr **from = arena_array(p->scratch, struct ir_expr *, r->of.n);
    for (size_t i = 0; i < r->of.n; i++)
        from[i] = ir_read(p->arena, old[i]);
    struct renaming names = {r->map.map->m,
                             index_map_apply(p, r->map.map, from), index};
    ir_rewrite_in(p->arena, &stage->init, rename_index, &names);
    ir_rewrite_in(p->arena, &stage->body, rename_index, &names);
}

bool sched_transform_block_layout(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct remapping r = {0};
    if (!check(c, &r))
        return false;
    struct ir_stage *stage = &r.of.stage->u.stage;
    struct map vars = {.arena = p->scratch};
    bool *was_reduce = arena_array(p->scratch, bool, r.of.n);
    struct ir_var **old = arena_array(p->scratch, struct ir_var *, r.of.n);
    for (size_t i = 0; i < r.of.n; i++) {
        was_reduce[i] = stage->iters.at[i].is_reduce;
        old[i] = stage->iters.at[i].var;
    }
    struct ir_expr **index =
        stage_nest_iters(p, r.of.stage, r.map.map->m, r.map.extents);
    struct sched_place place = sched_place_of(p, r.of.loops[0], false);
    struct ir_stmt *nest =
        stage_nest_over(p, r.of.stage, &place, stage_nest_region(p, stage));
    mark_reductions(&r, stage, was_reduce);
    struct ir_expr **inverse = index_map_invert(p, &r.map, index);
    rename_indices(p, &r, old, index);
    for (size_t i = 0; i < r.of.n; i++)
        map_set(&vars, old[i], inverse[i]);
    ir_substitute_in(p->arena, &stage->init, &vars, NULL);
    ir_substitute_in(p->arena, &stage->body, &vars, NULL);
    struct ir_expr **at =
        arena_array(p->scratch, struct ir_expr *, r.map.map->m);
    for (uint32_t i = 0; i < r.map.map->m; i++)
        at[i] = stage->iters.at[i].binding;
    stage->predicate =
        index_map_inside(p, &r.map, index_map_invert(p, &r.map, at));
    sched_replace(p, r.of.loops[0], nest);
    return true;
}
