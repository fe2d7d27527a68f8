// ring_plan: gives the arrays of a ring their slots, and each iteration of its
// loop one of them; says how slots are filled, and known to be full and free.
//
//   for i in 0..m {                          alloc S: f32[3, 64] in shared
//     for k in 0..n @ring(slots 3) {         for i in 0..m {
//       alloc S: f32[64] in shared             for k in 0..n @ring(slots 3,
//       S = A[i, k, ..]    @via(tma)                transport tma, arrive bytes,
//       use S                           =>          release barrier, arrays S) {
//     }                                          let slot = (i * n + k) % 3
//   }                                            S[slot] = A[i, k, ..] @via(tma)
//                                                use S[slot]
//                                              } }
//
// A loop has a slot for each of its rings. Nothing runs ahead yet. Where the
// arrays are declared depends on who is to fill them, and so do the iterations
// that count:
//
//   the threads of the loop       in front of the loop: each run of it begins
//                                 with the first slot
//   one thread, by TMA            behind the loops over blocks: it runs ahead
//                                 across all loops below these
//   a producer warpgroup (roles)  in front of the loop over warpgroups; each
//                                 role counts by itself (ring_state.h)
//
// What a ring asks of its loop is checked here (analysis/ring.h); what the roles
// ask of the loops around, in warp_specialize.c.
//
// Arrays marked `double` are made rings, too, once all others are lowered:
//
//   those that TMA stores              ring_plan_tma.c
//   fragments                          ring_plan_fragments.c
//   those filled through registers,
//   once there are only loops          ring_plan_registers.c

#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/lower/async_copies.h"
#include "passes/lower/ring_plans.h"
#include "passes/lower/ring_tma.h"
#include "passes/lower/slots.h"

// The plan of one ring.
struct plan {
    struct pass *p;
    struct ring ring;
    size_t index;           // of the ring, of those of the loop
    struct ir_path path;    // from the kernel's body to the loop, and the loop
    uint32_t at;            // in front of which of these the arrays are
    struct ir_expr *number; // of an iteration
};

// Report why a loop cannot have its ring.  Returns false.
static bool report(const struct plan *l)
{
    const struct ir_stmt *loop = l->ring.loop;
    bool has_roles = l->ring.of->roles.n > 0;
    diag_error(l->p->diags, loop->span,
               has_roles ? D_role_shape : D_pipeline_lost,
               loop->u.loop.var->name, l->ring.fault);
    if (l->ring.at && l->ring.at != loop)
        diag_note(l->p->diags, l->ring.at->span, "this is in the way");
    return false;
}

// Return whether a statement is a loop on an axis.
static bool is_over(const struct ir_stmt *s, enum axis axis)
{
    return s->kind == STMT_for && s->u.loop.axis == axis;
}

// Return where the loop over warpgroups stands in the path; that of the loop
// itself: there is none.
static uint32_t group_of(const struct plan *l)
{
    uint32_t at = l->path.n - 1;
    for (uint32_t i = 0; i < l->path.n; i++)
        at = is_over(l->path.stmts[i], AXIS_warpgroup) ? i : at;
    return at;
}

// Find where the arrays go, and what counts the iterations; false if the loop
// can have no ring there.
static bool find_place(struct plan *l)
{
    struct arena *a = l->p->arena;
    l->number = ir_read(a, l->ring.loop->u.loop.var);
    l->at = l->path.n - 1;
    if (l->ring.of->roles.n) {
        l->at = group_of(l);
        return true;
    }
    if (!l->ring.by_tma)
        return true;
    l->ring.fault = ring_tma_fault(l->p->scratch, &l->ring, &l->path);
    if (l->ring.fault)
        return false;
    l->at = ring_tma_grid(&l->path);
    l->number = ring_tma_number(a, &l->path);
    return true;
}

// Move the declarations of the arrays in a block to another.
static void take_allocs(const struct ring *ring, struct arena *a,
                        struct ir_block *from, struct ir_block *to)
{
    size_t n = 0;
    for (size_t i = 0; i < from->n; i++) {
        struct ir_stmt *s = from->at[i];
        if (s->kind == STMT_alloc && ring_has(ring, s->u.buffer))
            ir_append(a, to, s);
        else
            from->at[n++] = s;
    }
    from->n = n;
}

// Declare the arrays, with their slots, where they go. If that is in front of
// the loop itself, those that are declared further out stay there.
static void place_arrays(struct plan *l)
{
    struct arena *a = l->p->arena;
    struct ir_block front = {0}, *block = l->path.blocks[l->at];
    bool moves_out = l->at + 1 < l->path.n;
    for (uint32_t i = 0; i < l->path.n && moves_out; i++)
        take_allocs(&l->ring, a, l->path.blocks[i], &front);
    take_allocs(&l->ring, a, &l->ring.loop->u.loop.body, &front);
    for (size_t i = 0; i < l->ring.arrays.n; i++) {
        struct ir_buffer *b = l->ring.arrays.at[i];
        layout_stack(a, b, ir_int(a, l->ring.of->slots));
        vec_push(a, &l->ring.of->arrays, b);
    }
    ir_insert_all(a, block, ir_index(block, l->path.stmts[l->at]), &front);
}

