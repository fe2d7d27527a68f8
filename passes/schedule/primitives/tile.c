// tile -- cut two nested loops into blocks.
//
//   for i in 0..m { for j in 0..n { ... } }
//     =>   i_0, j_0, i_1, j_1 = tile(i, j, ti, tj)
//   for i_0 { for j_0 { for i_1 in 0..ti { for j_1 in 0..tj { ... } } } }
//
// The same as split, split and reorder.
//
// Requires what those do; the loops must be interchangeable:
//  1. i holds j and nothing else                  E0609 E0610 E0612
//  2. the bounds of j do not depend on i          E0611
//  3. at most one of them carries a dependence    E0614

#include "passes/schedule/prim.h"

#include "ir/build.h"

// Return the call that splits the loop of argument `i` by the factor of
// argument `i` + 2.
static struct sched_call split_call(const struct sched_call *c, size_t i)
{
    struct sched_call s = sched_call_to(c, PRIM_split);
    sched_add_stmt(&s, sched_arg(c, i));
    sched_add_any(&s);
    vec_push(c->pass->scratch, &s.args, c->args.at[i + 2]);
    return s;
}

// Let a loop hold nothing but another one.
static void hold(struct sched_call *c, struct ir_stmt *outer,
                 struct ir_stmt *inner)
{
    outer->u.loop.body = (struct ir_block){0};
    ir_append(c->pass->arena, &outer->u.loop.body, inner);
}

bool sched_tile(struct sched_call *c)
{
    struct ir_stmt *loops[] = {sched_arg(c, 0), sched_arg(c, 1)};
    struct ir_stmt *swapped[] = {loops[1], loops[0]};
    if (!sched_check_distinct(c, loops, 2) ||
        !sched_check_nested(c, loops, 2, false) ||
        !sched_check_rectangle(c, loops, 2) ||
        !sched_check_order(c, loops, 2, swapped))
        return false;
    struct sched_call i = split_call(c, 0), j = split_call(c, 1);
    if (!sched_check_split(&i) || !sched_check_split(&j) || !sched_run(&i) ||
        !sched_run(&j))
        return false;
    struct ir_stmt *made[] = {i.results.at[0].stmt, j.results.at[0].stmt,
                              i.results.at[1].stmt, j.results.at[1].stmt};
    for (int k = 0; k < 4; k++) {
        if (k < 3)
            hold(c, made[k], made[k + 1]);
        sched_result(c, VALUE_loop, made[k]);
    }
    return true;
}
