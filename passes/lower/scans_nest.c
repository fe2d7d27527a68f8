// Loops over the elements that a thread of a scan holds, and arrays for these.

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/lower/scans.h"

void nest_enter(const struct scanning *c, struct scan_nest *nest, uint32_t k,
                bool keeps_vector)
{
    struct arena *a = c->pass->arena;
    const struct ir_for *l = &c->levels[k].loop->u.loop;
    struct ir_var *var = scan_var(c, l->var->name, l->var->type, VAR_loop);
    bool is_vector = keeps_vector && l->axis == AXIS_vector;
    struct ir_stmt *s = ir_stmt_for(a, var, l->from, l->to, l->step,
                                    is_vector ? AXIS_vector : AXIS_unroll);
    ir_append(a, nest->body, ir_stmt_from(s, c->levels[k].loop));
    map_set(&nest->vars, l->var, ir_read(a, var));
    nest->index[nest->n++] = ir_read(a, var);
    nest->body = &s->u.loop.body;
}

struct scan_nest nest_at(const struct scanning *c, struct ir_block *to)
{
    struct scan_nest nest = {.body = to, .vars = {.arena = c->pass->scratch}};
    if (c->blocks)
        map_set(&nest.vars, c->blocks->u.loop.var, c->tile);
    return nest;
}

struct scan_nest nest_open(const struct scanning *c, struct ir_block *to,
                           uint32_t k, bool keeps_vector)
{
    struct scan_nest nest = nest_at(c, to);
    for (uint32_t i = 0; i < k; i++)
        if (c->levels[i].kind == SCAN_SERIAL)
            nest_enter(c, &nest, i, keeps_vector);
    return nest;
}

struct scan_values nest_values(const struct scanning *c,
                               struct ir_buffer *const *arrays,
                               const struct scan_nest *nest)
{
    struct arena *a = c->pass->arena;
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        r.at[v].buffer = arrays[v];
        r.at[v].n = arrays[v]->rank;
        r.at[v].index = arena_array(a, struct ir_expr *, arrays[v]->rank);
        for (uint32_t i = 0; i < arrays[v]->rank; i++)
            r.at[v].index[i] = nest->index[i];
    }
    return r;
}

struct ir_expr **nest_shape(const struct scanning *c, uint32_t k,
                            uint32_t *rank)
{
    struct arena *a = c->pass->arena;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, SCAN_LEVELS);
    *rank = 0;
    for (uint32_t i = 0; i < k; i++)
        if (c->levels[i].kind == SCAN_SERIAL)
            shape[(*rank)++] = ir_int(a, c->levels[i].extent);
    return shape;
}

void nest_arrays(const struct scanning *c, struct ir_block *to, uint32_t k,
                 const char *what, struct ir_buffer **arrays)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        uint32_t rank;
        struct ir_expr **shape = nest_shape(c, k, &rank);
        arrays[v] = scan_array(c, v, what, SPACE_local, rank, shape);
        scan_add(c, to, ir_stmt_alloc(c->pass->arena, arrays[v]));
    }
}

struct ir_stmt *nest_stage(const struct scanning *c,
                           const struct scan_nest *nest, const char *name,
                           struct map *iters)
{
    struct arena *a = c->pass->arena;
    const struct ir_stage *old = &c->stage->u.stage;
    struct ir_stmt *s = ir_stmt_stage(a, str_name(c->pass->names, name));
    vec_foreach(from, &old->iters) {
        struct ir_iter it = *from;
        it.var = scan_var(c, it.var->name, it.var->type, VAR_iter);
        it.binding = ir_substitute(a, it.binding, &nest->vars, NULL);
        it.is_reduce = false;
        map_set(iters, from->var, ir_read(a, it.var));
        vec_push(a, &s->u.stage.iters, it);
    }
    if (old->predicate)
        s->u.stage.predicate =
            ir_substitute(a, old->predicate, &nest->vars, NULL);
    return scan_add(c, nest->body, s);
}

struct ir_expr *nest_is_whole(const struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct scan_nest nest = nest_at(c, NULL);
    struct ir_expr *one = ir_int(a, 1);
    for (uint32_t k = 0; k < c->n; k++)
        if (c->levels[k].kind == SCAN_SERIAL)
            map_set(&nest.vars, c->levels[k].loop->u.loop.var,
                    ir_int(a, c->levels[k].extent - 1));
    vec_foreach_value(s, &c->threads)
        map_set(&nest.vars, s->u.loop.var, ir_sub(a, s->u.loop.to, one));
    return ir_substitute(a, c->stage->u.stage.predicate, &nest.vars, NULL);
}
