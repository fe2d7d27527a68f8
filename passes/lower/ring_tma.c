// Lowers a ring that one thread fills by TMA: that thread runs ahead, and every
// thread that uses a slot waits for its bytes.
//
//   alloc S: f32[3, 64] in shared          alloc S_full: u64[3] in shared
//   for i in 0..m {                        for s in 0..3 { mbarrier_init(S_full[s], 1) }
//     for k in 0..n @ring(slots 3,         for p in 0..2 { copy number p }
//                         arrays S) {      for i in 0..m { for k in 0..n {
//       let slot = (i * n + k) % 3    =>     copy number i * n + k + 2
//       S[slot] = A[i, k, ..] @via(tma)      for t in 0..64 @thread.x {
//       for t in 0..64 @thread.x {             mbarrier_wait(S_full[...], parity)
//         use S[slot]                          use S[(i * n + k) % 3]
//       }                                    } } }
//   } }
//
//   copy number c: if c < m * n { one thread:
//     mbarrier_expect(S_full[c % 3], bytes)
//     tma_load S[c % 3] = ... c / n, c % n ... signals S_full[c % 3]
//   }
//
// The copies run ahead across the loops around: while one row is finished, the
// first tiles of the next one are loaded. That a slot is no longer in use is
// ensured by the barriers of the block, which are derived as for any write by
// one thread (barrier_insertion.c): one in each iteration.

#include "passes/lower/ring_tma.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/analysis/tma_copy.h"
#include "passes/lower/mbarriers.h"
#include "passes/lower/tma_copies.h"

// The rewrite of a loop.
struct rewrite {
    struct pass *p;
    struct ir_path path; // from the kernel's body to the loop, and the loop
    uint32_t grid;       // how many loops over blocks it begins with
    struct ring ring;
    int64_t slots;
    const struct ir_stmt *slot; // of an iteration: a let
    struct ir_buffer *full;
};

// Report why a loop has no such ring.  Returns false.
static bool report(struct rewrite *r, const char *why)
{
    diag_error(r->p->diags, r->ring.loop->span, D_pipeline_lost,
               r->ring.loop->u.loop.var->name, why);
    return false;
}

// Return a number of type `int`.
static struct ir_expr *number(struct rewrite *r, int64_t n)
{
    return ir_int(r->p->arena, n);
}

// Return a loop of a path; NULL for one over threads.
static const struct ir_for *serial(const struct ir_path *path, uint32_t i)
{
    const struct ir_for *loop = &path->stmts[i]->u.loop;
    return axis_kind(loop->axis) == AXIS_THREAD ? NULL : loop;
}

// Return how many copies there are in a block: all serial loops of the path
// count.
static struct ir_expr *total(struct rewrite *r)
{
    struct arena *a = r->p->arena;
    struct ir_expr *n = number(r, 1);
    for (uint32_t i = r->grid; i < r->path.n; i++) {
        if (serial(&r->path, i))
            n = ir_mul(a, n, ir_for_extent(a, serial(&r->path, i)));
    }
    return n;
}

uint32_t ring_tma_grid(const struct ir_path *path)
{
    uint32_t n = 0;
    while (axis_kind(path->stmts[n]->u.loop.axis) == AXIS_BLOCK)
        n++;
    return n;
}

struct ir_expr *ring_tma_number(struct arena *a, const struct ir_path *path)
{
    struct ir_expr *n = ir_int(a, 0);
    for (uint32_t i = ring_tma_grid(path); i < path->n; i++) {
        const struct ir_for *l = serial(path, i);
        if (!l)
            continue;
        struct ir_expr *at = ir_binary(
            a, OP_div, ir_sub(a, ir_read(a, l->var), l->from), l->step);
        n = ir_add(a, ir_mul(a, n, ir_for_extent(a, l)), at);
    }
    return n;
}

// Set what the names in front of a statement of the path stand for.
static void find_names(struct rewrite *r, uint32_t i, struct map *vars)
{
    struct arena *a = r->p->arena;
    const struct ir_block *block = r->path.blocks[i];
    for (size_t k = 0; block->at[k] != r->path.stmts[i]; k++) {
        const struct ir_stmt *s = block->at[k];
        if (s->kind == STMT_let)
            map_set(vars, s->u.let.var,
                    ir_substitute(a, s->u.let.value, vars, NULL));
    }
}

