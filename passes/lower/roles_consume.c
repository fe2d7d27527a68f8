// The roles that use what is copied: they wait for a slot to be full, and hand it
// back (roles.c).

#include "passes/lower/roles.h"

#include "ir/build.h"
#include "passes/lower/mbarriers.h"

// Append what hands a slot back: each warp once it has read it, to the blocks
// of the cluster that fill it.
static void append_release(struct roles *r, struct ir_block *out,
                           struct ir_expr *slot)
{
    struct ir_var *one;
    bool is_alone = r->cluster.blocks == 1;
    out = roles_append_loop(r, out, "one", r->cluster.blocks, AXIS_lane, &one);
    mbarriers_append(
        r->p->arena, out, is_alone ? OP_mbarrier_arrive : OP_mbarrier_arrive_at,
        r->empty, slot, is_alone ? NULL : ir_read(r->p->arena, one), r->loop);
}

// Count the iterations of a run of the loop, behind it.
static void append_next(struct roles *r, const struct turns *turns)
{
    struct ir_block *block = r->path.blocks[r->path.n - 1];
    struct ir_expr *n = ir_for_extent(r->p->arena, &r->loop->u.loop);
    size_t at = 0;
    while (block->at[at] != r->loop)
        at++;
    if (turns->before)
        ir_insert(r->p->arena, block, at + 1, turns_next(turns, n));
}

void roles_consume(struct roles *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->loop->u.loop;
    struct turns turns = roles_turns(r, out);
    struct ir_block body = {0}, rest = {0};
    struct ir_expr *n = turns_count(&turns, ir_read(a, loop->var));
    struct ir_expr *slot = turns_slot(&turns, n);
    mbarriers_append(a, &body, OP_mbarrier_wait, r->full, slot,
                     turns_parity(&turns, n, 0), r->loop);
    for (size_t i = 0; i < loop->body.n; i++) {
        if (!ring_has_fill(&r->ring, loop->body.at[i]))
            ir_append(a, &rest, loop->body.at[i]);
    }
    slots_use(a, &r->ring, &rest, slot);
    for (size_t i = 0; i < rest.n; i++)
        ir_append(a, &body, rest.at[i]);
    for (uint32_t i = r->at + 1; i < r->path.n; i++) {
        if (roles_is_thread(r, i) && r->path.stmts[i]->u.loop.axis == AXIS_lane)
            ir_append(a, &body,
                      ir_stmt_from(ir_stmt_sync(a, SYNC_warp), r->loop));
    }
    append_release(r, &body, slot);
    loop->body = body;
    loop->attrs.n = 0;
    append_next(r, &turns);
}
