// What software-pipelined loops may fill ahead of its use.

#include "passes/analysis/ring.h"

#include "ir/accesses.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/region.h"
#include "passes/analysis/ring_fills.h"
#include "passes/analysis/tma_copy.h"
#include "passes/opt/fold.h"

// A look at a ring of a loop.
struct look {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_path path; // down to the loop
    size_t number;       // of the ring
    struct ring ring;
    struct ring given; // by the rings of smaller numbers
};

// Say why a loop has no ring.  Returns false.
static bool refuse(struct look *l, struct ir_stmt *at, const char *fault)
{
    l->ring.fault = fault;
    l->ring.at = at;
    return false;
}

bool ring_has(const struct ring *ring, const struct ir_buffer *b)
{
    for (size_t i = 0; i < ring->arrays.n; i++) {
        if (ring->arrays.at[i] == b)
            return true;
    }
    return false;
}

bool ring_is_read(const struct ring *ring, struct ir_stmt *s)
{
    for (size_t i = 0; i < ring->arrays.n; i++) {
        if (ir_stmt_reads(s, ring->arrays.at[i]))
            return true;
    }
    return false;
}

bool ring_is_written(const struct ring *ring, struct ir_stmt *s)
{
    for (size_t i = 0; i < ring->arrays.n; i++) {
        if (ir_stmt_writes(s, ring->arrays.at[i]))
            return true;
    }
    return false;
}

// Return a statement out of the loop that uses an array, or NULL.
static struct ir_stmt *user_outside(const struct look *l,
                                    const struct ir_buffer *b)
{
    for (uint32_t i = 0; i < l->path.n; i++) {
        const struct ir_block *block = l->path.blocks[i];
        for (size_t k = 0; k < block->n; k++) {
            struct ir_stmt *s = block->at[k];
            if (s != l->path.stmts[i] && s->kind != STMT_alloc &&
                ir_stmt_uses(s, b))
                return s;
        }
    }
    return NULL;
}

// Add an array to a ring.
static void add_array(struct arena *a, struct ring *ring,
                      struct ir_buffer *array)
{
    if (!ring_has(ring, array))
        vec_push(a, &ring->arrays, array);
}

// Add the fills of ring number `i`, and their arrays, to a ring.
static void add_fills(struct look *l, size_t i, struct ring *ring)
{
    struct ir_block *body = &l->ring.loop->u.loop.body;
    struct ring_fills q = {.arena = l->arena,
                           .kernel = l->kernel,
                           .body = body,
                           .given = i ? &l->given : NULL};
    for (size_t k = 0; k < body->n; k++) {
        struct ir_stmt *s = body->at[k];
        if (ring_number(s, NULL) != (int64_t)i || !ring_fills(&q, s))
            continue;
        vec_push(l->arena, &ring->fills, s);
        ir_foreach_stmt_from(t, s)
            if (t->kind == STMT_store &&
                t->u.store.buffer->space == SPACE_shared)
                add_array(l->arena, ring, t->u.store.buffer);
    }
}

// Return whether a TMA or bulk copy is in a statement.
static bool has_tma(const struct ir_stmt *root)
{
    ir_foreach_stmt_from(s, root)
        if (s->kind == STMT_stage && tma_copy_marked(&s->u.stage))
            return true;
    return false;
}

// Find what fills, and the arrays.
static bool find_fills(struct look *l)
{
    bool differs = false;
    for (size_t i = 0; i < l->number; i++)
        add_fills(l, i, &l->given);
    add_fills(l, l->number, &l->ring);
    for (size_t i = 0; i < l->ring.fills.n && !differs; i++) {
        ring_number(l->ring.fills.at[i], &differs);
        l->ring.by_tma |= has_tma(l->ring.fills.at[i]);
    }
    if (differs)
        return refuse(l, l->ring.fills.at[0],
                      "a statement of it fills two rings");
    if (l->ring.fills.n)
        return true;
    return refuse(l, l->ring.loop,
                  l->number
                      ? "no stage for this ring just fills shared memory, "
                        "from what the loop does not change or rings "
                        "before it hold"
                      : "no stage in it only fills shared memory from "
                        "what the loop does not change");
}

