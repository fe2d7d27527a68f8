// ring_lower: lowers planned rings without roles by transport.
//
//   tma                 one thread issues copies, on mbarriers   ring_tma.c
//   cp_async, stores    all threads copy                         ring_threads.c
//   fragments           each thread loads a step ahead           ring_fragments.c
//   registers           all threads load ahead, store later      ring_registers.c
//
// Those with roles are gone by then (warp_specialize.c), and those of TMA stores
// stay until these are copies (tma_store_wait.c).

#include "passes/analysis/ring_ahead.h"
#include "passes/lower/ring_fragments.h"
#include "passes/lower/ring_registers.h"
#include "passes/lower/ring_threads.h"
#include "passes/lower/ring_tma.h"

// Return whether a ring is of TMA stores.
static bool is_of_stores(const struct ir_ring *ring)
{
    return ir_ring_is(ring, RING_transport_tma_store);
}

// Return whether a ring has a loop for itself.
static bool is_alone(const struct ir_ring *ring)
{
    return ir_ring_is(ring, RING_transport_fragments) || is_of_stores(ring);
}

// Check that the rings of a loop are planned, that one that should be the only one
// is, and that they have slots enough; false after reporting.
static bool check(struct pass *p, struct ir_stmt *s)
{
    const char *fault = NULL;
    struct ring_aheads all = {0};
    struct ir_rings rings = s->u.loop.rings;
    for (size_t i = 0; i < rings.n && !fault; i++) {
        struct ring_ahead x = {.ring = ring_planned(p->scratch, s, i)};
        fault = x.ring.fault;
        if (!fault && rings.n > 1 && is_alone(rings.at[i]))
            fault = "a ring of fragments, or of TMA stores, shares its loop "
                    "with another ring";
        vec_push(p->scratch, &all, x);
    }
    if (!fault)
        fault = ring_ahead_find(p->scratch, s, &all);
    if (fault)
        diag_error(p->diags, s->span, D_pipeline_lost, s->u.loop.var->name,
                   fault);
    return !fault;
}

// Lower the rings of a loop in a block; false after an error.
static bool lower(struct pass *p, struct ir_block *block, struct ir_stmt *s)
{
    struct ir_block out = {0};
    if (!check(p, s))
        return false;
    for (size_t i = 0; i < s->u.loop.rings.n;) {
        const struct ir_ring *ring = s->u.loop.rings.at[i];
        if (ir_ring_is(ring, RING_transport_fragments))
            return ring_fragments_lower(p, block, s);
        if (ir_ring_is(ring, RING_transport_registers))
            ring_registers_lower(p, block, s, i);
        else if (!ir_ring_is(ring, RING_transport_tma))
            i++;
        else if (!ring_tma_lower(p, s, i))
            return false;
    }
    if (!s->u.loop.rings.n)
        return true;
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
        struct ir_rings rings = ir_rings_of(s);
        bool has_ring = rings.n > 1 || (rings.n && !is_of_stores(rings.at[0]));
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
