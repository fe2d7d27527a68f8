// New stages in loops of their own.

#include "passes/schedule/stage_nest.h"

#include "ir/build.h"

// Return the name of number i of a kind.
static const char *name_of(struct pass *p, const char *prefix, uint32_t i)
{
    return str_name(p->names, arena_printf(p->scratch, "%s%u", prefix, i));
}

// Make the loop of number i.
static struct ir_stmt *make_loop(struct pass *p, uint32_t i,
                                 struct ir_expr *extent,
                                 const struct ir_stmt *near, struct span span)
{
    const char *name = name_of(p, "ax", i);
    struct type type = type_scalar(TYPE_int);
    struct ir_var *var = near
                             ? sched_new_var(p, near, name, span)
                             : ir_var_new(p->arena, name, type, VAR_loop, span);
    return sched_new_loop(p, var, extent, span);
}

struct stage_nest stage_nest_over(struct pass *p, struct ir_stmt *stage,
                                  uint32_t n, struct ir_expr *const *extents,
                                  const struct ir_stmt *near)
{
    struct arena *a = p->arena;
    struct span span = stage->span;
    struct ir_block nest = {0}, *into = &nest;
    struct stage_nest r = {.stage = stage};
    r.index = arena_array(a, struct ir_expr *, n);
    memset(&stage->u.stage.iters, 0, sizeof stage->u.stage.iters);
    for (uint32_t i = 0; i < n; i++) {
        struct ir_stmt *loop = make_loop(p, i, extents[i], near, span);
        struct ir_iter iter = {.extent = extents[i]};
        iter.binding = ir_read(a, loop->u.loop.var);
        iter.var = ir_var_new(a, name_of(p, "v", i), type_scalar(TYPE_int),
                              VAR_iter, span);
        r.index[i] = ir_read(a, iter.var);
        vec_push(a, &stage->u.stage.iters, iter);
        ir_append(a, into, loop);
        into = &loop->u.loop.body;
    }
    ir_append(a, into, stage);
    r.outermost = nest.at[0];
    return r;
}
