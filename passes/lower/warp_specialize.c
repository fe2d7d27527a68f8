// warp_specialize: warp-specializes loops whose rings have roles: a producer
// warpgroup fills them, consumer warpgroups wait on mbarriers.
//
//   for w in 0..2 @warpgroup {              alloc S: f16[4, 64, 64] in shared ordered
//     first                                 alloc full, empty: u64[4] in shared ordered
//     for k in 0..n @ring(slots 4,          for s in 0..4 { init both }
//                         fill 40,          barrier
//                         use 232) {        for w in 0..3 @warpgroup {
//       S = A[.., k ..]    @via(tma)          if w < 2 {
//       use S                                   registers_up(232)
//     }                                =>       first
//     last                                      for k in 0..n {
//   }                                             mbarrier_wait(full[k % 4], k / 4 % 2)
//                                                 use S[k % 4]
//                                                 mbarrier_arrive(empty[k % 4])
//                                               }
//                                               last
//                                             } else {
//                                               registers_down(40)
//                                               one thread: for k in 0..n {
//                                                 mbarrier_wait(empty[k % 4], (k / 4 + 1) % 2)
//                                                 mbarrier_expect(full[k % 4], bytes)
//                                                 tma_load S[k % 4] = ... signals full[k % 4]
//                                               } } }
//
// Copies by cp.async are made by all threads of the producer warpgroup, and
// each thread arrives: mbarrier_arrive_copied(full[k % 4]).
//
// A loop may have several rings, each with mbarriers of its own: a consumer
// waits for a slot in front of the first statement that reads it, and releases
// it behind the last one. One producer warpgroup fills them all, or each is the
// ring of one of several. Rings that consumers fill themselves, from what these
// hold, stay for ring_lower, which moves such a statement ahead: with the waits
// and the releases that are its own.
//
// Blocks of a cluster multicast TMA tiles that several of them need
// (cluster.c). A slot is free once the warps of all these blocks have released
// it, each by one lane for each block, and the barriers are those of the
// cluster. The last one keeps a block from ending while others access its
// shared memory. Where each block has tiles of its own, it is as if alone.
//
// If WGMMAs may stay in flight, the ring's `lag`, a slot is released so many
// iterations late, and the last slots behind the loop
// (warp_specialize_consumer.c).
//
// Roles that ask for fewer registers than a thread begins with give some up
// (setmaxnreg). With a single consumer warpgroup, both roles do.
//
// A wait for the phase before the first ends at once, so the ring begins empty.
// If there are loops between the warpgroups and that loop, such as over
// the tiles of a block, the ring state continues from one run of it to the next
// (ring_state.h): the producer may be tiles ahead.
//
// If the consumers take tiles in ping-pong order, each uses its own slots and
// its own arrays (warp_specialize_pingpong.c).
//
// Barriers within a warpgroup that shares other arrays are derived later
// (barrier_insertion.c).

#include "passes/lower/warp_specialize.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/analysis/pingpong.h"
#include "passes/analysis/role_registers.h"
#include "passes/lower/mbarriers.h"

bool specialize_report(struct specialized *r, const char *why)
{
    diag_error(r->p->diags, r->loop->span, D_role_shape,
               r->loop->u.loop.var->name, why);
    return false;
}

// Return a number of type `int`.
static struct ir_expr *number(struct specialized *r, int64_t n)
{
    return ir_int(r->p->arena, n);
}

bool specialize_is_thread(const struct specialized *r, uint32_t i)
{
    const struct ir_stmt *s = r->path.stmts[i];
    return i > r->at && s->kind == STMT_for &&
           axis_kind(s->u.loop.axis) == AXIS_THREAD;
}

// Return whether serial loops stand between the warpgroups and the loop.
static bool is_repeated(const struct specialized *r)
{
    bool found = false;
    for (uint32_t i = r->at + 1; i + 1 < r->path.n; i++)
        found |= !specialize_is_thread(r, i);
    return found;
}

void specialize_start(struct specialized *r, struct specialized_ring *x,
                      struct ir_expr *first, struct ir_block *out)
{
    x->state = (struct ring_state){
        .p = r->p, .loop = r->loop, .slots = x->ring.of->slots};
    if (is_repeated(r))
        ring_state_declare(&x->state, "turn", first, out);
}

