// The consumer role: it waits for a slot to be full, uses it, and releases it
// (warp_specialize.c).
//
//   for k in 0..n @ring(.., lag 1) {       for k in 0..n @in_flight(1) {
//     use S                                  mbarrier_wait(full[k % 4], k / 4 % 2)
//   }                                        use S[k % 4]
//                                     =>     if k >= 1 { mbarrier_arrive(empty[(k - 1) % 4]) }
//                                          }
//                                          wgmma_wait(0)
//                                          for k in max(n - 1, 0)..n {
//                                            mbarrier_arrive(empty[k % 4])
//                                          }
//
// The mark is for the pass `fragments`, which leaves as many groups of WGMMAs in
// flight in the loop (fragment_order.c).

#include "passes/lower/warp_specialize.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/marks.h"
#include "ir/matrix.h"
#include "ir/walk.h"
#include "passes/analysis/tensor.h"
#include "passes/lower/mbarriers.h"

// Return whether lanes go through the loop by themselves.
static bool is_by_lanes(const struct specialized *r)
{
    bool found = false;
    for (uint32_t i = r->at + 1; i < r->path.n; i++)
        found |= specialize_is_thread(r, i) &&
                 r->path.stmts[i]->u.loop.axis == AXIS_lane;
    return found;
}

struct ir_block *specialize_append_lanes(struct specialized *r,
                                         struct ir_block *out, int64_t n,
                                         struct ir_var **var)
{
    struct arena *a = r->p->arena;
    if (is_by_lanes(r))
        ir_append(a, out, ir_stmt_from(ir_stmt_sync(a, SYNC_warp), r->loop));
    return specialize_append_loop(r, out, "one", n, AXIS_lane, var);
}

// Append what hands a slot back: each warp once it has read it, to the blocks
// of the cluster that fill it.
static void append_release(struct specialized *r, struct ir_block *out,
                           struct ir_expr *slot)
{
    struct arena *a = r->p->arena;
    struct ir_var *one;
    bool is_alone = r->cluster.blocks == 1;
    out = specialize_append_lanes(r, out, r->cluster.blocks, &one);
    mbarriers_append(
        a, out, is_alone ? OP_mbarrier_arrive : OP_mbarrier_arrive_at, r->empty,
        slot, is_alone ? NULL : ir_read(a, one), r->loop);
}

// Append the release of the slot that an iteration no longer needs: its own, or
// that of one before.
static void append_release_of(struct specialized *r,
                              const struct ring_state *state,
                              struct ir_expr *iteration, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_expr *late = ir_int(a, r->in_flight);
    if (r->in_flight) {
        struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_ge, iteration, late));
        ir_append(a, out, ir_stmt_from(s, r->loop));
        iteration = ir_sub(a, iteration, late);
        out = &s->u.branch.then;
    }
    append_release(r, out,
                   ring_state_slot(state, ring_state_count(state, iteration)));
}

// Return whether nests of a block become WGMMAs.
static bool has_wgmma(const struct ir_block *block)
{
    struct ir_matrix op;
    ir_foreach_stmt(s, block)
        if (tensor_marked(s, &op) && matrix_info(op).kind == MATRIX_WGMMA)
            return true;
    return false;
}

// Append the release of the slots of the last iterations of a loop.
static void append_last(struct specialized *r, const struct ring_state *state,
                        struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->loop->u.loop;
    struct ir_expr *n = ir_for_extent(a, loop);
    struct ir_var *last = ir_var_new(a, str_name(r->p->names, "last"),
                                     loop->var->type, VAR_loop, r->loop->span);
    struct ir_expr *from = ir_binary(
        a, OP_max, ir_sub(a, n, ir_int(a, r->in_flight)), ir_int(a, 0));
    struct ir_stmt *s =
        ir_stmt_for(a, last, from, n, ir_int(a, 1), AXIS_serial);
    if (has_wgmma(&loop->body))
        ir_append(a, out,
                  ir_stmt_from(ir_stmt_wait(a, SYNC_wgmma_wait, 0), r->loop));
    ir_append(a, out, ir_stmt_from(s, r->loop));
    append_release(
        r, &s->u.loop.body,
        ring_state_slot(state, ring_state_count(state, ir_read(a, last))));
}

// Put what stands behind a run of the loop there.
static void insert_behind(struct specialized *r, const struct ring_state *state)
{
    struct ir_block *block = r->path.blocks[r->path.n - 1], behind = {0};
    struct ir_expr *n = ir_for_extent(r->p->arena, &r->loop->u.loop);
    if (r->in_flight)
        append_last(r, state, &behind);
    if (state->before)
        ir_append(r->p->arena, &behind, ring_state_next(state, n));
    size_t at = ir_index(block, r->loop);
    for (size_t i = 0; i < behind.n; i++)
        ir_insert(r->p->arena, block, at + 1 + i, behind.at[i]);
}

// Tell the pass `fragments` how many groups of WGMMAs the loop leaves in flight.
static void mark_flight(struct specialized *r)
{
    if (r->in_flight)
        ir_attr_set(r->p->arena, r->loop, MARK_in_flight, r->in_flight);
    r->loop->u.loop.ring = NULL;
}

void specialize_consume(struct specialized *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->loop->u.loop;
    struct ring_state state = specialize_state(r, specialize_first(r), out);
    struct ir_block body = {0}, rest = {0};
    struct ir_expr *k = ir_read(a, loop->var), *n = ring_state_count(&state, k);
    struct ir_expr *slot = ring_state_slot(&state, n);
    struct map vars = {.arena = r->p->scratch};
    mbarriers_append(a, &body, OP_mbarrier_wait, r->full, slot,
                     ring_state_parity(&state, n, 0), r->loop);
    for (size_t i = 1; i < loop->body.n; i++) {
        if (!ring_has_fill(&r->ring, loop->body.at[i]))
            ir_append(a, &rest, loop->body.at[i]);
    }
    map_set(&vars, loop->body.at[0]->u.let.var, slot);
    ir_substitute_in(a, &rest, &vars, NULL);
    ir_append_all(a, &body, &rest);
    append_release_of(r, &state, k, &body);
    loop->body = body;
    mark_flight(r);
    insert_behind(r, &state);
    specialize_take_turns(r, &state, out);
}
