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
static void append_release(struct specialized *r,
                           const struct specialized_ring *x,
                           struct ir_expr *iteration, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_var *one;
    bool is_alone = r->cluster.blocks == 1;
    struct ir_expr *slot =
        ring_state_slot(&x->state, ring_state_count(&x->state, iteration));
    out = specialize_append_lanes(r, out, r->cluster.blocks, &one);
    mbarriers_append(
        a, out, is_alone ? OP_mbarrier_arrive : OP_mbarrier_arrive_at, x->empty,
        slot, is_alone ? NULL : ir_read(a, one), r->loop);
}

// Append the release of the slot that an iteration no longer needs: its own, or
// that of one before.
static void append_release_of(struct specialized *r,
                              const struct specialized_ring *x,
                              struct ir_expr *iteration, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_expr *late = ir_int(a, x->ring.of->lag);
    if (x->ring.of->lag) {
        struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_ge, iteration, late));
        ir_append(a, out, ir_stmt_from(s, r->loop));
        iteration = ir_sub(a, iteration, late);
        out = &s->u.branch.then;
    }
    append_release(r, x, iteration, out);
}

// Append the release of a ring's slots of the last iterations of a loop.
static void append_last(struct specialized *r, const struct specialized_ring *x,
                        struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->loop->u.loop;
    struct ir_expr *n = ir_for_extent(a, loop);
    struct ir_var *last = ir_var_new(a, str_name(r->p->names, "last"),
                                     loop->var->type, VAR_loop, r->loop->span);
    struct ir_expr *from = ir_binary(
        a, OP_max, ir_sub(a, n, ir_int(a, x->ring.of->lag)), ir_int(a, 0));
    struct ir_stmt *s =
        ir_stmt_for(a, last, from, n, ir_int(a, 1), AXIS_serial);
    ir_append(a, out, ir_stmt_from(s, r->loop));
    append_release(r, x, ir_read(a, last), &s->u.loop.body);
}

// Put what stands behind a run of the loop there.
static void insert_behind(struct specialized *r)
{
    struct arena *a = r->p->arena;
    struct ir_block *block = r->path.blocks[r->path.n - 1], behind = {0};
    int64_t lag = ir_ring_specialized(r->loop)->lag;
    if (lag && tensor_has_wgmma(&r->loop->u.loop.body))
        ir_append(a, &behind,
                  ir_stmt_from(ir_stmt_wait(a, SYNC_wgmma_wait, 0), r->loop));
    vec_foreach(x, &r->rings) {
        if (lag)
            append_last(r, x, &behind);
        if (x->state.before)
            ir_append(
                a, &behind,
                ring_state_next(&x->state, ir_for_extent(a, &r->loop->u.loop)));
    }
    ir_insert_all(a, block, ir_index(block, r->loop) + 1, &behind);
}

// Take the rings of the loop. Tell the pass `fragments` how many groups of
// WGMMAs it leaves in flight.
static void take_rings(struct specialized *r)
{
    int64_t lag = ir_ring_specialized(r->loop)->lag;
    if (lag)
        ir_attr_set(r->p->arena, r->loop, MARK_in_flight, lag);
    r->loop->u.loop.rings = (struct ir_rings){0};
}

// Return whether a statement is a fill of one of the rings.
static bool is_fill(const struct specialized *r, const struct ir_stmt *s)
{
    bool found = false;
    vec_foreach(x, &r->rings)
        found |= ring_has_fill(&x->ring, s);
    return found;
}

// Return where in a block the first statement stands that reads a ring; one
// behind the last. If there is none, the whole block counts.
static size_t first_read(const struct ring *ring, const struct ir_block *block)
{
    size_t i = 0;
    while (i < block->n && !ring_is_read(ring, block->at[i]))
        i++;
    return i < block->n ? i : 0;
}
static size_t last_read(const struct ring *ring, const struct ir_block *block)
{
    size_t i = block->n;
    while (i > 0 && !ring_is_read(ring, block->at[i - 1]))
        i--;
    return i > 0 ? i : block->n;
}

// Append the waits for the slots that are read from a place in the uses of an
// iteration on.
static void append_waits(struct specialized *r, const struct ir_block *uses,
                         size_t at, struct ir_block *out)
{
    struct ir_expr *k = ir_read(r->p->arena, r->loop->u.loop.var);
    vec_foreach(x, &r->rings) {
        struct ir_expr *n = ring_state_count(&x->state, k);
        if (first_read(&x->ring, uses) == at)
            mbarriers_append(r->p->arena, out, OP_mbarrier_wait, x->full,
                             ring_state_slot(&x->state, n),
                             ring_state_parity(&x->state, n, 0), r->loop);
    }
}

// Append the releases of the slots that are read for the last time in front of
// a place.
static void append_releases(struct specialized *r, const struct ir_block *uses,
                            size_t at, struct ir_block *out)
{
    struct ir_expr *k = ir_read(r->p->arena, r->loop->u.loop.var);
    vec_foreach(x, &r->rings)
        if (last_read(&x->ring, uses) == at)
            append_release_of(r, x, k, out);
}

// Return the body of the loop, with each iteration in its slots; what fills is
// left out.
static struct ir_block uses_of(struct specialized *r)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->loop->u.loop;
    struct ir_block uses = {0};
    struct map vars = {.arena = r->p->scratch};
    for (size_t i = 0; i < r->rings.n; i++) {
        const struct ring_state *state = &r->rings.at[i].state;
        struct ir_expr *n = ring_state_count(state, ir_read(a, loop->var));
        map_set(&vars, ir_ring_slot(loop, i)->u.let.var,
                ring_state_slot(state, n));
    }
    for (size_t i = ir_ring_slots(loop); i < loop->body.n; i++) {
        if (!is_fill(r, loop->body.at[i]))
            ir_append(a, &uses, loop->body.at[i]);
    }
    ir_substitute_in(a, &uses, &vars, NULL);
    return uses;
}

void specialize_consume(struct specialized *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_block body = {0};
    vec_foreach(x, &r->rings)
        specialize_start(r, x, specialize_first(r), out);
    struct ir_block uses = uses_of(r);
    for (size_t i = 0; i < uses.n; i++) {
        if (i)
            append_releases(r, &uses, i, &body);
        append_waits(r, &uses, i, &body);
        ir_append(a, &body, uses.at[i]);
    }
    if (!uses.n)
        append_waits(r, &uses, 0, &body);
    append_releases(r, &uses, uses.n, &body);
    r->loop->u.loop.body = body;
    insert_behind(r);
    take_rings(r);
    specialize_take_turns(r, out);
}
