// unroll -- expand a loop into straight line.
//
//   for i in 0..4 { ... }   =>   unroll(i)
//   for i in 0..4 @unroll { ... }
//
// Requires:
//  1. the loop is serial                       E0607
//  2. its extent is constant ...               E0624
//  3. ... and small                            E0625

#include "passes/schedule/common/offer.h"

#include "ir/build.h"

enum { UNROLL_MOST = 1024 };

// Check every precondition.
static bool check(const struct sched_call *c, struct ir_stmt *loop)
{
    const char *name = loop->u.loop.var->name;
    int64_t extent;
    if (!sched_check_serial(c, loop))
        return false;
    if (!ir_int_value(ir_for_extent(c->pass->scratch, &loop->u.loop), &extent))
        return sched_refuse(c, loop, "not a constant extent", D_unroll_extent,
                            name);
    if (extent <= UNROLL_MOST)
        return true;
    return sched_refuse(c, loop, "too long", D_unroll_many, name,
                        (long long)extent, (long long)UNROLL_MOST);
}

bool sched_unroll(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    if (check(c, loop)) {
        loop->u.loop.axis = AXIS_unroll;
        return true;
    }
    struct ir_stmt *inner = sched_innermost(loop);
    size_t found = sched_offer_loops(c, &inner, 1, check);
    if (loop->u.loop.axis == AXIS_serial)
        diag_help(c->pass->diags,
                  "%sunroll a part of it: `i0, i1 = split(%s, _, 4)`, "
                  "`unroll(i1)`",
                  found ? "or " : "", loop->u.loop.var->name);
    return false;
}
