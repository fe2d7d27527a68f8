// The producer role: it waits for a slot of each ring to be free and fills it, as
// far ahead as there are slots (warp_specialize.c).

#include "passes/lower/warp_specialize.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/lower/async_copies.h"
#include "passes/lower/mbarriers.h"
#include "passes/lower/tma_copies.h"

// Append loops over some warps of the warpgroup and some lanes of each, and
// return the innermost block.
static struct ir_block *append_group(struct specialized *r,
                                     struct ir_block *out, int64_t warps,
                                     int64_t lanes)
{
    struct ir_var *var;
    out = specialize_append_loop(r, out, warps == 1 ? "one" : "warp", warps,
                                 AXIS_warp, &var);
    return specialize_append_loop(r, out, lanes == 1 ? "one" : "lane", lanes,
                                  AXIS_lane, &var);
}

// Append the TMA tile copies of one iteration, all signalling its slot.
static bool append_tma(struct specialized *r, struct facts *facts,
                       const struct specialized_ring *x, struct ir_block *fills,
                       struct ir_expr *slot, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_block loads = {0};
    struct ir_expr *bytes = ir_int(a, 0);
    struct ir_place signal = {x->full, 1, arena_new(a, struct ir_expr *)};
    signal.index[0] = slot;
    for (size_t i = 0; i < fills->n; i++) {
        struct tma_tile tile = {0};
        if (copies_only(fills->at[i]))
            continue;
        const char *wrong =
            cluster_tiles(r->p, facts, &r->cluster, fills->at[i], &tile);
        if (wrong)
            return specialize_report(r, wrong);
        bytes = ir_add(a, bytes, tma_copies_bytes(a, &tile));
        tma_copies_append(r->p, &tile, &signal, &loads);
    }
    mbarriers_append(a, out, OP_mbarrier_expect, x->full, slot, bytes, r->loop);
    for (size_t i = 0; i < loads.n; i++)
        ir_append(a, out, ir_stmt_from(loads.at[i], r->loop));
    return true;
}

// Append the copies by all threads, each of which then arrives.
static void append_threads(struct specialized *r,
                           const struct specialized_ring *x,
                           struct ir_block *fills, struct ir_expr *slot,
                           struct ir_block *out)
{
    for (size_t i = 0; i < fills->n; i++) {
        if (!copies_only(fills->at[i]))
            continue;
        async_copies_start(r->p->arena, &r->p->kernel->body, fills->at[i]);
        ir_append(r->p->arena, out, fills->at[i]);
    }
    mbarriers_append(r->p->arena, out, OP_mbarrier_arrive_copied, x->full, slot,
                     NULL, r->loop);
}

// A producer: what it has in place of the consumers' variables, and knows.
struct producer {
    int64_t number;
    struct map vars;
    struct facts facts;
};

// Return whether a producer fills a ring.
static bool fills(const struct producer *of, const struct specialized_ring *x)
{
    return x->ring.of->producer == of->number;
}

// Return whether all threads of a producer copy to some ring.
static bool has_copies(struct specialized *r, const struct producer *of)
{
    bool found = false;
    vec_foreach(x, &r->rings)
        found |= fills(of, x) && specialize_has_copies(x);
    return found;
}

// Return the number of the iteration that is being filled, for a ring.
static struct ir_expr *number_of(struct specialized *r,
                                 const struct producer *of,
                                 const struct specialized_ring *x)
{
    struct arena *a = r->p->arena;
    struct ir_expr *k =
        ir_substitute(a, ir_read(a, r->loop->u.loop.var), &of->vars, NULL);
    return ring_state_count(&x->state, k);
}

// Append the copies of one iteration to a ring: below one thread, or where all
// of them copy.
static bool append_copies(struct specialized *r, struct producer *of,
                          const struct specialized_ring *x,
                          struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_block fills = {0};
    struct ir_expr *n = number_of(r, of, x);
    struct ir_expr *slot = ring_state_slot(&x->state, n);
    for (size_t k = 0; k < x->ring.fills.n; k++)
        ir_append(a, &fills, x->ring.fills.at[k]);
    map_set(&of->vars, ir_ring_slot(&r->loop->u.loop, x->index)->u.let.var,
            slot);
    fills = ir_copy_block(a, &fills, &of->vars, NULL);
    mbarriers_append(a, out, OP_mbarrier_wait, x->empty, slot,
                     ring_state_parity(&x->state, n, 1), r->loop);
    bool has_tma = ir_ring_is(x->ring.of, RING_arrive_bytes);
    struct ir_block *one = out;
    if (has_tma && has_copies(r, of))
        one = append_group(r, out, 1, 1);
    if (has_tma && !append_tma(r, &of->facts, x, &fills, slot, one))
        return false;
    if (specialize_has_copies(x))
        append_threads(r, x, &fills, slot, out);
    return true;
}

