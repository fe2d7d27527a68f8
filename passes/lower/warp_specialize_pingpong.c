// Consumers in ping-pong order: while one runs the epilogue of its tile, the
// other runs WGMMA on the next.
//
//   for w in 0..1 @warpgroup {                for w in 0..3 @warpgroup { if w < 2 {
//     for tile in block..m step s               var turn = w * n % 8
//             @pingpong(2) {                    var round = 1 - min(w, 1)
//       for k in 0..n @ring(slots 4) ... {        for tile in block + w * s..m step 2 * s {
//         copies of S                             mbarrier_wait(order[w], round % 2)
//         use S                                   for k in 0..n { ... (turn + k) % 4 ... }
//       }                                  =>     mbarrier_arrive(order[(w + 1) % 2])
//       C_pad = ...                               turn = (turn + n) % 8
//       C = C_pad                                 C_pad[w, ...] = ...
//     }                                           C = C_pad[w]
//   }                                             turn = (turn + n) % 8
//                                                 round = (round + 1) % 2
//                                               }
//                                             } else { copies, tile after tile } }
//
// The producer fills the ring tile after tile. Iteration k of tile number t of
// the block is number t * n + k of the ring, and each consumer skips those of
// the others. The parity of a phase distinguishes only two phases. So a
// consumer looks for its first slot when the consumer before it has seen its
// last: the main loops follow one another as the tiles do. Arrays in shared
// memory that a consumer writes are its own.

#include "passes/lower/warp_specialize.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/pingpong.h"
#include "passes/lower/mbarriers.h"

// Report why there is no ping-pong order. Returns false.
static bool report(struct specialized *r, const char *why)
{
    diag_error(r->p->diags, r->tiles->span, D_pingpong_shape,
               r->tiles->u.loop.var->name, why);
    return false;
}

bool specialize_check_pingpong(struct specialized *r)
{
    struct ir_stmt *s = r->path.stmts[r->at + 1];
    const struct ir_attr *mark = ir_attr_get(s, MARK_pingpong);
    bool is_ordered = ir_ring_specialized(r->loop)->order > 0;
    if (!mark && !is_ordered)
        return true;
    r->tiles = s;
    if (!mark)
        return report(r, PINGPONG_NO_ROLES);
    const char *wrong =
        pingpong_fault(r->p->scratch, r->p->kernel, r->group, s, r->loop);
    if (wrong)
        return report(r, wrong);
    r->consumers = mark->value;
    return true;
}

// Return how often the ring is used in a tile.
static struct ir_expr *uses_of_tile(struct specialized *r)
{
    struct arena *a = r->p->arena;
    struct ir_expr *n = ir_int(a, 1);
    for (uint32_t i = r->at + 2; i < r->path.n; i++) {
        if (!specialize_is_thread(r, i))
            n = ir_mul(a, n, ir_for_extent(a, &r->path.stmts[i]->u.loop));
    }
    return n;
}

// Return the number of a consumer.
static struct ir_expr *consumer(struct specialized *r)
{
    return ir_read(r->p->arena, r->group->u.loop.var);
}

struct ir_expr *specialize_first(struct specialized *r)
{
    return r->tiles ? ir_mul(r->p->arena, consumer(r), uses_of_tile(r)) : NULL;
}

// Return whether an array is one of a ring's.
static bool is_in_ring(const struct specialized *r, const struct ir_buffer *b)
{
    bool found = false;
    vec_foreach(x, &r->rings)
        found |= ring_has(&x->ring, b);
    return found;
}