// Return the last array in two halves that a statement stores to, or NULL.
static struct ir_buffer *half_of(const struct ir_stmt *s)
{
    struct ir_buffer *half = NULL;
    ir_foreach_stmt_from(t, s)
        if (t->kind == STMT_store && t->u.store.buffer->is_double &&
            t->u.store.buffer->space == SPACE_shared)
            half = t->u.store.buffer;
    return half;
}

// Return whether a statement of a block fills an array in two halves for
// others: ahead of them, too, and so before what it reads has come.
static bool fills_half(const struct ir_block *body, struct ir_stmt *s)
{
    struct ir_buffer *half = half_of(s);
    bool is_used = false;
    for (size_t i = 0; i < body->n && half; i++)
        is_used |= body->at[i] != s && ir_stmt_uses(body->at[i], half);
    return is_used;
}

// Check who uses an array, and in which order.
static bool check_users(struct look *l, const struct ir_buffer *b)
{
    const struct ir_block *body = &l->ring.loop->u.loop.body;
    struct ir_stmt *other = user_outside(l, b), *user = NULL;
    if (other)
        return refuse(l, other, "what the loop fills is used outside of it");
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (ring_has_fill(&l->ring, s) && user && ir_stmt_uses(s, b))
            return refuse(
                l, user,
                "it uses an array that is filled only later in the loop");
        if (ring_has_fill(&l->ring, s))
            continue;
        if (ir_stmt_writes(s, b))
            return refuse(l, s, "it writes an array that is filled ahead, too");
        if (!ir_stmt_reads(s, b))
            continue;
        user = s;
        if (fills_half(body, s))
            return refuse(
                l, s, "it fills from there an array that is double buffered");
    }
    return true;
}

bool ring_covers(struct arena *a, struct ir_kernel *kernel,
                 const struct ir_path *path, struct ir_buffer *const *arrays,
                 size_t n)
{
    struct map fixed = {.arena = a};
    for (uint32_t i = 0; i < path->n; i++) {
        struct ir_stmt *s = path->stmts[i];
        enum axis_kind kind =
            s->kind == STMT_for ? axis_kind(s->u.loop.axis) : AXIS_THREAD;
        if (kind != AXIS_THREAD && kind != AXIS_VTHREAD)
            map_set(&fixed, s->u.loop.var, ir_read(a, s->u.loop.var));
    }
    struct region_question q = {.arena = a,
                                .scratch = a,
                                .kernel = kernel,
                                .within = path->stmts[path->n - 1],
                                .access = REGION_loads,
                                .fixed = &fixed};
    struct region *read = region_find_each(&q, arrays, n);
    q.access = REGION_stores;
    q.whole_tiles = true;
    struct region *written = region_find_each(&q, arrays, n);
    bool covers = true;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t d = 0; d < read[i].rank && read[i].is_accessed; d++)
            covers &= region_covers(a, &written[i].dims[d], &read[i].dims[d]);
    }
    return covers;
}

// Check that each iteration fills what it reads of every array.
static bool check_covers(struct look *l)
{
    if (!l->ring.arrays.n || ring_covers(l->arena, l->kernel, &l->path,
                                         l->ring.arrays.at, l->ring.arrays.n))
        return true;
    for (size_t i = 0; i < l->ring.arrays.n; i++) {
        struct ir_buffer *b = l->ring.arrays.at[i];
        if (!ring_covers(l->arena, l->kernel, &l->path, &b, 1))
            return refuse(l, l->ring.fills.at[0],
                          arena_printf(l->arena,
                                       "an iteration may read elements of `%s` "
                                       "that it does not fill",
                                       b->name));
    }
    return true;
}

// Check the arrays.
static bool check_arrays(struct look *l)
{
    for (size_t i = 0; i < l->ring.fills.n; i++) {
        if (region_is_partial(l->ring.fills.at[i]))
            return refuse(l, l->ring.fills.at[i],
                          "it fills only some elements, under a condition");
    }
    for (size_t i = 0; i < l->ring.arrays.n; i++) {
        const struct ir_buffer *b = l->ring.arrays.at[i];
        if (b->is_double)
            return refuse(l, l->ring.fills.at[0],
                          "what it fills is double buffered already");
        if (!check_users(l, b))
            return false;
    }
    return check_covers(l);
}

