// pingpong -- give the tiles of persistent blocks to warpgroups in ping-pong
// order.
//
//   for i in 0..m @block.x @persistent(132) {              pingpong(i, 2)
//     for w in 0..1 @warpgroup {
//       for k in 0..n @ring(slots 4, fill 40, use 232) { ... }            =>
//       store
//     }
//   }
//   ... for k in 0..n @ring(slots 4, fill 40, use 232, order 2) { ... }
//
// Lowering starts as many consumer warpgroups as asked for, beside the
// producer. With n of them, each computes every n-th tile of the block: while
// one runs its epilogue, another runs WGMMA. Each has its own copy of the
// arrays in shared memory that it writes.
//
// Requires:
//  1. the loop is bound to blocks that are persistent and consist of one
//     warpgroup with a ring that is specialized, from which every tile is
//     made in equally many steps; no loop stands around those over its
//     warps and lanes, TMA loads nothing else, and what it writes in
//     shared memory is for itself                                      E0775
//  2. two to seven warpgroups                                          E0776
//  3. together they have the registers that are asked for              E0788

#include "passes/schedule/prim.h"

#include "passes/analysis/pingpong.h"
#include "passes/analysis/role_registers.h"
#include "passes/analysis/tiles.h"

// Find the loop that is specialized in the tiles of a nest.  Returns why
// ping-pong order is impossible, or NULL.
static const char *find_ring(struct sched_call *c, const struct tiles *t,
                             struct ir_stmt **ring)
{
    struct ir_stmt *last = t->loops.n ? t->loops.at[t->loops.n - 1] : NULL;
    struct ir_stmt *group = last ? tiles_roles(&last->u.loop.body) : NULL;
    bool is_persistent =
        tiles_mark(t, MARK_persistent) || tiles_mark(t, MARK_persistent_sms);
    if (t->fault)
        return t->fault;
    if (!is_persistent || !group)
        return PINGPONG_NO_ROLES;
    ir_foreach_stmt(s, &group->u.loop.body)
        if (ir_ring_specialized(s))
            *ring = s;
    if (ir_ring_specialized(*ring)->order)
        return "they are already";
    return pingpong_fault(c->pass->scratch, c->pass->kernel, group, NULL,
                          *ring);
}

// Check the registers of so many warpgroups.
static bool check_registers(struct sched_call *c, const struct ir_stmt *ring,
                            int64_t n)
{
    const struct ir_ring *of = ir_ring_specialized(ring);
    int64_t producers = 1;
    vec_foreach_value(x, &ring->u.loop.rings)
        producers = x->producer < producers ? producers : x->producer + 1;
    struct role_registers r = {ir_ring_role(of, RING_fill)->registers,
                               ir_ring_role(of, RING_use)->registers, producers,
                               n};
    return role_registers_fit(c->pass->kernel, &r) ||
           role_registers_refuse(c->pass->diags, c->span, c->pass->kernel, &r);
}

bool sched_pingpong(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *loop = sched_arg(c, 0), *ring = NULL;
    int64_t n = c->args.at[1].number;
    struct tiles t = tiles_find(p->scratch, p->kernel, loop);
    const char *wrong = find_ring(c, &t, &ring);
    if (wrong)
        return sched_refuse(c, loop, "to be taken in ping-pong order",
                            D_pingpong_shape, sched_name_of(loop), wrong);
    if (!pingpong_number(n))
        return diag_error(p->diags, c->span, D_pingpong_number, (long long)n);
    if (!check_registers(c, ring, n))
        return false;
    vec_foreach_value(of, &ring->u.loop.rings)
        of->order = n;
    return true;
}