bool specialize_fills(const struct specialized *r, const struct ir_stmt *s)
{
    vec_foreach(own, &r->own)
        if (ring_has_fill(own, s))
            return true;
    return false;
}

bool specialize_has_copies(const struct specialized_ring *x)
{
    return ir_ring_is(x->ring.of, RING_arrive_threads);
}

struct ir_block *specialize_append_loop(struct specialized *r,
                                        struct ir_block *out, const char *name,
                                        int64_t n, enum axis axis,
                                        struct ir_var **var)
{
    struct arena *a = r->p->arena;
    *var = ir_var_new(a, str_name(r->p->names, name), type_scalar(TYPE_int),
                      VAR_loop, r->loop->span);
    struct ir_stmt *s =
        ir_stmt_for(a, *var, number(r, 0), number(r, n), number(r, 1), axis);
    ir_append(a, out, ir_stmt_from(s, r->loop));
    return &s->u.loop.body;
}

struct ir_buffer *specialize_declare(struct specialized *r, const char *name,
                                     int64_t n, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_buffer *b = mbarriers_new(r->p, name, n, r->loop->span);
    b->is_ordered = true;
    ir_append(a, out, ir_stmt_from(ir_stmt_alloc(a, b), r->loop));
    return b;
}

// Append a barrier of all threads that reach the mbarriers.
static void append_barrier(struct specialized *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_stmt *barrier =
        r->cluster.blocks > 1 ? ir_stmt_cluster_barrier(a) : ir_stmt_barrier(a);
    ir_append(a, out, ir_stmt_from(barrier, r->loop));
}

// Append the mbarriers of a ring, ready for use. From here on these alone order
// the accesses to its arrays.
static void append_mbarriers(struct specialized *r, struct specialized_ring *x,
                             struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_var *s;
    int64_t slots = x->ring.of->slots, users = r->tiles ? 1 : r->consumers;
    int64_t fills = ir_ring_is(x->ring.of, RING_arrive_bytes) +
                    specialize_has_copies(x) * GROUP_WARPS * WARP_LANES;
    for (size_t i = 0; i < x->ring.arrays.n; i++)
        x->ring.arrays.at[i]->is_ordered = true;
    x->full = specialize_declare(r, "full", slots, out);
    x->empty = specialize_declare(r, "empty", slots, out);
    struct ir_block *body =
        specialize_append_loop(r, out, "slot", slots, AXIS_unroll, &s);
    mbarriers_append(a, body, OP_mbarrier_init, x->full, ir_read(a, s),
                     number(r, fills), r->loop);
    mbarriers_append(a, body, OP_mbarrier_init, x->empty, ir_read(a, s),
                     number(r, users * GROUP_WARPS * r->cluster.blocks),
                     r->loop);
}

// Append what stands in front of the warpgroups, behind the arrays: mbarriers
// that are ready for use.
static void append_front(struct specialized *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    vec_foreach(x, &r->rings)
        append_mbarriers(r, x, out);
    specialize_append_order(r, out);
    ir_append(a, out,
              ir_stmt_from(ir_stmt_sync(a, SYNC_fence_mbarrier_init), r->loop));
    append_barrier(r, out);
}

// Check that the block begins with the registers that its roles ask for.
static bool check_registers(struct specialized *r)
{
    struct role_registers all = {r->registers[0], r->registers[1], r->producers,
                                 r->consumers};
    return role_registers_fit(r->p->kernel, &all) ||
           role_registers_refuse(r->p->diags, r->loop->span, r->p->kernel,
                                 &all);
}

// Append a change of the registers that threads have to `n`; 0 leaves them.
static void append_registers(struct specialized *r, struct ir_block *out,
                             int64_t n)
{
    int64_t start =
        role_registers_at_start(r->p->kernel, r->producers + r->consumers);
    enum sync_kind kind = n < start ? SYNC_registers_down : SYNC_registers_up;
    if (n)
        ir_append(r->p->arena, out,
                  ir_stmt_from(ir_stmt_wait(r->p->arena, kind, (uint32_t)n),
                               r->loop));
}

// Check that the blocks of a cluster run the loops below that over warpgroups
// equally often.
static bool check_extents(struct specialized *r)
{
    for (uint32_t i = r->at + 1; i < r->path.n; i++) {
        struct ir_expr *extent =
            ir_for_extent(r->p->scratch, &r->path.stmts[i]->u.loop);
        if (cluster_differs(&r->cluster, extent))
            return specialize_report(
                r, "the blocks of a cluster would run it, or a loop "
                   "around it, differently often");
    }
    return true;
}

