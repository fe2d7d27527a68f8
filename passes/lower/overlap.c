// Barriers that let arrays of a launch share their bytes.
//
//   S[thread.x] = A[thread.x]               S and T are not needed at the same
//   B[thread.x] = S[thread.x]               time, but a thread may write to T
//                                => barrier while another one reads S
//   T[thread.x] = ...
//
// A launch that has more shared memory than static one gets a barrier wherever
// it saves some, between statements that every thread executes once.

#include "ir/build.h"
#include "ir/shared.h"
#include "ir/walk.h"
#include "passes/lower/mapping.h"

// Return whether the life of an array ends before statement `at`.
static bool ends_at(const struct shared_layout *all, size_t at)
{
    for (size_t i = 0; i < all->places.n; i++)
        if (all->places.at[i].last + 1 == at)
            return true;
    return false;
}

void mapping_overlap(struct mapping *m)
{
    struct ir_block *body = &m->launch->body;
    struct arena *a = m->p->arena;
    struct shared_layout now = shared_layout(m->p->scratch, m->launch);
    for (size_t i = 1; i < body->n && shared_dynamic(&now); i++) {
        if (!ends_at(&now, i))
            continue;
        struct ir_block without = *body;
        struct ir_stmt *barrier = ir_stmt_barrier(a);
        struct ir_block both = {0};
        barrier->span = body->at[i]->span;
        ir_append(a, &both, barrier);
        ir_append(a, &both, body->at[i]);
        ir_splice(a, body, i, &both);
        struct shared_layout then = shared_layout(m->p->scratch, m->launch);
        if (then.bytes < now.bytes)
            now = then;
        else
            *body = without;
    }
}
