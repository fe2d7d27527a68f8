// Delays the wait for TMA stores, which read shared memory while the threads go
// on.
//
//   for c in 0..4 {                         for c in 0..4 {
//     S = f(c)                                bulk_wait_read(0)
//     C = S   @via(tma)               =>      S = f(c)
//   }                                         C = S
//                                           }
//                                           bulk_wait_read(0)
//
// The thread that issued the stores waits in front of the next statement that
// writes the array, which may be in the next iteration of a loop further out.
// It also waits behind all of these loops: a block must not end before TMA has
// read its shared memory. If the loop has a ring for the array (ring_plan_tma.c),
// threads fill one slot while TMA stores the other. The thread then waits right
// behind each store for the store before, whose slot is filled next.
//
//   for c in 0..4 @ring(slots 2,            for c in 0..4 {
//       transport tma_store, arrays S) {      S[c % 2] = f(c)
//     let slot = c % 2                        C = S[c % 2]
//     S[slot] = f(c)                 =>       bulk_wait_read(1)
//     C = S[slot]   @via(tma)               }
//   }                                       bulk_wait_read(0)
//
// If the number of iterations may be no multiple of the slots, the thread waits
// for all stores in front of the loop, too. The barriers that keep other threads
// from writing before the wait are derived later (barrier_insertion.c). The wait
// comes at once if there is no loop around, or one that fills a ring, if
// something else writes the array, if TMA loads into it, if the kernel reads the
// result, or if the program has barriers of its own.

#include "passes/lower/tma_store_wait.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/ring.h"
#include "ir/walk.h"
#include "passes/analysis/ring.h"

// The look at a store.
struct look {
    struct pass *p;
    struct ir_buffer *array; // in shared memory
    struct ir_buffer *result;
    const struct ir_ring *ring; // of the array, or NULL
    struct ir_path path;        // down to the nest
    struct ir_block *block;     // that holds it
    struct ir_stmt *writer;     // the next one in the block, or NULL
    bool is_next_iteration;     // that is the next one's
};

// Return whether a statement is a serial loop.
static bool is_serial(const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_SERIAL) || ir_is_over(s, AXIS_UNROLL);
}

// Return whether barriers are derived where the store is: the program has none,
// but for those of a warp-specialized ring.
static bool derives_barriers(const struct look *l)
{
    ir_foreach_stmt_from(s, l->path.stmts[0])
        if (s->kind == STMT_alloc && s->u.buffer->is_ordered)
            return true;
    return !ir_has_meeting(&l->p->kernel->body);
}

// The TMA tiles that go to or from an array.
struct tma_tiles {
    unsigned loads, stores;
};

// Return the TMA tiles of an array that are copied, or are to be.
static struct tma_tiles tiles_of(const struct ir_kernel *kernel,
                                 const struct ir_buffer *array)
{
    struct tma_tiles n = {0, 0};
    ir_foreach_stmt(s, &kernel->body) {
        struct tma_copy copy = {.near = NULL};
        if (ir_is_tma_copy(s))
            copy = (struct tma_copy){.near = s->u.copy.near.buffer,
                                     .is_load = s->u.copy.is_load};
        else if (s->kind != STMT_stage || !tma_copy_marked(&s->u.stage) ||
                 tma_copy_find(&s->u.stage, &copy))
            continue;
        n.loads += copy.is_load && copy.near == array;
        n.stores += !copy.is_load && copy.near == array;
    }
    return n;
}

// Return whether a statement out of the block uses the array.
static bool is_used_outside(const struct look *l,
                            bool (*uses)(const struct ir_stmt *s,
                                         const struct ir_buffer *buffer))
{
    for (uint32_t i = 0; i + 1 < l->path.n; i++) {
        for (size_t k = 0; k < l->path.blocks[i]->n; k++) {
            struct ir_stmt *s = l->path.blocks[i]->at[k];
            if (s != l->path.stmts[i] && uses(s, l->array))
                return true;
        }
    }
    return false;
}

// Find the statement of the block that is the next to write the array behind
// the nest.
static void find_writer(struct look *l)
{
    size_t n = l->block->n, nest = l->path.index[l->path.n - 1];
    for (size_t i = 1; i < n && !l->writer; i++) {
        struct ir_stmt *s = l->block->at[(nest + i) % n];
        if (!ir_stmt_writes(s, l->array))
            continue;
        l->writer = s;
        l->is_next_iteration = nest + i >= n;
    }
}

// Return whether the store may be waited for later.
static bool may_wait_later(struct look *l, const struct ir_stmt *nest)
{
    struct tma_tiles tiles = tiles_of(l->p->kernel, l->array);
    ir_find(l->p->scratch, &l->p->kernel->body, nest, &l->path);
    if (l->path.n < 2 || !is_serial(l->path.stmts[l->path.n - 2]))
        return false;
    l->block = l->path.blocks[l->path.n - 1];
    find_writer(l);
    return l->writer && tiles.stores == 1 && !tiles.loads &&
           !l->array->is_ordered && !is_used_outside(l, ir_stmt_writes) &&
           !ir_block_reads(&l->p->kernel->body, l->result) &&
           derives_barriers(l);
}

