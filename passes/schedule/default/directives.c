// The directives of which default schedules are made.

#include "passes/schedule/default/directives.h"

// Return a call of a primitive on loops or stages.
static struct sched_call call_on(const struct sched_call *c,
                                 enum sched_prim prim,
                                 struct ir_stmt *const *stmts, size_t n)
{
    struct sched_call r = sched_call_to(c, prim);
    for (size_t i = 0; i < n; i++)
        sched_add_stmt(&r, stmts[i]);
    return r;
}

bool directive_on(const struct sched_call *c, enum sched_prim prim,
                  struct ir_stmt *const *loops, size_t n)
{
    struct sched_call r = call_on(c, prim, loops, n);
    return sched_run(&r);
}

bool directive_bind(const struct sched_call *c, struct ir_stmt *loop,
                    enum axis axis)
{
    struct sched_call b = call_on(c, PRIM_bind, &loop, 1);
    struct sched_value v = {.kind = VALUE_axis, .axis = axis};
    vec_push(c->pass->scratch, &b.args, v);
    return sched_run(&b);
}

const struct sched_value *directive_split(const struct sched_call *c,
                                          struct ir_stmt *loop,
                                          const int64_t *extents, size_t n)
{
    struct sched_call s = call_on(c, PRIM_split, &loop, 1);
    sched_add_any(&s);
    for (size_t i = 0; i < n; i++)
        sched_add_int(&s, extents[i]);
    return sched_run(&s) ? s.results.at : NULL;
}

struct ir_stmt *directive_fuse(const struct sched_call *c,
                               struct ir_stmt *const *loops, size_t n)
{
    struct sched_call f = call_on(c, PRIM_fuse, loops, n);
    if (n == 1)
        return loops[0];
    return sched_run(&f) ? f.results.at[0].stmt : NULL;
}

bool directive_wrap(const struct sched_call *c, struct ir_stmt *s,
                    enum axis axis)
{
    struct sched_call u = call_on(c, PRIM_add_unit_loop, &s, 1);
    return sched_run(&u) && directive_bind(c, u.results.at[0].stmt, axis);
}
