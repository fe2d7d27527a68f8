// pipeline -- software-pipeline a loop: a ring in shared memory is filled
// iterations ahead of its use.
//
//   for k in 0..n { S[i] = A[k, i]; C = C + f(S) }   =>   pipeline(k, 3)
//   for k in 0..n @ring(slots 3) { S[i] = A[k, i]; C = C + f(S) }
//
// Lowering makes a ring of each array that a stage in the body fills: as many
// slots as asked for, of which one is used while the others are being filled.
//
// If stages are named, only these fill the ring. A loop can have several such
// rings, each with its own number of slots; stages that no call names fill the
// first. A stage that is named may read what rings before its own hold: so a
// ring is filled from another one, `pipeline(k, 3); pipeline(k, 2, P)`, with S
// copied two iterations ahead of P, and P computed one ahead of its use.
//
// Requires:
//  1. the loop is serial, and not marked; it may have rings,
//     15 at most, if stages are named                       E0607 E0608
//  2. it counts from 0 in steps of 1                        E0623
//  3. 2 to 16 slots                                         E0651
//  4. stages in it fill shared memory from what the loop
//     does not change, or what rings before this one hold,
//     each iteration before it reads that;
//     nothing else uses it, nor fills from it what is double
//     buffered, and no barrier is written                    E0652

#include "passes/schedule/common/move.h"

#include "ir/marks.h"
#include "passes/analysis/ring_ahead.h"

enum { RINGS_MOST = 15 };

// Check that what is named as a stage is one, in the loop.
static bool check_stages(struct sched_call *c, struct ir_stmt *loop)
{
    size_t n;
    struct ir_stmt **stages = sched_arg_stmts(c, 2, &n);
    for (size_t i = 0; i < n; i++) {
        if (stages[i]->kind == STMT_stage &&
            sched_is_below(c->pass, stages[i], loop))
            continue;
        return sched_refuse(c, stages[i], "named", D_pipeline_shape,
                            sched_name_of(loop),
                            "what is named is no stage in it");
    }
    return true;
}

// Check the loop: it has no mark, and no ring yet unless this one names its
// stages.
static bool check_loop(struct sched_call *c, struct ir_stmt *loop)
{
    bool adds = c->args.n > 2 && loop->u.loop.rings.n && !loop->u.loop.attrs.n;
    if (!sched_check_serial(c, loop) ||
        (!adds && !sched_check_plain(c, loop)) ||
        !sched_check_from_zero(c, loop))
        return false;
    if (loop->u.loop.rings.n <= RINGS_MOST)
        return check_stages(c, loop);
    return sched_refuse(c, loop, "looked at", D_pipeline_shape,
                        sched_name_of(loop),
                        "it has as many rings as a loop can have");
}

// Say of a stage which ring it fills; 0: the first, which is that of stages that
// say nothing.
static void number_stage(struct sched_call *c, struct ir_stmt *stage,
                         int64_t ring)
{
    ir_attr_remove(stage, MARK_ring);
    if (ring)
        ir_attr_set(c->pass->arena, stage, MARK_ring, ring);
}

// Let the stages that are named fill the last ring of a loop. Returns the
// numbers of those that they filled before.
static int64_t *name_stages(struct sched_call *c, const struct ir_stmt *loop)
{
    size_t n;
    struct ir_stmt **stages = sched_arg_stmts(c, 2, &n);
    int64_t *old = arena_array(c->pass->scratch, int64_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct ir_attr *mark = ir_attr_get(stages[i], MARK_ring);
        old[i] = mark ? mark->value : 0;
        number_stage(c, stages[i], (int64_t)loop->u.loop.rings.n - 1);
    }
    return old;
}

// Take the last ring of a loop, and let the stages fill those they filled
// before.
static void undo(struct sched_call *c, struct ir_stmt *loop, const int64_t *old)
{
    size_t n;
    struct ir_stmt **stages = sched_arg_stmts(c, 2, &n);
    for (size_t i = 0; i < n; i++)
        number_stage(c, stages[i], old[i]);
    loop->u.loop.rings.n--;
}

bool sched_pipeline(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *loop = sched_arg(c, 0);
    int64_t slots = c->args.at[1].number;
    if (!check_loop(c, loop))
        return false;
    struct ir_ring *made = ir_ring_new(p->arena, slots);
    if (ir_ring_fault(p->scratch, made))
        return diag_error(p->diags, c->args.at[1].span, D_pipeline_slots,
                          (long long)slots);
    vec_push(p->arena, &loop->u.loop.rings, made);
    int64_t *old = name_stages(c, loop);
    if (c->is_late)
        return true;
    struct ring ring = ring_find_all(p->scratch, p->kernel, loop);
    if (!ring.fault)
        return true;
    undo(c, loop, old);
    struct ir_stmt *both[] = {loop, ring.at};
    diag_error(p->diags, c->span, D_pipeline_shape, sched_name_of(loop),
               ring.fault);
    return sched_blame(c, both, ring.at == loop ? 1 : 2, "looked at");
}
