// specialize -- give the copies of a pipelined loop to a warpgroup of their own.
//
//   for w in 0..2 @warpgroup {                 specialize(k, 40, 232, 1)
//     for k in 0..n @ring(slots 4) { ... } }   =>
//   for w in 0..2 @warpgroup {
//     for k in 0..n @ring(slots 4, fill 40, use 232, lag 1) { ... } }
//
// Lowering starts one warpgroup more, the producer. One of its threads issues
// TMA loads, or all its threads issue cp.async, as soon as a slot of a ring
// is free; the other warpgroups, the consumers, use the slots that are full.
// The numbers are the registers that a thread of either keeps; 0 leaves them as
// the launch has them.  The next number, 0 if left out, is how many WGMMAs may
// be in flight when one iteration ends: slots are free again so many iterations
// late, and the waits of the loop leave them alone.  The last one, 1 if left out,
// is how many producer warpgroups there are. If the loop has several rings, each
// producer fills one, and the last one the rest: so the threads of one issue
// cp.async while a thread of another issues TMA loads. Rings behind the first
// whose fills are no copies have no producer: the consumers fill them ahead.
//
// Requires:
//  1. the loop has rings, and stands in one that is bound to
//     warpgroups of a known number; its copies are by TMA,
//     or by cp_async; there are no more producers than rings that they fill          E0787
//  2. registers that can be given: multiples of 8 from 24 to 240,
//     together no more than the launch has                           E0788
//  3. fewer WGMMAs in flight than there are slots                    E0773

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/analysis/ring.h"
#include "passes/analysis/role_registers.h"
#include "passes/analysis/tma_copy.h"

// The rings of a loop.
struct rings VEC(struct ring);

// Return whether the fills of a ring are copies that a producer can make: by
// TMA, or by threads.
static bool is_copied(const struct ring *ring)
{
    vec_foreach_value(fill, &ring->fills)
        if (!tma_copy_only(fill) && !copies_only(fill))
            return false;
    return true;
}

// Check the copies to ring number `i`: consumers fill those behind the first
// themselves, if they are no copies. Returns what is wrong, or NULL.
static const char *check_fills(const struct ring *ring, size_t i)
{
    return i || is_copied(ring)
               ? NULL
               : "its copies are not all `copy_via(stage, tma)`, "
                 "`copy_via(stage, bulk)`, or `copy_via(stage, cp_async)` of "
                 "elements of 4 bytes";
}

// Return the loop over warpgroups around a loop, or NULL, and their number.
static struct ir_stmt *group_around(struct pass *p, const struct ir_stmt *loop,
                                    int64_t *n)
{
    struct ir_path path = sched_path(p, loop);
    struct ir_stmt *found = NULL;
    for (uint32_t i = 0; i < path.n; i++) {
        struct ir_stmt *s = path.stmts[i];
        if (s->kind == STMT_for && s->u.loop.axis == AXIS_warpgroup &&
            ir_int_value(ir_for_extent(p->scratch, &s->u.loop), n))
            found = s;
    }
    return found;
}

// Return how many producer warpgroups a call asks for.
static int64_t producers_of(const struct sched_call *c)
{
    return c->args.n > 4 ? c->args.at[4].number : 1;
}

// Check the shape of the nest; what its rings are goes to `rings`.
static const char *check_shape(struct sched_call *c, struct ir_stmt *loop,
                               struct rings *rings, int64_t *groups)
{
    int64_t copied = 0;
    struct pass *p = c->pass;
    if (!ir_rings_of(loop).n)
        return "it is not pipelined";
    if (!group_around(p, loop, groups))
        return "it does not stand in a loop bound to warpgroups, of which "
               "there is a known number";
    for (size_t i = 0; i < loop->u.loop.rings.n; i++) {
        bool is_checked = c->has_checked_rings || c->is_late;
        struct ring ring = (is_checked ? ring_checked : ring_find)(
            p->scratch, p->kernel, loop, i);
        const char *fault = ring.fault ? ring.fault : check_fills(&ring, i);
        if (fault)
            return fault;
        copied += is_copied(&ring);
        vec_push(p->scratch, rings, ring);
    }
    return producers_of(c) < 1 || producers_of(c) > copied
               ? "it has a producer for each ring, or for several, not more"
               : NULL;
}

// Return whether a number of registers is one that threads can be given.
static bool is_number(int64_t n)
{
    return n >= RING_REGISTERS_LEAST && n <= RING_REGISTERS_MOST &&
           n % RING_REGISTERS_UNIT == 0;
}

// Check the registers of one warpgroup that copies and of `groups` others.
static bool check_registers(struct sched_call *c, int64_t groups)
{
    const struct ir_kernel *k = c->pass->kernel;
    struct role_registers r = {c->args.at[1].number, c->args.at[2].number,
                               producers_of(c), groups};
    return (!r.producer && !r.consumer) ||
           (is_number(r.producer) && is_number(r.consumer) &&
            role_registers_fit(k, &r)) ||
           role_registers_refuse(c->pass->diags, c->span, k, &r);
}

// Check how many WGMMAs may be in flight.
static bool check_in_flight(struct sched_call *c, const struct ir_stmt *loop)
{
    int64_t n = c->args.n > 3 ? c->args.at[3].number : 0;
    for (size_t i = 0; i < loop->u.loop.rings.n; i++) {
        int64_t slots = loop->u.loop.rings.at[i]->slots;
        if (n < 0 || n >= slots)
            return diag_error(c->pass->diags, c->span, D_in_flight,
                              (long long)n, sched_name_of(loop),
                              (long long)slots);
    }
    return true;
}

// Give a ring its roles, and the producer of that number.
static void set_roles(struct sched_call *c, struct ir_ring *ring,
                      int64_t producer)
{
    ring->roles.n = 0;
    for (int i = 0; i < RING_PARTS; i++) {
        struct ir_role role = {(enum ir_ring_part)i, c->args.at[i + 1].number};
        vec_push(c->pass->arena, &ring->roles, role);
    }
    ring->lag = c->args.n > 3 ? c->args.at[3].number : 0;
    ring->producer = producer;
}

bool sched_specialize(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    struct rings rings = {0};
    int64_t groups = 0;
    const char *wrong = check_shape(c, loop, &rings, &groups);
    if (wrong)
        return sched_refuse(c, loop, "to be specialized", D_role_shape,
                            sched_name_of(loop), wrong);
    if (!check_registers(c, groups) || !check_in_flight(c, loop))
        return false;
    int64_t copied = 0, last = producers_of(c) - 1;
    vec_foreach(ring, &rings) {
        if (is_copied(ring))
            set_roles(c, ring->of, copied < last ? copied : last);
        copied += is_copied(ring);
    }
    return true;
}
