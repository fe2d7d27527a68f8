// Stages that get loops of their own.

#include "passes/schedule/common/stage_nest.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"

#include <string.h>

struct ir_expr **stage_nest_iters(struct pass *p, struct ir_stmt *stage,
                                  uint32_t n, struct ir_expr *const *extents)
{
    struct arena *a = p->arena;
    struct ir_expr **index = arena_array(a, struct ir_expr *, n + 1);
    memset(&stage->u.stage.iters, 0, sizeof stage->u.stage.iters);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = arena_printf(p->scratch, "v%u", i);
        struct ir_iter it = {.extent = extents[i], .binding = ir_int(a, 0)};
        it.var = ir_var_new(a, str_name(p->names, name), type_scalar(TYPE_int),
                            VAR_iter, stage->span);
        index[i] = ir_read(a, it.var);
        vec_push(a, &stage->u.stage.iters, it);
    }
    return index;
}

struct ir_stmt *stage_nest_copy(struct pass *p, const char *name,
                                struct ir_buffer *from, struct ir_buffer *to,
                                struct span span)
{
    struct arena *a = p->arena;
    struct ir_stmt *s = ir_stmt_stage(a, str_name(p->names, name));
    s->span = span;
    struct ir_expr **index = stage_nest_iters(p, s, from->rank, from->shape);
    struct ir_expr *value = ir_at(a, ir_load(a, from, from->rank, index), span);
    struct ir_stmt *store = ir_stmt_store(a, to, to->rank, index, value);
    store->span = span;
    ir_append(a, &s->u.stage.body, store);
    return s;
}

struct sched_region_dim *stage_nest_region(struct pass *p,
                                           const struct ir_stage *stage)
{
    size_t n = stage->iters.n;
    struct ir_expr **extents = arena_array(p->scratch, struct ir_expr *, n + 1);
    for (size_t i = 0; i < n; i++)
        extents[i] = stage->iters.at[i].extent;
    return sched_region_over(p, n, extents);
}

// Make a variable that no loop around a place has the name of.
static struct ir_var *fresh_var(struct pass *p, const struct sched_place *place,
                                const char *name, struct span span)
{
    const char *text = name;
    for (int k = 0;; k++) {
        bool taken = false;
        text = k ? arena_printf(p->scratch, "%s_%d", name, k) : name;
        for (size_t i = 0; i < place->n; i++)
            taken |= strcmp(place->around[i]->u.loop.var->name, text) == 0;
        if (!taken)
            break;
    }
    return ir_var_new(p->arena, str_name(p->names, text), type_scalar(TYPE_int),
                      VAR_loop, span);
}

// Make the loop of one dimension and bind the iteration variable to it.
static struct ir_stmt *make_loop(struct pass *p,
                                 const struct sched_place *place, size_t i,
                                 const struct sched_region_dim *dim,
                                 struct ir_iter *it, struct span span)
{
    const char *name =
        dim->loop ? dim->loop : arena_printf(p->scratch, "ax%zu", i);
    struct ir_var *var = fresh_var(p, place, name, it->var->span);
    struct ir_stmt *loop = sched_new_loop(p, var, dim->extent, span);
    it->binding = ir_read(p->arena, var);
    if (dim->base)
        it->binding = ir_add(p->arena, dim->base, it->binding);
    return loop;
}

// Replace what binds an iteration variable by that.
static struct ir_expr *name_binding(struct arena *a, struct ir_expr *x,
                                    void *context)
{
    const struct ir_stage *stage = context;
    for (size_t i = 0; i < stage->iters.n && !ir_is_const(x); i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        if (ir_expr_equal(x, it->binding))
            return ir_read(a, it->var);
    }
    return x;
}

struct conditions stage_nest_conditions(struct pass *p,
                                        const struct ir_stage *stage)
{
    struct arena *a = p->scratch;
    struct conditions kept = {0};
    struct facts f;
    facts_start(&f, a, p->kernel);
    vec_foreach(it, &stage->iters) {
        facts_assume(&f, ir_binary(a, OP_ge, it->binding, ir_int(a, 0)), true);
        facts_assume(&f, ir_binary(a, OP_lt, it->binding, it->extent), true);
    }
    struct conditions all = fold_split(a, stage->predicate);
    for (size_t i = 0; i < all.n; i++)
        if (!facts_holds(&f, all.at[i]))
            vec_push(
                a, &kept,
                ir_rewrite(p->arena, all.at[i], name_binding, (void *)stage));
    return kept;
}