// Set what the variables of the path are in iteration `n` of all.
static void find_iteration(struct rewrite *r, struct ir_expr *n,
                           struct map *vars)
{
    struct arena *a = r->p->arena;
    uint32_t first = r->grid;
    while (!serial(&r->path, first))
        first++;
    for (uint32_t i = r->path.n; i-- > first;) {
        const struct ir_for *l = serial(&r->path, i);
        if (!l)
            continue;
        struct ir_expr *extent = ir_for_extent(a, l), *at = n;
        if (i > first)
            at = ir_binary(a, OP_mod, n, extent);
        n = ir_binary(a, OP_div, n, extent);
        map_set(vars, l->var, ir_add(a, l->from, ir_mul(a, at, l->step)));
    }
    for (uint32_t i = r->grid; i < r->path.n; i++)
        find_names(r, i, vars);
}

// Append an operation on the mbarrier of a copy.
static void append_operation(struct rewrite *r, struct ir_block *out,
                             enum ir_op op, struct ir_expr *slot,
                             struct ir_expr *operand)
{
    mbarriers_append(r->p->arena, out, op, r->full, slot, operand,
                     r->ring.fills.at[0]);
}

// Return the slot of a copy.
static struct ir_expr *slot_of(struct rewrite *r, struct ir_expr *n)
{
    return ir_binary(r->p->arena, OP_mod, n, number(r, r->slots));
}

// Return an mbarrier for each slot.
static struct ir_buffer *declare(struct rewrite *r)
{
    const struct ir_buffer *b = r->ring.arrays.at[0];
    const char *name = arena_printf(r->p->scratch, "%s_full", b->name);
    return mbarriers_new(r->p, name, r->slots, b->span);
}

// Append a loop over some slots, unrolled, and return its body.
static struct ir_block *append_slots(struct rewrite *r, struct ir_block *out,
                                     const char *name, int64_t n,
                                     struct ir_expr **at)
{
    struct arena *a = r->p->arena;
    struct ir_var *var =
        ir_var_new(a, str_name(r->p->names, name), type_scalar(TYPE_int),
                   VAR_loop, r->ring.loop->span);
    struct ir_stmt *s = ir_stmt_for(a, var, number(r, 0), number(r, n),
                                    number(r, 1), AXIS_unroll);
    *at = ir_read(a, var);
    ir_append(a, out, ir_stmt_from(s, r->ring.loop));
    return &s->u.loop.body;
}

// Append copy number `n`, for one of the threads of the loops around.
static bool append_copy(struct rewrite *r, struct facts *facts,
                        struct ir_expr *n, uint32_t around,
                        struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct map vars = {.arena = r->p->scratch};
    struct ir_block fills = {0}, loads = {0};
    struct ir_expr *bytes = number(r, 0), *slot = slot_of(r, n);
    struct ir_place signal = {r->full, 1, arena_new(a, struct ir_expr *)};
    signal.index[0] = slot;
    for (size_t i = 0; i < r->ring.fills.n; i++)
        ir_append(a, &fills, r->ring.fills.at[i]);
    find_iteration(r, n, &vars);
    map_set(&vars, r->slot->u.let.var, slot);
    fills = ir_copy_block(a, &fills, &vars, NULL);
    struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_lt, n, total(r)));
    facts_assume(facts, s->u.branch.cond, true);
    for (size_t i = 0; i < fills.n; i++) {
        struct tma_tile box = {0};
        const char *wrong = tma_copies_tile(r->p, facts, fills.at[i], &box);
        if (wrong)
            return report(r, wrong);
        bytes = ir_add(a, bytes, tma_copies_bytes(a, &box));
        tma_copies_append(r->p, &box, &signal, &loads);
    }
    ir_append(a, out, ir_stmt_from(s, r->ring.fills.at[0]));
    out = tma_copies_one(r->p, r->path.stmts, around, &s->u.branch.then);
    append_operation(r, out, OP_mbarrier_expect, slot, bytes);
    for (size_t i = 0; i < loads.n; i++)
        ir_append(a, out, ir_stmt_from(loads.at[i], r->ring.fills.at[0]));
    return true;
}