// Check that no statement that fills uses a name that the body declares.
static bool check_names(struct look *l)
{
    const struct ir_block *body = &l->ring.loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        for (size_t k = 0; k < l->ring.fills.n && s->kind == STMT_let; k++) {
            if (ir_stmt_uses_declared(l->ring.fills.at[k], s))
                return refuse(l, s,
                              "the stages that fill use a `let` of the loop");
        }
    }
    return true;
}

// Return the last barrier of the program in the launch that the loop is in, or
// NULL.
static struct ir_stmt *find_barrier(const struct look *l)
{
    struct ir_stmt *barrier = NULL;
    ir_foreach_stmt_from(s, l->path.stmts[0])
        if (s->kind == STMT_barrier)
            barrier = s;
    return barrier;
}

// Check the loop itself.
static bool check_loop(struct look *l)
{
    struct ir_stmt *s = l->ring.loop, *barrier = find_barrier(l);
    const struct ir_for *loop = &s->u.loop;
    enum axis_kind kind = axis_kind(loop->axis);
    if (kind != AXIS_SERIAL && kind != AXIS_UNROLL)
        return refuse(l, s, "its iterations do not run one after another");
    if (!ir_for_counts(loop))
        return refuse(l, s, "it does not count from 0 in steps of 1");
    if (!ir_is_stable(loop->to))
        return refuse(l, s, "its end depends on memory");
    return !barrier ||
           refuse(l, barrier, "the program has barriers of its own");
}

// Begin to look at ring number `i` of a loop.
static struct look look_at(struct arena *a, struct ir_kernel *kernel,
                           struct ir_stmt *loop, size_t i)
{
    struct look l = {
        .arena = a, .kernel = kernel, .number = i, .ring = {.loop = loop}};
    if (i < loop->u.loop.rings.n)
        l.ring.of = loop->u.loop.rings.at[i];
    ir_find(a, &kernel->body, loop, &l.path);
    return l;
}

struct ring ring_checked(struct arena *a, struct ir_kernel *kernel,
                         struct ir_stmt *loop, size_t i)
{
    struct look l = look_at(a, kernel, loop, i);
    find_fills(&l);
    return l.ring;
}

struct ring ring_find(struct arena *a, struct ir_kernel *kernel,
                      struct ir_stmt *loop, size_t i)
{
    struct look l = look_at(a, kernel, loop, i);
    if (check_loop(&l) && find_fills(&l) && check_names(&l))
        check_arrays(&l);
    return l.ring;
}

// Return whether a statement fills a planned ring: it writes its arrays, and may
// compute there if threads store to them at once; elsewhere it just writes.
static bool fills_planned(const struct ring *ring, struct ir_stmt *s)
{
    bool computes = ir_ring_is(ring->of, RING_transport_stores) ||
                    ir_ring_is(ring->of, RING_transport_cp_async);
    return ring_is_written(ring, s) && (computes || !ring_is_read(ring, s));
}

struct ring ring_planned(struct arena *a, struct ir_stmt *loop, size_t i)
{
    struct ir_ring *of = loop->u.loop.rings.at[i];
    struct ring ring = {
        .loop = loop, .of = of, .by_tma = ir_ring_is(of, RING_transport_tma)};
    const struct ir_block *body = &loop->u.loop.body;
    if (!ir_ring_slot(&loop->u.loop, i))
        ring.fault =
            "its arrays have no slots yet: `ring_plan` gives them some";
    for (size_t k = 0; k < of->arrays.n; k++)
        vec_push(a, &ring.arrays, of->arrays.at[k]);
    for (size_t k = 0; k < body->n; k++) {
        if (fills_planned(&ring, body->at[k]))
            vec_push(a, &ring.fills, body->at[k]);
    }
    if (!ring.fault && !ring.fills.n)
        ring.fault = "nothing in it fills its arrays";
    return ring;
}

bool ring_has_fill(const struct ring *ring, const struct ir_stmt *s)
{
    for (size_t i = 0; i < ring->fills.n; i++) {
        if (ring->fills.at[i] == s)
            return true;
    }
    return false;
}