// The facts at a place inside of new loops.
struct corner {
    struct pass *p;
    struct facts facts;
    struct ir_expr *predicate; // so far, or NULL
};

// Let the predicate hold a condition unless it is proved.
static void require(struct corner *k, struct ir_expr *test)
{
    struct arena *a = k->p->arena;
    if (facts_holds(&k->facts, test))
        return;
    k->predicate =
        k->predicate ? ir_binary(a, OP_and, k->predicate, test) : test;
}

// Return the condition that the variables which an extent mentions are below
// their own extents, as far as that is not known: elsewhere nobody may look at
// what it reads.
static struct ir_expr *condition_of(struct corner *k,
                                    const struct ir_stage *stage,
                                    const struct ir_expr *extent)
{
    struct arena *a = k->p->arena;
    struct corner inside = {.p = k->p, .facts = k->facts};
    bool reads = (ir_flags(extent) & OP_READS) != 0;
    vec_foreach(it, &stage->iters) {
        if (!reads || !ir_mentions(extent, it->var))
            continue;
        require(&inside, ir_binary(a, OP_ge, it->binding, ir_int(a, 0)));
        require(&inside, ir_binary(a, OP_lt, it->binding, it->extent));
    }
    return inside.predicate;
}

// Return the extent of a new loop: an extent over iteration variables, over the
// loops that these are bound to already.
static struct ir_expr *extent_over_loops(struct corner *k,
                                         const struct ir_stage *stage,
                                         struct ir_expr *extent,
                                         const struct map *bindings)
{
    struct arena *a = k->p->arena;
    struct ir_expr *condition = condition_of(k, stage, extent);
    struct ir_expr *x = ir_substitute(a, extent, bindings, NULL);
    return condition ? ir_select(a, condition, x, ir_int(a, 0)) : x;
}

struct ir_stmt *stage_nest_over(struct pass *p, struct ir_stmt *stage,
                                const struct sched_place *place,
                                const struct sched_region_dim *region)
{
    struct ir_block nest = {0}, *into = &nest;
    struct corner k = {.p = p};
    struct map bindings = {.arena = p->scratch};
    struct conditions kept = stage_nest_conditions(p, &stage->u.stage);
    facts_start(&k.facts, p->scratch, p->kernel);
    for (size_t i = 0; i < place->n; i++)
        facts_enter(&k.facts, place->around[i]);
    for (size_t i = 0; i < stage->u.stage.iters.n; i++) {
        struct ir_iter *it = &stage->u.stage.iters.at[i];
        struct sched_region_dim dim = region[i];
        dim.extent =
            extent_over_loops(&k, &stage->u.stage, dim.extent, &bindings);
        struct ir_stmt *loop = make_loop(p, place, i, &dim, it, stage->span);
        ir_append(p->arena, into, loop);
        into = &loop->u.loop.body;
        facts_enter(&k.facts, loop);
        map_set(&bindings, it->var, it->binding);
    }
    for (size_t i = 0; i < stage->u.stage.iters.n; i++) {
        const struct ir_iter *it = &stage->u.stage.iters.at[i];
        if (!region[i].base)
            continue;
        require(&k,
                ir_binary(p->arena, OP_ge, it->binding, ir_int(p->arena, 0)));
        require(&k, ir_binary(p->arena, OP_lt, it->binding, it->extent));
    }
    for (size_t i = 0; i < kept.n; i++)
        require(&k, ir_substitute(p->arena, kept.at[i], &bindings, NULL));
    stage->u.stage.predicate = k.predicate;
    ir_append(p->arena, into, stage);
    return nest.at[0];
}

void stage_nest_put(struct pass *p, struct ir_stmt *stage,
                    const struct sched_place *place,
                    const struct sched_region_dim *region)
{
    struct ir_stmt *nest = stage_nest_over(p, stage, place, region);
    ir_insert(p->arena, place->block, place->at, nest);
}
