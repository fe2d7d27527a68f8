// overlap: adds barriers that let arrays in shared memory share their bytes.
//
//   S[thread.x] = A[thread.x]               S and T are not needed at the same
//   B[thread.x] = S[thread.x]               time, but a thread may write to T
//                                => barrier while another one reads S
//   T[thread.x] = ...
//
// This is for launches with more shared memory than the static limit. A barrier
// is added wherever it saves 1 KiB or more, the unit of the hardware, between
// statements that every thread executes once. The sides of a branch count as
// such if its condition is the same for all threads. A launch with barriers of
// its own, which does not say `derive_barriers`, keeps exactly those. No launch
// says so any more behind this pass.

#include "ir/build.h"
#include "ir/shared.h"
#include "ir/walk.h"
#include "passes/analysis/divergence.h"
#include "passes/pass.h"

enum { WORTH = 1024 };

// Return whether the life of an array ends before statement `at`.
static bool ends_at(const struct shared_layout *all, size_t at)
{
    for (size_t i = 0; i < all->places.n; i++)
        if (all->places.at[i].last + 1 == at)
            return true;
    return false;
}

// Insert barriers between the statements of a launch.
static void part(struct pass *p, struct ir_launch *launch)
{
    struct ir_block *body = &launch->body;
    struct arena *a = p->arena;
    struct shared_layout now = shared_layout(p->scratch, launch);
    for (size_t i = 1; i < body->n && shared_dynamic(&now); i++) {
        if (!ends_at(&now, i))
            continue;
        struct ir_block without = *body;
        struct ir_stmt *barrier = ir_stmt_barrier(a);
        struct ir_block both = {0};
        ir_append(a, &both, ir_stmt_from(barrier, body->at[i]));
        ir_append(a, &both, body->at[i]);
        ir_splice(a, body, i, &both);
        struct shared_layout then = shared_layout(p->scratch, launch);
        if (now.bytes - then.bytes >= WORTH)
            now = then;
        else
            *body = without;
    }
}

// Insert barriers into one side of a branch, as if it were all of the launch.
static void part_side(struct pass *p, const struct ir_launch *launch,
                      struct ir_block *side)
{
    struct ir_launch alone = *launch;
    const struct ir_block *top = &launch->body;
    size_t n = 0;
    alone.body = (struct ir_block){0};
    for (size_t i = 0; i < top->n; i++)
        if (top->at[i]->kind == STMT_alloc)
            ir_append(p->arena, &alone.body, top->at[i]);
    n = alone.body.n;
    ir_append_all(p->arena, &alone.body, side);
    part(p, &alone);
    *side = (struct ir_block){0};
    for (size_t i = n; i < alone.body.n; i++)
        ir_append(p->arena, side, alone.body.at[i]);
}

// Insert barriers into a launch that has more shared memory than the static
// limit.
static void overlap(struct pass *p, struct ir_launch *launch)
{
    struct ir_block *top = &launch->body;
    struct shared_layout all = shared_layout(p->scratch, launch);
    const axis_set positions =
        1u << AXIS_thread_x | 1u << AXIS_thread_y | 1u << AXIS_thread_z;
    struct divergence divergence = divergence_start(p->scratch, positions);
    divergence_find(&divergence, top);
    for (size_t i = 0; i < top->n && shared_dynamic(&all); i++) {
        struct ir_stmt *s = top->at[i];
        if (s->kind != STMT_if || divergence_of_control(&divergence, s))
            continue;
        part_side(p, launch, &s->u.branch.then);
        part_side(p, launch, &s->u.branch.otherwise);
    }
    part(p, launch);
}

enum pass_result pass_overlap(struct pass *p)
{
    enum pass_result result = PASS_SAME;
    vec_foreach_value(s, &p->kernel->body) {
        if (s->kind != STMT_launch || !s->u.launch.derives_barriers)
            continue;
        overlap(p, &s->u.launch);
        s->u.launch.derives_barriers = false;
        result = PASS_CHANGED;
    }
    return result;
}