// Give each consumer arrays of its own: those in shared memory that it writes,
// but for the ring's.
static void part_arrays(struct specialized *r)
{
    struct arena *a = r->p->arena;
    struct ir_block *group = &r->group->u.loop.body;
    struct VEC(struct ir_buffer *) arrays = {0};
    ir_foreach_stmt(s, &r->p->kernel->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared &&
            ir_block_writes(group, s->u.buffer) && !is_in_ring(r, s->u.buffer))
            vec_push(r->p->scratch, &arrays, s->u.buffer);
    for (size_t i = arrays.n; i-- > 0;) {
        struct ring one = {0};
        vec_push(r->p->scratch, &one.arrays, arrays.at[i]);
        layout_stack(a, arrays.at[i], ir_int(a, r->consumers));
        slots_use(a, &one, group, consumer(r));
    }
}

// Return the statement of a tile that uses the ring, and the block it stands in.
static struct ir_stmt *ring_of_tile(struct specialized *r,
                                    struct ir_block **block)
{
    uint32_t i = r->at + 2;
    while (specialize_is_thread(r, i))
        i++;
    *block = r->path.blocks[i];
    return r->path.stmts[i];
}

void specialize_append_order(struct specialized *r, struct ir_block *out)
{
    struct ir_var *turn;
    if (!r->tiles)
        return;
    r->order = specialize_declare(r, "order", r->consumers, out);
    out = specialize_append_loop(r, out, "turn", r->consumers, AXIS_unroll,
                                 &turn);
    mbarriers_append(r->p->arena, out, OP_mbarrier_init, r->order,
                     ir_read(r->p->arena, turn),
                     ir_int(r->p->arena, GROUP_WARPS), r->loop);
}

// Let a consumer use the ring for its tile; `rounds` counts the tiles before.
static void take_ring(struct specialized *r, const struct ring_state *rounds)
{
    struct arena *a = r->p->arena;
    struct ir_var *one;
    struct ir_block *block, before = {0}, behind = {0};
    const struct ir_stmt *ring = ring_of_tile(r, &block);
    struct ir_expr *next =
        ir_binary(a, OP_mod, ir_add(a, consumer(r), ir_int(a, 1)),
                  ir_int(a, r->consumers));
    mbarriers_append(a, &before, OP_mbarrier_wait, r->order, consumer(r),
                     ring_state_parity(rounds, ir_read(a, rounds->before), 0),
                     r->loop);
    struct ir_block *last = specialize_append_lanes(r, &behind, 1, &one);
    mbarriers_append(a, last, OP_mbarrier_arrive, r->order, next, NULL,
                     r->loop);
    size_t at = ir_index(block, ring);
    ir_insert_all(a, block, at + 1, &behind);
    ir_insert(a, block, at, before.at[0]);
}

// Make a consumer loop over its own tiles.
static void walk_own(struct specialized *r)
{
    struct arena *a = r->p->arena;
    struct ir_for *tiles = &r->tiles->u.loop;
    tiles->from = ir_add(a, tiles->from, ir_mul(a, consumer(r), tiles->step));
    tiles->step = ir_mul(a, tiles->step, ir_int(a, r->consumers));
    ir_attr_remove(r->tiles, MARK_pingpong);
}

void specialize_take_turns(struct specialized *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct map vars = {.arena = r->p->scratch};
    struct ring_state rounds = {.p = r->p, .loop = r->loop, .slots = 1};
    if (!r->tiles)
        return;
    struct ir_block *tile = &r->tiles->u.loop.body;
    struct ir_expr *one = ir_int(a, 1);
    map_set(&vars, r->group->u.loop.var, ir_int(a, 0));
    ir_substitute_in(a, &r->group->u.loop.body, &vars, NULL);
    part_arrays(r);
    ring_state_declare(&rounds, "round",
                       ir_sub(a, one, ir_binary(a, OP_min, consumer(r), one)),
                       out);
    take_ring(r, &rounds);
    struct ir_expr *others =
        ir_mul(a, uses_of_tile(r), ir_int(a, r->consumers - 1));
    vec_foreach(x, &r->rings)
        ir_append(a, tile, ring_state_next(&x->state, others));
    ir_append(a, tile, ring_state_next(&rounds, one));
    walk_own(r);
}