// Let each iteration use its slot.
static void use_slots(struct plan *l)
{
    struct ir_expr *slot = slots_count(l->p, l->ring.loop, l->index, l->number);
    slots_use(l->p->arena, &l->ring, &l->ring.loop->u.loop.body, slot);
}

// Return whether threads start asynchronous copies in some fill of a ring.
static bool has_async(const struct plan *l)
{
    bool found = false;
    for (size_t i = 0; i < l->ring.fills.n; i++)
        found |= async_copies_in(&l->p->kernel->body, l->ring.fills.at[i]);
    return found;
}

// Say how the slots of a ring with roles are filled: an mbarrier counts.
static void set_mbarriers(const struct plan *l)
{
    struct ir_ring *of = l->ring.of;
    for (size_t i = 0; i < l->ring.fills.n; i++) {
        bool by_threads = copies_only(l->ring.fills.at[i]);
        ir_ring_set(of,
                    by_threads ? RING_transport_cp_async : RING_transport_tma);
        ir_ring_set(of, by_threads ? RING_arrive_threads : RING_arrive_bytes);
    }
    ir_ring_set(of, RING_release_mbarrier);
}

// Say how slots are filled, and known to be full and free.
static void set_words(const struct plan *l)
{
    struct ir_ring *of = l->ring.of;
    if (of->roles.n) {
        set_mbarriers(l);
        return;
    }
    bool by_tma = l->ring.by_tma, is_async = !by_tma && has_async(l);
    ir_ring_set(of, by_tma     ? RING_transport_tma
                    : is_async ? RING_transport_cp_async
                               : RING_transport_stores);
    ir_ring_set(of, by_tma     ? RING_arrive_bytes
                    : is_async ? RING_arrive_group
                               : RING_arrive_barrier);
    ir_ring_set(of, RING_release_barrier);
}

// Take from the stages in a ring which one that is.
static void take_marks(const struct plan *l)
{
    for (size_t i = 0; i < l->ring.fills.n; i++) {
        ir_foreach_stmt_from(s, l->ring.fills.at[i])
            if (s->kind == STMT_stage)
                ir_attr_remove(s, MARK_ring);
    }
}

// Plan the rings of a loop; false after an error.
static bool plan(struct pass *p, struct ir_stmt *loop)
{
    struct VEC(struct plan) all = {0};
    for (size_t i = 0; i < loop->u.loop.rings.n; i++) {
        struct plan l = {.p = p, .index = i};
        l.ring = ring_find(p->scratch, p->kernel, loop, i);
        if (l.ring.fault)
            return report(&l);
        ir_find(p->scratch, &p->kernel->body, loop, &l.path);
        if (!find_place(&l))
            return report(&l);
        vec_push(p->scratch, &all, l);
    }
    for (size_t i = 0; i < all.n; i++) {
        take_marks(&all.at[i]);
        place_arrays(&all.at[i]);
        use_slots(&all.at[i]);
        set_words(&all.at[i]);
    }
    return true;
}

// Plan the rings of a block and below, the inner ones first; false after an
// error.
static bool plan_block(struct pass *p, struct ir_block *block, bool *changed)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++) {
            if (!plan_block(p, inside[k], changed))
                return false;
        }
        struct ir_rings rings = ir_rings_of(s);
        bool plans = rings.n && !ir_ring_is_planned(rings.at[0]);
        if (plans && !plan(p, s))
            return false;
        *changed |= plans;
        i = ir_index(block, s);
    }
    return true;
}

struct ir_ring *ring_plans_add(struct pass *p, struct ir_stmt *loop,
                               const struct ring_plans_words *words)
{
    struct ir_for *of = &loop->u.loop;
    struct ir_ring *ring = ir_ring_new(p->arena, RING_PLANS_SLOTS);
    ir_ring_set(ring, words->transport);
    ir_ring_set(ring, words->arrive);
    ir_ring_set(ring, words->release);
    vec_push(p->arena, &of->rings, ring);
    slots_count(p, loop, of->rings.n - 1, ir_read(p->arena, of->var));
    return ring;
}

// Return whether a loop of a kernel has a ring.
static bool has_rings(struct ir_kernel *kernel)
{
    ir_foreach_stmt(s, &kernel->body)
        if (ir_rings_of(s).n)
            return true;
    return false;
}

enum pass_result pass_ring_plan(struct pass *p)
{
    bool changed = false;
    if (!plan_block(p, &p->kernel->body, &changed))
        return PASS_FAILED;
    if (p->kernel->level == LEVEL_loops)
        changed |= ring_plan_registers(p);
    else if (!has_rings(p->kernel) &&
             !ring_plan_tma(p, &p->kernel->body, &changed))
        return PASS_FAILED;
    else if (!has_rings(p->kernel))
        changed |= ring_plan_fragments(p);
    return changed ? PASS_CHANGED : PASS_SAME;
}
