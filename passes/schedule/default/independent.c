// Which loops of a nest can be spread over blocks of threads.
//
//   for i { for j { for k { C[i, j] += A[i, k] } } }   i and j
//
// Blocks and threads have no order, so iterations must neither write what others
// access, nor count a reduction, nor decide how many of another loop there are.
// What a block or a thread has for itself, an array or a barrier, stays in one
// block.

#include "passes/schedule/default/independent.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "passes/schedule/depend/depend.h"

// Return whether iterations of a nest share more than memory.
static bool is_shared(struct ir_stmt *nest)
{
    ir_foreach_stmt_from(s, nest)
        if (s->kind == STMT_barrier ||
            (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared))
            return true;
    return false;
}

// Return whether a nest and statements beside it use an array that each block
// or thread has for itself.
static bool is_joined(struct pass *p, struct ir_stmt *nest)
{
    struct ir_block *body = &p->kernel->body;
    vec_foreach_value(s, body) {
        if (s->kind != STMT_alloc || (s->u.buffer->space != SPACE_shared &&
                                      s->u.buffer->space != SPACE_local))
            continue;
        size_t users = 0;
        for (size_t k = 0; k < body->n; k++)
            users += ir_stmt_uses_declared(body->at[k], s);
        if (users > 1 && ir_stmt_uses_declared(nest, s))
            return true;
    }
    return false;
}

// Return whether the bounds of a loop depend on one of some loops.
static bool depends(const struct ir_block *loops, const struct ir_for *f)
{
    vec_foreach_value(outer, loops)
        if (ir_for_mentions(f, outer->u.loop.var))
            return true;
    return false;
}

// Return whether a loop counts a reduction: if it has one iteration, or none,
// nothing is carried by it.
static bool counts_reduction(struct ir_stmt *loop)
{
    ir_foreach_stmt(s, &loop->u.loop.body)
        if (s->kind == STMT_stage &&
            ir_stage_role(&s->u.stage, loop->u.loop.var) & STAGE_REDUCES)
            return true;
    return false;
}

// Return whether a loop can be bound together with those before: to blocks, and
// the threads of a block, which share more.
static bool can_spread(struct pass *p, const struct ir_block *loops,
                       struct ir_stmt *loop)
{
    struct depend_conflict conflict;
    if (loop->kind != STMT_for || loop->u.loop.axis != AXIS_serial ||
        ir_loop_is_marked(&loop->u.loop) || depends(loops, &loop->u.loop) ||
        counts_reduction(loop))
        return false;
    return !depend_carried(p, loop, AXIS_block_x, false, &conflict) &&
           !depend_carried(p, loop, AXIS_thread_x, false, &conflict);
}

struct ir_block independent_loops(struct pass *p, struct ir_stmt *nest)
{
    struct ir_block loops = {0};
    bool is_whole = is_shared(nest) || is_joined(p, nest);
    while (!is_whole && can_spread(p, &loops, nest)) {
        ir_append(p->scratch, &loops, nest);
        is_whole = nest->u.loop.body.n != 1;
        nest = is_whole ? nest : nest->u.loop.body.at[0];
    }
    return loops;
}
