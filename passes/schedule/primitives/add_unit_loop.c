// add_unit_loop -- put a loop of one iteration around a loop or a stage.
//
//   stage C { ... }   =>   u = add_unit_loop(C)
//   for u in 0..1 { stage C { ... } }
//
// Requires: nothing.

#include "passes/schedule/prim.h"

#include "ir/build.h"

bool sched_add_unit_loop(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *inside = sched_arg(c, 0);
    struct ir_var *var = sched_new_var(p, inside, "u", inside->span);
    struct ir_stmt *loop =
        sched_new_loop(p, var, ir_int(p->arena, 1), inside->span);
    sched_replace(p, inside, loop);
    ir_append(p->arena, &loop->u.loop.body, inside);
    sched_result(c, VALUE_loop, loop);
    return true;
}
