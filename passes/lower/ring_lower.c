// ring_lower: lowers planned rings without roles by transport.
//
//   one thread issues TMA copies, on mbarriers            ring_tma.c
//   all threads copy, by cp.async or through registers    ring_threads.c
//
// Those with roles are gone by then (warp_specialize.c).

#include "passes/lower/ring_threads.h"
#include "passes/lower/ring_tma.h"

// Lower the ring of a loop in a block; false after an error.
static bool lower(struct pass *p, struct ir_block *block, struct ir_stmt *s)
{
    struct ir_block out = {0};
    struct ring ring = ring_planned(p->scratch, s);
    if (ring.fault) {
        diag_error(p->diags, s->span, D_pipeline_lost, s->u.loop.var->name,
                   ring.fault);
        return false;
    }
    if (ring_tma_fills(&ring))
        return ring_tma_lower(p, s);
    ring_threads_lower(p, s, &out);
    ir_splice(p->arena, block, ir_index(block, s), &out);
    return true;
}

// Lower the rings of a block and below, the inner ones first; false after an
// error.
static bool lower_block(struct pass *p, struct ir_block *block, bool *changed)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++) {
            if (!lower_block(p, inside[k], changed))
                return false;
        }
        bool has_ring = ir_ring_of(s) != NULL;
        if (has_ring && !lower(p, block, s))
            return false;
        *changed |= has_ring;
        i = ir_index(block, s);
    }
    return true;
}

enum pass_result pass_ring_lower(struct pass *p)
{
    bool changed = false;
    if (!lower_block(p, &p->kernel->body, &changed))
        return PASS_FAILED;
    return changed ? PASS_CHANGED : PASS_SAME;
}
