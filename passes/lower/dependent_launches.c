// dependent_launches: lets launches with the attribute `programmatic` wait for
// the grids before them, and lets the next grid begin.
//
//   launch f grid(n, 1, 1) block(32, 1, 1) launch_attribute programmatic {
//     let i = block.x * 32 + thread.x
//     C[i] = A[i]
//   }                                                                      =>
//   launch f ... {
//     let i = block.x * 32 + thread.x
//     dependency_wait
//     launch_dependents
//     C[i] = A[i]
//   }
//
// Any grid before this one in the stream may have written what it reads, and
// may read what it writes. So each thread waits before the first statement of
// the outermost block that accesses global memory, and in any case: then the
// end of this grid means the end of all before it, which is what the next one
// relies on when it waits. That one may begin as soon as this one has nothing
// to wait for. Earlier would be as right, but the grids of a chain would fill
// the SMs, all waiting. What a program says of that itself, in its outermost
// block, stays.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/launch_attribute.h"
#include "ir/walk.h"
#include "passes/pass.h"

// Return the place behind the first of the statements of a block that is a sync
// of that kind; 0 if none is.
static size_t behind_sync(const struct ir_block *block, size_t n,
                          enum sync_kind kind)
{
    for (size_t i = 0; i < n; i++)
        if (block->at[i]->kind == STMT_sync &&
            block->at[i]->u.sync.kind == kind)
            return i + 1;
    return 0;
}

// Put a sync in front of statement `at` of a block.
static void insert(struct pass *p, struct ir_block *block, size_t at,
                   enum sync_kind kind)
{
    ir_insert(p->arena, block, at, ir_stmt_sync(p->arena, kind));
}

// Let a launch wait, and the next one begin behind that; returns whether it did
// not do both before.
static bool lower(struct pass *p, struct ir_block *body)
{
    size_t at = ir_first_global(body);
    size_t waited = behind_sync(body, at, SYNC_dependency_wait);
    bool releases = behind_sync(body, body->n, SYNC_launch_dependents);
    if (!releases)
        insert(p, body, waited ? waited : at, SYNC_launch_dependents);
    if (!waited)
        insert(p, body, at, SYNC_dependency_wait);
    return !releases || !waited;
}

enum pass_result pass_dependent_launches(struct pass *p)
{
    bool found = false;
    vec_foreach_value(s, &p->kernel->body)
        if (s->kind == STMT_launch &&
            attribute_in(s->u.launch.attributes, ATTRIBUTE_programmatic))
            found |= lower(p, &s->u.launch.body);
    return found ? PASS_CHANGED : PASS_SAME;
}