// Append a name that is declared around the loop.
static void append_name(struct specialized *r, struct producer *of,
                        const struct ir_stmt *let, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    const struct ir_var *old = let->u.let.var;
    struct ir_var *var =
        ir_var_new(a, old->name, old->type, VAR_let, old->span);
    struct ir_stmt *s = ir_stmt_let(
        a, var, ir_substitute(a, let->u.let.value, &of->vars, NULL));
    map_set(&of->vars, old, ir_read(a, var));
    ir_append(a, out, ir_stmt_from(s, let));
    facts_enter(&of->facts, s);
}

// Return whether an expression mentions a loop over the consumers' threads, or a name
// that does, above a level of the path: what a producer has no value for.
static bool is_of_threads(const struct specialized *r, uint32_t level,
                          const struct ir_expr *x)
{
    for (uint32_t i = r->at + 1; i <= level; i++) {
        const struct ir_block *block = r->path.blocks[i];
        const struct ir_stmt *loop = r->path.stmts[i];
        for (size_t k = 0; block->at[k] != loop; k++)
            if (block->at[k]->kind == STMT_let &&
                ir_mentions(x, block->at[k]->u.let.var) &&
                is_of_threads(r, i, block->at[k]->u.let.value))
                return true;
        if (i < level && specialize_is_thread(r, i) &&
            ir_mentions(x, loop->u.loop.var))
            return true;
    }
    return false;
}

// Append the names in front of a loop of the path that are not of the consumers'
// threads, and one like it unless it is over threads; returns the block inside.
static struct ir_block *append_like(struct specialized *r, struct producer *of,
                                    uint32_t at, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    const struct ir_block *block = r->path.blocks[at];
    const struct ir_for *l = &r->path.stmts[at]->u.loop;
    for (size_t i = 0; block->at[i] != r->path.stmts[at]; i++) {
        if (block->at[i]->kind == STMT_let &&
            !is_of_threads(r, at, block->at[i]->u.let.value))
            append_name(r, of, block->at[i], out);
    }
    if (specialize_is_thread(r, at))
        return out;
    struct ir_var *var =
        ir_var_new(a, l->var->name, l->var->type, VAR_loop, l->var->span);
    struct ir_stmt *s =
        ir_stmt_for(a, var, ir_substitute(a, l->from, &of->vars, NULL),
                    ir_substitute(a, l->to, &of->vars, NULL),
                    ir_substitute(a, l->step, &of->vars, NULL), AXIS_serial);
    map_set(&of->vars, l->var, ir_read(a, var));
    ir_append(a, out, ir_stmt_from(s, r->path.stmts[at]));
    facts_enter(&of->facts, s);
    return &s->u.loop.body;
}

// Append to the body of the loop around what counts the iterations of a run.
static void append_next(struct specialized *r, const struct producer *of,
                        struct ir_block *around)
{
    struct arena *a = r->p->arena;
    struct ir_expr *n = ir_for_extent(a, &r->loop->u.loop);
    vec_foreach(x, &r->rings) {
        if (fills(of, x) && x->state.before)
            ir_append(a, around,
                      ring_state_next(&x->state,
                                      ir_substitute(a, n, &of->vars, NULL)));
    }
}

bool specialize_produce(struct specialized *r, int64_t producer,
                        struct ir_block *out)
{
    struct producer of = {.number = producer, .vars = {.arena = r->p->scratch}};
    struct ir_block *around = NULL;
    bool ok = true;
    facts_start(&of.facts, r->p->scratch, r->p->kernel);
    facts_enter_path(&of.facts, &r->path, r->at);
    out = has_copies(r, &of) ? append_group(r, out, GROUP_WARPS, WARP_LANES)
                             : append_group(r, out, 1, 1);
    vec_foreach(x, &r->rings)
        if (fills(&of, x))
            specialize_start(r, x, NULL, out);
    for (uint32_t i = r->at + 1; i < r->path.n; i++) {
        around = out;
        out = append_like(r, &of, i, out);
    }
    append_next(r, &of, around);
    vec_foreach(x, &r->rings)
        ok = ok && (!fills(&of, x) || append_copies(r, &of, x, out));
    return ok;
}