// Append what stands behind the arrays: mbarriers that are ready for use, and
// the first copies.
static bool append_front(struct rewrite *r, struct ir_block *out)
{
    struct arena *a = r->p->arena;
    struct ir_expr *at;
    struct facts facts;
    ir_append(a, out, ir_stmt_from(ir_stmt_alloc(a, r->full), r->ring.loop));
    struct ir_block *body = append_slots(r, out, "slot", r->slots, &at);
    append_operation(r, body, OP_mbarrier_init, at, number(r, 1));
    ir_append(
        a, out,
        ir_stmt_from(ir_stmt_sync(a, SYNC_fence_mbarrier_init), r->ring.loop));
    facts_start(&facts, r->p->scratch, r->p->kernel);
    facts_enter_path(&facts, &r->path, r->grid);
    body = append_slots(r, out, "ahead", r->slots - 1, &at);
    return append_copy(r, &facts, at, 0, body);
}

// Return whether loops over threads are below a statement, or it is one.
static bool has_threads(const struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (ir_is_over(t, AXIS_THREAD))
            return true;
    return false;
}

// Return whether what is below a statement surely runs.
static bool surely_runs(const struct ir_stmt *s)
{
    int64_t n;
    struct arena scratch = {0};
    bool runs = s->kind == STMT_for &&
                ir_int_value(ir_for_extent(&scratch, &s->u.loop), &n) && n > 0;
    arena_reset(&scratch);
    return runs;
}

// Return whether a statement fills another ring of the loop.
static bool fills_other(const struct rewrite *r, const struct ir_stmt *s)
{
    vec_foreach_value(ring, &r->ring.loop->u.loop.rings) {
        vec_foreach_value(b, &ring->arrays)
            if (!ring_has(&r->ring, b) && ir_stmt_writes(s, b))
                return true;
    }
    return false;
}

// Put a wait in front of statement `i` of a block; returns whether statements
// behind are behind the wait, too. What fills another ring will be moved to an
// earlier iteration, and the wait with it.
static bool insert_wait(struct rewrite *r, struct ir_block *block, size_t i,
                        const struct ir_block *wait)
{
    struct arena *a = r->p->arena;
    struct ir_stmt *s = block->at[i];
    struct ir_block copy = ir_copy_block(a, wait, NULL, NULL);
    if (!fills_other(r, s)) {
        ir_insert(a, block, i, copy.at[0]);
        return true;
    }
    struct ir_stmt *both = ir_stmt_if(a, ir_bool(a, true));
    ir_append(a, &both->u.branch.then, copy.at[0]);
    ir_append(a, &both->u.branch.then, s);
    block->at[i] = ir_stmt_from(both, s);
    return false;
}

// Let the threads below wait before they read: as deep as loops over threads
// go.  Every copy has to be waited for: returns false if one may not be.
static bool insert_waits(struct rewrite *r, struct ir_block *block,
                         bool is_below, const struct ir_block *wait)
{
    bool waits = false, ok = true;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        if (!ring_is_read(&r->ring, s))
            continue;
        bool is_above = has_threads(s);
        if (is_above)
            ok &= surely_runs(s) &&
                  insert_waits(r, &s->u.loop.body,
                               is_below || ir_is_over(s, AXIS_THREAD), wait);
        if (is_above || (waits && !fills_other(r, s)))
            continue;
        bool inserted = insert_wait(r, block, i, wait);
        i += inserted;
        waits |= inserted;
        ok &= is_below;
    }
    return ok;
}