// Return whether a fill reads what the warpgroups write.
static bool reads_written(const struct specialized *r, struct ir_stmt *fill)
{
    ir_foreach_expr_in(x, ir_alone(fill))
        if (x->op == OP_load &&
            ir_block_writes(&r->group->u.loop.body, x->u.buffer))
            return true;
    return false;
}

// Check what fills a ring: no fill may depend on the threads of the warpgroup
// that use what it fills, or read what warpgroups write.
static bool check_fills(struct specialized *r, const struct ring *ring)
{
    for (size_t i = 0; i < ring->fills.n; i++) {
        struct ir_stmt *fill = ring->fills.at[i];
        if (reads_written(r, fill))
            return specialize_report(r,
                                     "a copy reads what its warpgroups write");
        for (uint32_t k = r->at; k < r->path.n; k++) {
            if ((k == r->at || specialize_is_thread(r, k)) &&
                ir_stmt_mentions(fill, r->path.stmts[k]->u.loop.var))
                return specialize_report(
                    r, "a copy depends on the threads that use it");
        }
    }
    return true;
}

// Note a planned ring of the loop.
static void note_ring(struct specialized *r, const struct ring *ring, size_t i)
{
    struct specialized_ring x = {.ring = *ring, .index = i};
    if (!ring->of->roles.n) {
        vec_push(r->p->scratch, &r->own, *ring);
        return;
    }
    if (r->producers <= ring->of->producer)
        r->producers = ring->of->producer + 1;
    vec_push(r->p->scratch, &r->rings, x);
}

// Return whether a ring is filled from another one.
static bool is_filled_from(const struct ring *ring, const struct ring *from)
{
    vec_foreach_value(fill, &ring->fills)
        if (ring_is_read(from, fill))
            return true;
    return false;
}

// Return whether consumers fill several rings from one that nothing else reads:
// it is not said which of these is the last to release its slot.
static bool has_rivals(const struct specialized *r, const struct ring *ring)
{
    size_t rings = 0;
    vec_foreach(own, &r->own)
        rings += is_filled_from(own, ring);
    vec_foreach_value(s, &r->loop->u.loop.body)
        if (ring_is_read(ring, s) && !specialize_fills(r, s))
            return false;
    return rings > 1;
}

// Find the rings of the loop, and check them.
static bool find_rings(struct specialized *r)
{
    for (size_t i = 0; i < r->loop->u.loop.rings.n; i++) {
        struct ring ring = ring_planned(r->p->scratch, r->loop, i);
        if (ring.fault)
            return specialize_report(r, ring.fault);
        note_ring(r, &ring, i);
    }
    vec_foreach(x, &r->rings)
        if (has_rivals(r, &x->ring))
            return specialize_report(
                r, "several rings are filled from one that nothing else reads");
    return true;
}

// Check the fills of all rings.
static bool check_all_fills(struct specialized *r)
{
    bool ok = true;
    vec_foreach(x, &r->rings)
        ok = ok && check_fills(r, &x->ring);
    return ok;
}

// Find the blocks of the cluster that share TMA tiles: where each block has its
// own, it is as if it were alone.
static bool find_cluster(struct specialized *r)
{
    const char *wrong = cluster_find(&r->cluster, &r->path);
    bool shares = false;
    vec_foreach(x, &r->rings)
        vec_foreach_value(fill, &x->ring.fills)
            shares |= cluster_shares(&r->cluster, fill);
    if (!shares)
        r->cluster = (struct cluster){.blocks = 1};
    return !shares || !wrong || specialize_report(r, wrong);
}

// Check that only serial loops and those over its threads stand between a
// warpgroup and the loop, and only loops over blocks around the warpgroups.
static bool check(struct specialized *r)
{
    for (uint32_t i = 0; i < r->path.n; i++) {
        const struct ir_stmt *s = r->path.stmts[i];
        if (s->kind != STMT_for)
            return specialize_report(r, "a branch is around it");
        enum axis_kind kind = axis_kind(s->u.loop.axis);
        if (i == r->at || specialize_is_thread(r, i))
            continue;
        if (i < r->at ? kind != AXIS_BLOCK : kind != AXIS_SERIAL)
            return specialize_report(
                r, "something else than blocks is around its "
                   "warpgroups, or than serial loops between them "
                   "and it");
    }
    const struct ir_ring *ring = ir_ring_specialized(r->loop);
    r->registers[0] = ir_ring_role(ring, RING_fill)->registers;
    r->registers[1] = ir_ring_role(ring, RING_use)->registers;
    return find_rings(r) && find_cluster(r) && specialize_check_pingpong(r) &&
           check_registers(r) && check_all_fills(r) && check_extents(r);
}

