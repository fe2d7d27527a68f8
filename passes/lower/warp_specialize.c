// warp_specialize: warp-specializes loops whose ring has roles: a producer
// warpgroup fills a ring, consumer warpgroups wait on mbarriers.
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
// Blocks of a cluster multicast TMA tiles that several of them need
// (cluster.c). A slot is free once the warps of all these blocks have released
// it, each by one lane for each block, and the barriers are those of the
// cluster. The last one keeps a block from ending while others access its
// shared memory.
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
#include "ir/layout.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/analysis/pingpong.h"
#include "passes/analysis/role_registers.h"
#include "passes/lower/mbarriers.h"

#include <string.h>

bool roles_report(struct roles *r, const char *why)
{
    diag_error(r->p->diags, r->loop->span, D_role_shape,
               r->loop->u.loop.var->name, why);
    return false;
}

// Return a number of type `int`.
static struct ir_expr *number(struct roles *r, int64_t n)
{
    return ir_int(r->p->arena, n);
}

bool roles_is_thread(const struct roles *r, uint32_t i)
{
    const struct ir_stmt *s = r->path.stmts[i];
    return i > r->at && s->kind == STMT_for &&
           axis_kind(s->u.loop.axis) == AXIS_THREAD;
}

// Return whether serial loops stand between the warpgroups and the loop.
static bool is_repeated(const struct roles *r)
{
    bool found = false;
    for (uint32_t i = r->at + 1; i + 1 < r->path.n; i++)
        found |= !roles_is_thread(r, i);
    return found;
}

struct turns roles_turns(struct roles *r, struct ir_expr *first,
                         struct ir_block *out)
{
    struct turns t = {.p = r->p, .loop = r->loop, .slots = r->slots};
    if (is_repeated(r))
        ring_state_declare(&t, "turn", first, out);
    return t;
}

