// vectorize -- run the iterations of a loop as lanes of a vector.
//
//   for i in 0..4 { C[x * 4 + i] = A[x * 4 + i] }   =>   vectorize(i)
//   for i in 0..4 @vector { C[x * 4 + i] = A[x * 4 + i] }
//
// Accesses become vector loads and stores where their alignment is proved.
//
// Requires:
//  1. the loop is serial                        E0607
//  2. it counts from 0 in steps of 1            E0623
//  3. its extent is 2, 4, 8 or 16               E0626
//  4. no loop and no barrier is inside          E0627
//  5. the iterations are independent, or those
//     of a scan                                 E0616

#include "passes/schedule/prim.h"

#include "ir/build.h"

// Check that the extent is a number of lanes.
static bool check_lanes(const struct sched_call *c, struct ir_stmt *loop)
{
    int64_t n = 0;
    if (ir_int_value(loop->u.loop.to, &n) &&
        (n == 2 || n == 4 || n == 8 || n == 16))
        return true;
    sched_refuse(c, loop, "not a number of lanes", D_vector_extent,
                 loop->u.loop.var->name);
    diag_help(c->pass->diags, "split it first: `i0, i1 = split(%s, _, 4)`",
              loop->u.loop.var->name);
    return false;
}

// Check that the loop is innermost.
static bool check_innermost(const struct sched_call *c, struct ir_stmt *loop)
{
    struct ir_block *body = &loop->u.loop.body;
    if (!ir_has(body, STMT_for) && !ir_has(body, STMT_barrier))
        return true;
    sched_refuse(c, loop, "not innermost", D_vector_not_innermost,
                 loop->u.loop.var->name);
    diag_help(c->pass->diags, "reorder the loops so that `%s` is innermost",
              loop->u.loop.var->name);
    return false;
}

bool sched_vectorize(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    if (!sched_check_serial(c, loop) || !sched_check_from_zero(c, loop) ||
        !check_lanes(c, loop) || !check_innermost(c, loop) ||
        !sched_check_parallel(c, loop, AXIS_vector))
        return false;
    loop->u.loop.axis = AXIS_vector;
    return true;
}