// Keep blocks of a cluster from ending while others may still reach their
// shared memory, behind the warpgroups at `at`.
static void append_end(struct specialized *r, struct ir_block *block, size_t at)
{
    struct ir_block end = {0};
    if (r->cluster.blocks == 1)
        return;
    append_barrier(r, &end);
    ir_insert(r->p->arena, block, at + 1, end.at[0]);
}

// Append what producers do from number `first` on: a branch for each, but for the
// last.
static bool append_producers(struct specialized *r, int64_t first,
                             struct ir_block *out)
{
    struct arena *a = r->p->arena;
    if (first + 1 < r->producers) {
        struct ir_expr *group = ir_read(a, r->group->u.loop.var);
        struct ir_stmt *s = ir_stmt_if(
            a, ir_binary(a, OP_lt, group, number(r, r->consumers + first + 1)));
        ir_append(a, out, ir_stmt_from(s, r->group));
        if (!append_producers(r, first + 1, &s->u.branch.otherwise))
            return false;
        out = &s->u.branch.then;
    }
    append_registers(r, out, r->registers[0]);
    return specialize_produce(r, first, out);
}

// Part the loop.
static bool part(struct specialized *r)
{
    struct arena *a = r->p->arena;
    struct ir_for *group = &r->group->u.loop;
    struct ir_block *block = r->path.blocks[r->at], front = {0};
    struct ir_block consumer = {0}, producers = {0};
    struct ir_expr *consumers = number(r, r->consumers);
    append_front(r, &front);
    append_registers(r, &consumer, r->registers[1]);
    if (r->registers[1] && !r->p->kernel->min_blocks)
        r->p->kernel->min_blocks = 1;
    if (!append_producers(r, 0, &producers))
        return false;
    specialize_consume(r, &consumer);
    ir_append_all(a, &consumer, &group->body);
    struct ir_stmt *branch =
        ir_stmt_if(a, ir_binary(a, OP_lt, ir_read(a, group->var), consumers));
    branch->u.branch.then = consumer;
    branch->u.branch.otherwise = producers;
    group->body = (struct ir_block){0};
    group->to = number(r, r->consumers + r->producers);
    ir_append(a, &group->body, ir_stmt_from(branch, r->group));
    size_t at = ir_index(block, r->group);
    ir_insert_all(a, block, at, &front);
    append_end(r, block, at + front.n);
    return true;
}

// Find the loop over warpgroups around the marked one.
static bool find_group(struct specialized *r)
{
    ir_find(r->p->scratch, &r->p->kernel->body, r->loop, &r->path);
    for (uint32_t i = 0; i < r->path.n; i++) {
        struct ir_stmt *s = r->path.stmts[i];
        if (s->kind == STMT_for && s->u.loop.axis == AXIS_warpgroup &&
            ir_int_value(s->u.loop.to, &r->consumers)) {
            r->group = s;
            r->at = i;
        }
    }
    return r->group ||
           specialize_report(r,
                             "it does not stand in a loop bound to warpgroups");
}

enum pass_result pass_warp_specialize(struct pass *p)
{
    struct VEC(struct ir_stmt *) loops = {0};
    int errors = p->diags->errors;
    ir_foreach_stmt(s, &p->kernel->body)
        if (ir_ring_specialized(s))
            vec_push(p->scratch, &loops, s);
    for (size_t i = 0; i < loops.n; i++) {
        struct specialized r = {.p = p, .loop = loops.at[i]};
        if (!find_group(&r) || !check(&r) || !part(&r))
            return PASS_FAILED;
    }
    ir_foreach_stmt(s, &p->kernel->body)
        if (ir_attr_get(s, MARK_pingpong))
            diag_error(p->diags, s->span, D_pingpong_shape, s->u.loop.var->name,
                       PINGPONG_NO_ROLES);
    if (p->diags->errors > errors)
        return PASS_FAILED;
    return loops.n ? PASS_CHANGED : PASS_SAME;
}