// Make the loop issue copies ahead, wait for its slot and use that.
static bool rewrite_body(struct rewrite *r)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->ring.loop->u.loop;
    struct ir_block body = {0}, rest = {0}, wait = {0};
    struct ir_expr *slot = r->slot->u.let.value, *n = slot->args[0];
    struct ir_expr *round = ir_binary(a, OP_div, n, number(r, r->slots));
    struct map vars = {.arena = r->p->scratch};
    bool is_below = false;
    struct facts facts;
    facts_start(&facts, r->p->scratch, r->p->kernel);
    facts_enter_path(&facts, &r->path, r->path.n);
    for (uint32_t i = 0; i < r->path.n; i++)
        is_below |= ir_is_over(r->path.stmts[i], AXIS_THREAD);
    for (size_t i = 0; i < loop->body.n; i++) {
        struct ir_stmt *s = loop->body.at[i];
        if (!ring_has_fill(&r->ring, s))
            ir_append(a, i < ir_ring_slots(loop) ? &body : &rest, s);
    }
    append_operation(r, &wait, OP_mbarrier_wait, slot,
                     ir_binary(a, OP_mod, round, number(r, 2)));
    if (!insert_waits(r, &rest, is_below, &wait))
        return report(r, "what it fills is read under a branch, or out of "
                         "loops over threads");
    map_set(&vars, r->slot->u.let.var, slot);
    ir_substitute_in(a, &rest, &vars, NULL);
    if (!append_copy(r, &facts, ir_add(a, n, number(r, r->slots - 1)),
                     r->path.n, &body))
        return false;
    ir_append_all(a, &body, &rest);
    loop->body = body;
    return true;
}

// Return why loops around cannot be counted through, or NULL: they are over
// blocks on top, then serial ones whose extents stay, and over threads.
static const char *path_fault(struct arena *scratch, const struct ir_path *path)
{
    for (uint32_t i = 0; i < path->n; i++) {
        if (path->stmts[i]->kind != STMT_for)
            return "a branch is around it";
    }
    for (uint32_t i = ring_tma_grid(path), first = i; i < path->n; i++) {
        const struct ir_for *loop = &path->stmts[i]->u.loop;
        enum axis_kind kind = axis_kind(loop->axis);
        if (kind != AXIS_THREAD && kind != AXIS_SERIAL && kind != AXIS_UNROLL)
            return "something else than serial loops and threads is between "
                   "the loops over blocks and it";
        for (uint32_t k = first; k < i; k++) {
            if (ir_mentions(ir_for_extent(scratch, loop),
                            path->stmts[k]->u.loop.var))
                return "the extent of a loop around it, or its own, varies";
        }
    }
    return NULL;
}

// Return why a copy may not run ahead, for all threads of the loops around, or
// NULL.
static const char *fill_fault(struct ir_stmt *fill, const struct ir_path *path)
{
    ir_foreach_expr_in(x, ir_alone(fill))
        if (x->op == OP_load && x->u.buffer->role != ROLE_input)
            return "it copies what the kernel writes";
    for (uint32_t k = ring_tma_grid(path); k < path->n; k++) {
        if (ir_is_over(path->stmts[k], AXIS_THREAD) &&
            ir_stmt_mentions(fill, path->stmts[k]->u.loop.var))
            return "a copy depends on the threads that use it";
    }
    return NULL;
}

const char *ring_tma_fault(struct arena *scratch, const struct ring *ring,
                           const struct ir_path *path)
{
    const char *fault = path_fault(scratch, path);
    for (size_t i = 0; i < ring->fills.n; i++) {
        if (!tma_copy_only(ring->fills.at[i]))
            return "not all of its copies are by tma or bulk";
        fault = fault ? fault : fill_fault(ring->fills.at[i], path);
    }
    return fault;
}

bool ring_tma_lower(struct pass *p, struct ir_stmt *loop, size_t i)
{
    struct ir_block front = {0};
    struct rewrite r = {.p = p,
                        .ring = ring_planned(p->scratch, loop, i),
                        .slots = loop->u.loop.rings.at[i]->slots,
                        .slot = ir_ring_slot(&loop->u.loop, i)};
    ir_find(p->scratch, &p->kernel->body, loop, &r.path);
    r.grid = ring_tma_grid(&r.path);
    r.full = declare(&r);
    if (!append_front(&r, &front) || !rewrite_body(&r))
        return false;
    ir_ring_remove(&loop->u.loop, i);
    struct ir_block *block = r.path.blocks[r.grid];
    ir_insert_all(p->arena, block, ir_index(block, r.path.stmts[r.grid]),
                  &front);
    return true;
}
