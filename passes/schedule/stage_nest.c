// New stages in loops of their own.

#include "passes/schedule/stage_nest.h"

#include "ir/build.h"

// Make the variable of number i of a kind, called by a prefix.
static struct ir_var *new_var(struct pass *p, const char *prefix, uint32_t i,
                              enum var_kind kind, struct span span)
{
    const char *name = arena_printf(p->scratch, "%s%u", prefix, i);
    return ir_var_new(p->arena, str_name(p->names, name), type_scalar(TYPE_int),
                      kind, span);
}

struct stage_nest stage_nest_new(struct pass *p, const char *name, uint32_t n,
                                 struct ir_expr *const *extents,
                                 struct span span)
{
    struct arena *a = p->arena;
    struct stage_nest r = {.stage = ir_stmt_stage(a, str_name(p->names, name))};
    r.index = arena_array(a, struct ir_expr *, n);
    r.stage->span = span;
    for (uint32_t i = 0; i < n; i++) {
        struct ir_var *var = new_var(p, "ax", i, VAR_loop, span);
        struct ir_stmt *loop = sched_new_loop(p, var, extents[i], span);
        struct ir_iter iter = {.extent = extents[i],
                               .binding = ir_read(a, var)};
        iter.var = new_var(p, "v", i, VAR_iter, span);
        r.index[i] = ir_read(a, iter.var);
        vec_push(a, &r.stage->u.stage.iters, iter);
        if (r.innermost)
            ir_append(a, &r.innermost->u.loop.body, loop);
        else
            r.outermost = loop;
        r.innermost = loop;
    }
    if (r.innermost)
        ir_append(a, &r.innermost->u.loop.body, r.stage);
    else
        r.outermost = r.stage;
    return r;
}