struct ir_block *roles_append_loop(struct roles *r, struct ir_block *out,
                                   const char *name, int64_t n, enum axis axis,
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

struct ir_buffer *roles_declare(struct roles *r, const char *name, int64_t n,
                                struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_buffer *b = mbarriers_new(r->p, name, n, r->loop->span);
    b->is_ordered = true;
    ir_append(a, out, ir_stmt_from(ir_stmt_alloc(a, b), r->loop));
    return b;
}

// Remove a statement from the blocks of the path, if it is there.
static void take_alloc(struct roles *r, const struct ir_buffer *b)
{
    for (uint32_t i = 0; i <= r->path.n; i++) {
        struct ir_block *block =
            i < r->path.n ? r->path.blocks[i] : &r->loop->u.loop.body;
        for (size_t k = 0; k < block->n; k++) {
            struct ir_stmt *s = block->at[k];
            if (s->kind != STMT_alloc || s->u.buffer != b)
                continue;
            memmove(&block->at[k], &block->at[k + 1],
                    (block->n - k - 1) * sizeof *block->at);
            block->n--;
            return;
        }
    }
}

// Append a barrier of all threads that reach the mbarriers.
static void append_barrier(struct roles *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_stmt *barrier =
        r->cluster.blocks > 1 ? ir_stmt_cluster_barrier(a) : ir_stmt_barrier(a);
    ir_append(a, out, ir_stmt_from(barrier, r->loop));
}

// Append what stands in front of the warpgroups: the arrays, and mbarriers
// that are ready for use.
static void append_front(struct roles *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_var *s;
    int64_t users = r->tiles ? 1 : r->consumers;
    for (size_t i = 0; i < r->ring.arrays.n; i++) {
        struct ir_buffer *b = r->ring.arrays.at[i];
        take_alloc(r, b);
        layout_stack(a, b, number(r, r->slots));
        b->is_ordered = true;
        ir_append(a, out, ir_stmt_from(ir_stmt_alloc(a, b), r->loop));
    }
    r->full = roles_declare(r, "full", r->slots, out);
    r->empty = roles_declare(r, "empty", r->slots, out);
    struct ir_block *body =
        roles_append_loop(r, out, "slot", r->slots, AXIS_unroll, &s);
    mbarriers_append(
        a, body, OP_mbarrier_init, r->full, ir_read(a, s),
        number(r, r->has_boxes + r->has_copies * GROUP_WARPS * WARP_LANES),
        r->loop);
    mbarriers_append(a, body, OP_mbarrier_init, r->empty, ir_read(a, s),
                     number(r, users * GROUP_WARPS * r->cluster.blocks),
                     r->loop);
    roles_append_order(r, out);
    ir_append(a, out,
              ir_stmt_from(ir_stmt_sync(a, SYNC_fence_mbarrier_init), r->loop));
    append_barrier(r, out);
}

// Check that the block begins with the registers that its roles ask for.
static bool check_registers(struct roles *r)
{
    struct role_registers all = {r->registers[0], r->registers[1],
                                 r->consumers};
    return role_registers_fit(r->p->kernel, &all) ||
           role_registers_refuse(r->p->diags, r->loop->span, r->p->kernel,
                                 &all);
}

// Append a change of the registers that threads have to `n`; 0 leaves them.
static void append_registers(struct roles *r, struct ir_block *out, int64_t n)
{
    int64_t start = role_registers_at_start(r->p->kernel, r->consumers);
    enum sync_kind kind = n < start ? SYNC_registers_down : SYNC_registers_up;
    if (n)
        ir_append(r->p->arena, out,
                  ir_stmt_from(ir_stmt_wait(r->p->arena, kind, (uint32_t)n),
                               r->loop));
}

// Check that the blocks of a cluster run the loops below that over warpgroups
// equally often.
static bool check_extents(struct roles *r)
{
    for (uint32_t i = r->at + 1; i < r->path.n; i++) {
        struct ir_expr *extent =
            ir_for_extent(r->p->scratch, &r->path.stmts[i]->u.loop);
        if (cluster_differs(&r->cluster, extent))
            return roles_report(
                r, "the blocks of a cluster would run it, or a loop "
                   "around it, differently often");
    }
    return true;
}

// What a fill reads: the context of see_written.
struct fill_source {
    struct ir_block *group; // what the warpgroups do
    bool is_written;        // there
};

// Note whether warpgroups write what an expression loads.
static void see_written(struct ir_expr *x, void *context)
{
    struct fill_source *s = context;
    s->is_written |= x->op == OP_load && ir_block_writes(s->group, x->u.buffer);
}

// Note by whom the fills are made.  None may depend on the threads of the
// warpgroup that use what it fills, or read what warpgroups write.
static bool check_fills(struct roles *r)
{
    for (size_t i = 0; i < r->ring.fills.n; i++) {
        struct ir_block one = {.at = &r->ring.fills.at[i], .n = 1};
        bool by_threads = copies_only(one.at[0]);
        r->has_copies |= by_threads;
        r->has_boxes |= !by_threads;
        struct fill_source source = {&r->group->u.loop.body, false};
        ir_each_expr_in(&one, see_written, &source);
        if (source.is_written)
            return roles_report(r, "a copy reads what its warpgroups write");
        for (uint32_t k = r->at; k < r->path.n; k++) {
            if ((k == r->at || roles_is_thread(r, k)) &&
                ir_block_mentions(&one, r->path.stmts[k]->u.loop.var))
                return roles_report(
                    r, "a copy depends on the threads that use it");
        }
    }
    return true;
}

// Check that only serial loops and those over its threads stand between a
// warpgroup and the loop, and only loops over blocks around the warpgroups.
static bool check(struct roles *r)
{
    for (uint32_t i = 0; i < r->path.n; i++) {
        const struct ir_stmt *s = r->path.stmts[i];
        if (s->kind != STMT_for)
            return roles_report(r, "a branch is around it");
        enum axis_kind kind = axis_kind(s->u.loop.axis);
        if (i == r->at || roles_is_thread(r, i))
            continue;
        if (i < r->at ? kind != AXIS_BLOCK : kind != AXIS_SERIAL)
            return roles_report(r,
                                "something else than blocks is around its "
                                "warpgroups, or than serial loops between them "
                                "and it");
    }
    const struct ir_ring *ring = r->loop->u.loop.ring;
    r->registers[0] = ir_ring_role(ring, RING_fill)->registers;
    r->registers[1] = ir_ring_role(ring, RING_use)->registers;
    r->in_flight = ring->lag;
    r->slots = ring->slots;
    r->ring = ring_find(r->p->scratch, r->p->kernel, r->loop);
    if (r->ring.fault)
        return roles_report(r, r->ring.fault);
    const char *wrong = cluster_find(&r->cluster, &r->path);
    if (wrong)
        return roles_report(r, wrong);
    return roles_check_pingpong(r) && check_registers(r) && check_fills(r) &&
           check_extents(r);
}

// Keep blocks of a cluster from ending while others may still reach their
// shared memory, behind the warpgroups at `at`.
static void append_end(struct roles *r, struct ir_block *block, size_t at)
{
    struct ir_block end = {0};
    if (r->cluster.blocks == 1)
        return;
    append_barrier(r, &end);
    ir_insert(r->p->arena, block, at + 1, end.at[0]);
}

// Part the loop.
static bool part(struct roles *r)
{
    struct arena *a = r->p->arena;
    struct ir_for *group = &r->group->u.loop;
    struct ir_block *block = r->path.blocks[r->at], front = {0};
    struct ir_block consumer = {0}, producer = {0};
    struct ir_expr *consumers = number(r, r->consumers);
    append_front(r, &front);
    append_registers(r, &producer, r->registers[0]);
    append_registers(r, &consumer, r->registers[1]);
    if (r->registers[1] && !r->p->kernel->min_blocks)
        r->p->kernel->min_blocks = 1;
    if (!roles_produce(r, &producer))
        return false;
    roles_consume(r, &consumer);
    ir_append_all(a, &consumer, &group->body);
    struct ir_stmt *branch =
        ir_stmt_if(a, ir_binary(a, OP_lt, ir_read(a, group->var), consumers));
    branch->u.branch.then = consumer;
    branch->u.branch.otherwise = producer;
    group->body = (struct ir_block){0};
    group->to = number(r, r->consumers + 1);
    ir_append(a, &group->body, ir_stmt_from(branch, r->group));
    size_t at = 0;
    while (block->at[at] != r->group)
        at++;
    for (size_t i = 0; i < front.n; i++)
        ir_insert(a, block, at + i, front.at[i]);
    append_end(r, block, at + front.n);
    return true;
}

// Marked loops, in the order of the text.
struct marked {
    struct arena *arena;
    struct VEC(struct ir_stmt *) loops;
};

// Note a loop whose ring has roles.
static void see_loop(struct ir_stmt *s, void *context)
{
    struct marked *m = context;
    if (ir_ring_specialized(s))
        vec_push(m->arena, &m->loops, s);
}

// Find the loop over warpgroups around the marked one.
static bool find_group(struct roles *r)
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
           roles_report(r, "it does not stand in a loop bound to warpgroups");
}

// Report tiles in a ping-pong order for which there is no ring with roles.
static void see_left(struct ir_stmt *s, void *context)
{
    struct pass *p = context;
    if (ir_attr_get(s, MARK_pingpong))
        diag_error(p->diags, s->span, D_pingpong_shape, s->u.loop.var->name,
                   PINGPONG_NO_ROLES);
}

enum pass_result pass_warp_specialize(struct pass *p)
{
    struct marked m = {.arena = p->scratch};
    int errors = p->diags->errors;
    ir_each_stmt(&p->kernel->body, see_loop, &m);
    for (size_t i = 0; i < m.loops.n; i++) {
        struct roles r = {.p = p, .loop = m.loops.at[i]};
        if (!find_group(&r) || !check(&r) || !part(&r))
            return PASS_FAILED;
    }
    ir_each_stmt(&p->kernel->body, see_left, p);
    if (p->diags->errors > errors)
        return PASS_FAILED;
    return m.loops.n ? PASS_CHANGED : PASS_SAME;
}
