// pipeline -- software-pipeline a loop: a ring in shared memory is filled
// iterations ahead of its use.
//
//   for k in 0..n { S[i] = A[k, i]; C = C + f(S) }   =>   pipeline(k, 3)
//   for k in 0..n @ring(slots 3) { S[i] = A[k, i]; C = C + f(S) }
//
// Lowering makes a ring of each array that a copy in the body fills: as many
// slots as asked for, of which one is used while copies into the others are in
// flight.
//
// Requires:
//  1. the loop is serial, and not marked                    E0607 E0608
//  2. it counts from 0 in steps of 1                        E0623
//  3. 2 to 16 slots                                         E0651
//  4. stages in it fill shared memory from what the loop
//     does not change, each iteration before it reads that;
//     nothing else uses it, nor fills from it what is double
//     buffered, and no barrier is written                    E0652

#include "passes/schedule/prim.h"

#include "passes/analysis/ring.h"

bool sched_pipeline(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *loop = sched_arg(c, 0);
    int64_t slots = c->args.at[1].number;
    if (!sched_check_serial(c, loop) || !sched_check_plain(c, loop) ||
        !sched_check_from_zero(c, loop))
        return false;
    struct ir_ring *made = ir_ring_new(p->arena, slots);
    if (ir_ring_fault(p->scratch, made))
        return diag_error(p->diags, c->args.at[1].span, D_pipeline_slots,
                          (long long)slots);
    struct ring ring = ring_find(p->scratch, p->kernel, loop);
    if (ring.fault) {
        struct ir_stmt *both[] = {loop, ring.at};
        diag_error(p->diags, c->span, D_pipeline_shape, sched_name_of(loop),
                   ring.fault);
        return sched_blame(c, both, ring.at == loop ? 1 : 2, "looked at");
    }
    loop->u.loop.ring = made;
    return true;
}
