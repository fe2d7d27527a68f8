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

// Leave the loop the rings that its threads fill, with the slots of these in
// front of a body. Tell the pass `fragments` how many groups of WGMMAs it leaves
// in flight.
static void take_rings(struct specialized *r, const struct ir_block *body)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->loop->u.loop;
    int64_t lag = ir_ring_specialized(r->loop)->lag;
    struct ir_rings own = {0};
    struct ir_block all = {0};
    for (size_t i = 0; i < loop->rings.n; i++) {
        if (loop->rings.at[i]->roles.n)
            continue;
        vec_push(a, &own, loop->rings.at[i]);
        ir_append(a, &all, ir_ring_slot(loop, i));
    }
    ir_append_all(a, &all, body);
    loop->rings = own;
    loop->body = all;
    if (lag)
        ir_attr_set(a, r->loop, MARK_in_flight, lag);
}

// Return whether a statement is a fill of one of the rings.
static bool is_fill(const struct specialized *r, const struct ir_stmt *s)
{
    bool found = false;
    vec_foreach(x, &r->rings)
        found |= ring_has_fill(&x->ring, s);
    return found;
}

// Where the uses of an iteration read a ring.
struct reads {
    size_t first, last;
    bool is_read;
};

// Find the first statement that reads a ring, and behind which its slot is
// released: what fills another ring is moved to an earlier iteration, so it
// counts for neither if others read the ring. If none reads it, all count.
static struct reads find_reads(const struct specialized *r,
                               const struct ring *ring,
                               const struct ir_block *uses)
{
    struct reads found = {.first = uses->n, .last = uses->n - 1};
    for (size_t i = 0; i < uses->n; i++) {
        bool moves = specialize_fills(r, uses->at[i]);
        bool stays_before = found.first < uses->n;
        if (!ring_is_read(ring, uses->at[i]))
            continue;
        found.is_read = true;
        if (!moves || !stays_before)
            found.last = i;
        if (!moves && !stays_before)
            found.first = i;
    }
    if (!found.is_read)
        found.first = 0;
    return found;
}

// Return whether statement `i` of the uses of an iteration needs a wait for a
// ring's slot in front of it.
static bool waits_at(const struct specialized *r, const struct ring *ring,
                     const struct ir_block *uses, size_t i)
{
    struct reads found = find_reads(r, ring, uses);
    return found.first == i ||
           (found.is_read && specialize_fills(r, uses->at[i]) &&
            ring_is_read(ring, uses->at[i]));
}

// Append the wait for an iteration's slot. WGMMA reads shared memory through the
// async proxy: it sees what threads have copied behind a fence alone.
static void append_wait(struct specialized *r, const struct specialized_ring *x,
                        struct ir_expr *iteration, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_expr *n = ring_state_count(&x->state, iteration);
    mbarriers_append(a, out, OP_mbarrier_wait, x->full,
                     ring_state_slot(&x->state, n),
                     ring_state_parity(&x->state, n, 0), r->loop);
    if (specialize_has_copies(x) && tensor_has_wgmma(&r->loop->u.loop.body))
        ir_append(a, out,
                  ir_stmt_from(ir_stmt_sync(a, SYNC_fence_async), r->loop));
}

// Append statement `i` of the uses of an iteration, with the waits in front of
// it and the releases behind; as one statement, if it is to be moved.
static void append_use(struct specialized *r, const struct ir_block *uses,
                       size_t i, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_expr *k = ir_read(a, r->loop->u.loop.var);
    struct ir_block all = {0};
    vec_foreach(x, &r->rings)
        if (waits_at(r, &x->ring, uses, i))
            append_wait(r, x, k, &all);
    ir_append(a, &all, uses->at[i]);
    vec_foreach(x, &r->rings)
        if (find_reads(r, &x->ring, uses).last == i)
            append_release_of(r, x, k, &all);
    if (specialize_fills(r, uses->at[i])) {
        struct ir_stmt *s = ir_stmt_if(a, ir_bool(a, true));
        ir_enclose(a, &all, ir_stmt_from(s, uses->at[i]), &s->u.branch.then);
    }
    ir_append_all(a, out, &all);
}

// Return the body of the loop, with each iteration in its slots; what fills is
// left out.
static struct ir_block uses_of(struct specialized *r)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &r->loop->u.loop;
    struct ir_block uses = {0};
    struct map vars = {.arena = r->p->scratch};
    vec_foreach(x, &r->rings) {
        struct ir_expr *n = ring_state_count(&x->state, ir_read(a, loop->var));
        map_set(&vars, ir_ring_slot(loop, x->index)->u.let.var,
                ring_state_slot(&x->state, n));
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
    for (size_t i = 0; i < uses.n; i++)
        append_use(r, &uses, i, &body);
    vec_foreach(x, &r->rings) {
        if (uses.n)
            continue;
        append_wait(r, x, ir_read(a, r->loop->u.loop.var), &body);
        append_release_of(r, x, ir_read(a, r->loop->u.loop.var), &body);
    }
    insert_behind(r);
    take_rings(r, &body);
    specialize_take_turns(r, out);
}
