// Plans rings of TMA stores: an array marked `double` that TMA stores has two
// slots.
//
//   for c in 0..4 {                      alloc S: f32[2, 64] in shared
//     alloc S: f32[64] in shared double  for c in 0..4 @ring(slots 2,
//     S = f(c)                     =>        transport tma_store,
//     C = S   @via(tma)                      arrive barrier, release group,
//   }                                        arrays S) {
//                                          let slot = c % 2
//                                          S[slot] = f(c)
//                                          C = S[slot]   @via(tma)
//                                        }
//
// The array is declared in front of the loop already (buffers.c). Where it
// cannot have a slot for every other iteration, that is an error: the wait for
// the store would come at once.

#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/ring_plans.h"
#include "passes/lower/slots.h"
#include "passes/lower/tma_copies.h"
#include "passes/lower/tma_store_wait.h"

static const struct ring_plans_words words = {
    RING_transport_tma_store, RING_arrive_barrier, RING_release_group};

// Return the array marked `double` that a stage with a mark stores; NULL: none.
static struct ir_buffer *stored(const struct ir_stmt *stage,
                                struct tma_copy *copy)
{
    bool stores = !tma_copy_find(&stage->u.stage, copy) && !copy->is_load;
    return stores && copy->near->is_double ? copy->near : NULL;
}

// Return the ring of a loop, which all arrays that it stores share.
static struct ir_ring *ring_of(struct pass *p, struct ir_stmt *loop)
{
    struct ir_rings rings = loop->u.loop.rings;
    return rings.n ? rings.at[0] : ring_plans_add(p, loop, &words);
}

// Give an array slots in the ring of a loop.
static void plan(struct pass *p, struct ir_stmt *loop, struct ir_buffer *array)
{
    struct arena *a = p->arena;
    struct ir_for *of = &loop->u.loop;
    struct ring stores = {.loop = loop, .of = ring_of(p, loop)};
    layout_stack(a, array, ir_int(a, RING_PLANS_SLOTS));
    array->is_double = false;
    vec_push(a, &stores.of->arrays, array);
    vec_push(p->scratch, &stores.arrays, array);
    slots_use(a, &stores, &of->body,
              ir_read(a, ir_ring_slot(of, 0)->u.let.var));
}

// Plan the ring of a statement, if it is a nest that stores an array marked
// `double`; false after an error.
static bool plan_nest(struct pass *p, struct ir_stmt *s, bool *changed)
{
    struct ir_path path;
    struct tma_copy copy;
    struct tma_tile box = {0};
    struct ir_stmt *stage = tma_copies_stage(p->scratch, s, &box);
    struct ir_buffer *array = stage ? stored(stage, &copy) : NULL;
    if (!array)
        return true;
    const char *fault = tma_store_wait_ring_fault(p, s, &copy);
    if (fault) {
        tma_copies_report(p, stage, fault);
        return false;
    }
    ir_find(p->scratch, &p->kernel->body, s, &path);
    plan(p, path.stmts[path.n - 2], array);
    *changed = true;
    return true;
}

bool ring_plan_tma(struct pass *p, struct ir_block *block, bool *changed)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        if (!plan_nest(p, s, changed))
            return false;
        for (uint32_t k = 0; k < n; k++) {
            if (!ring_plan_tma(p, inside[k], changed))
                return false;
        }
        i = ir_index(block, s);
    }
    return true;
}