// ---- Slots -----------------------------------------------------------------

// Return whether an iteration reads the array before all of it is written.
static bool reads_before(const struct look *l)
{
    struct ir_block first = *l->block;
    first.n = 1;
    while (first.at[first.n - 1] != l->writer)
        first.n++;
    return ir_block_reads(&first, l->array);
}

static const char not_filled[] =
    "what it copies is double buffered, and not filled just in the loop around";

const char *tma_store_wait_ring_fault(struct pass *p, struct ir_stmt *nest,
                                      const struct tma_copy *copy)
{
    struct look look = {.p = p, .array = copy->near, .result = copy->far};
    const struct look *l = &look;
    if (!may_wait_later(&look, nest))
        return not_filled;
    struct ir_path around = l->path;
    const struct ir_for *loop = &l->path.stmts[l->path.n - 2]->u.loop;
    around.n--;
    if (!l->is_next_iteration)
        return "what it copies is double buffered, and written behind it, too";
    if (!ir_for_counts(loop))
        return "what it copies is double buffered, and the loop around does "
               "not count from 0 in steps of 1";
    if (is_used_outside(l, ir_stmt_reads) || reads_before(l) ||
        !ring_covers(l->p->scratch, l->p->kernel, &around, &l->array, 1))
        return "what it copies is double buffered, and read where another "
               "iteration of the loop around wrote it";
    return NULL;
}

// Take ring number `i`, of TMA stores, from a loop.
static void take_ring(struct pass *p, struct ir_for *loop, size_t i,
                      struct map *rings)
{
    struct ir_ring *ring = loop->rings.at[i];
    const struct ir_stmt *slot = ir_ring_slot(loop, i);
    struct map vars = {.arena = p->scratch};
    map_set(&vars, slot->u.let.var, slot->u.let.value);
    for (size_t k = 0; k < ring->arrays.n; k++)
        map_set(rings, ring->arrays.at[k], ring);
    ir_ring_remove(loop, i);
    ir_substitute_in(p->arena, &loop->body, &vars, NULL);
}

bool tma_store_wait_take_rings(struct pass *p, struct map *rings)
{
    bool changed = false;
    ir_foreach_stmt(s, &p->kernel->body) {
        for (size_t i = ir_rings_of(s).n; i-- > 0;) {
            if (!ir_ring_is(s->u.loop.rings.at[i], RING_transport_tma_store))
                continue;
            take_ring(p, &s->u.loop, i, rings);
            changed = true;
        }
    }
    return changed;
}

// ---- Where to wait ---------------------------------------------------------

// Add a place.
static void add_wait(struct look *l, struct tma_store_wait *d,
                     struct ir_block *block, struct ir_stmt *at, bool is_behind)
{
    vec_push(l->p->scratch, &d->waits,
             ((struct tma_store_place){block, at, is_behind}));
}

// Return whether each run of the loop around uses all slots equally often.
static bool ends_with_last_slot(const struct look *l)
{
    int64_t extent;
    return ir_int_value(l->path.stmts[l->path.n - 2]->u.loop.to, &extent) &&
           extent % l->ring->slots == 0;
}

// Add the places: in front of the writer, or with slots behind the store, and
// behind the outermost of the loops around.
static void add_waits(struct look *l, struct tma_store_wait *d)
{
    uint32_t loop = l->path.n - 2, outermost = loop;
    while (outermost > 0 && is_serial(l->path.stmts[outermost - 1]))
        outermost--;
    if (!l->ring)
        add_wait(l, d, l->block, l->writer, false);
    else if (!ends_with_last_slot(l))
        add_wait(l, d, l->path.blocks[loop], l->path.stmts[loop], false);
    d->most = l->ring ? (uint32_t)(l->ring->slots - 1) : TMA_STORE_NO_WAIT;
    add_wait(l, d, l->path.blocks[outermost], l->path.stmts[outermost], true);
}

struct tma_store_wait tma_store_wait_find(struct pass *p, struct ir_stmt *nest,
                                          const struct ir_stage *stage,
                                          const struct map *rings)
{
    struct tma_copy copy;
    struct tma_store_wait d = {.fault = tma_copy_find(stage, &copy)};
    if (d.fault || copy.is_load)
        return d;
    struct look l = {.p = p,
                     .array = copy.near,
                     .result = copy.far,
                     .ring = map_get(rings, copy.near)};
    if (copy.near->is_double)
        d.fault =
            "what it copies has no slots yet: `ring_plan` gives them some";
    else if (may_wait_later(&l, nest))
        add_waits(&l, &d);
    else if (l.ring)
        d.fault = not_filled;
    return d;
}
