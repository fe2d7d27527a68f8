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

// Split the loop of argument `i` by the factor of argument `i` + 2.
static bool split(const struct sched_call *c, size_t i,
                  struct sched_values *parts)
{
    struct sched_call s = sched_call_to(c, PRIM_split);
    sched_add_loop(&s, sched_arg(c, i));
    sched_add_any(&s);
    vec_push(c->pass->scratch, &s.args, c->args.at[i + 2]);
    bool ok = sched_run(&s);
    *parts = s.results;
    return ok;
}

bool sched_tile(struct sched_call *c)
{
    struct ir_stmt *loops[] = {sched_arg(c, 0), sched_arg(c, 1)};
    struct ir_stmt *swapped[] = {loops[1], loops[0]};
    struct sched_values i, j;
    if (!sched_check_distinct(c, loops, 2) ||
        !sched_check_nested(c, loops, 2, false) ||
        !sched_check_rectangle(c, loops, 2) ||
        !sched_check_order(c, loops, 2, swapped) || !split(c, 0, &i) ||
        !split(c, 1, &j))
        return false;
    struct ir_stmt *made[] = {i.at[0].stmt, j.at[0].stmt, i.at[1].stmt,
                              j.at[1].stmt};
    struct sched_call r = sched_call_to(c, PRIM_reorder);
    for (int k = 0; k < 4; k++) {
        sched_add_loop(&r, made[k]);
        sched_result(c, VALUE_loop, made[k]);
    }
    return sched_run(&r);
}
