// Whether warpgroups can take the tiles of a block in ping-pong order.

#include "passes/analysis/pingpong.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/tma_copy.h"

enum { GROUPS_LEAST = 2, GROUPS_MOST = 7 };

bool pingpong_number(int64_t n)
{
    return n >= GROUPS_LEAST && n <= GROUPS_MOST;
}

// Return whether the value of an expression may be another one in another tile.
static bool varies(const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_var && e->u.var->kind != VAR_param)
            return true;
    return ir_flags(x) & OP_READS;
}

// Return whether the ring is used equally often in all tiles: loops from the
// group down to that of the ring, but for the one over tiles, end at sizes.
static bool is_regular(struct arena *a, const struct ir_path *path,
                       const struct ir_stmt *tiles)
{
    for (uint32_t i = 0; i < path->n; i++) {
        const struct ir_for *loop = &path->stmts[i]->u.loop;
        if (path->stmts[i]->kind != STMT_for)
            return false;
        if (path->stmts[i] != tiles && axis_kind(loop->axis) != AXIS_THREAD &&
            varies(ir_for_extent(a, loop)))
            return false;
    }
    return true;
}

// Return whether loops from the group down to that of the ring, but for the one
// over tiles and those of one iteration, stand around loops over its threads:
// the waits of the ping-pong order stand in front of these.
static bool parts_threads(struct arena *a, const struct ir_path *path,
                          const struct ir_stmt *tiles)
{
    bool is_inside = false;
    for (uint32_t i = 0; i < path->n; i++) {
        const struct ir_stmt *s = path->stmts[i];
        bool is_thread = axis_kind(s->u.loop.axis) == AXIS_THREAD;
        if (is_thread && is_inside)
            return true;
        is_inside |= !is_thread && s != tiles &&
                     !ir_is_int_const(ir_for_extent(a, &s->u.loop), 1);
    }
    return false;
}

// Return whether TMA loads something into shared memory in a statement.
static bool has_load(const struct ir_stmt *s)
{
    struct tma_copy copy;
    ir_foreach_stmt_from(t, s)
        if (t->kind == STMT_stage && tma_copy_marked(&t->u.stage) &&
            !tma_copy_find(&t->u.stage, &copy) && copy.is_load)
            return true;
    return false;
}

// Return whether there are TMA loads outside of the ring's loop.
static bool loads_beside(const struct ir_path *path)
{
    for (uint32_t i = 0; i < path->n; i++)
        for (size_t k = 0; k < path->blocks[i]->n; k++)
            if (path->blocks[i]->at[k] != path->stmts[i] &&
                has_load(path->blocks[i]->at[k]))
                return true;
    return false;
}

// Return whether a statement beside the path uses an array.
static bool is_used_beside(const struct ir_path *path,
                           const struct ir_stmt *alloc)
{
    for (uint32_t i = 0; i < path->n; i++)
        for (size_t k = 0; k < path->blocks[i]->n; k++)
            if (path->blocks[i]->at[k] != path->stmts[i] &&
                ir_stmt_uses_declared(path->blocks[i]->at[k], alloc))
                return true;
    return false;
}

// Return whether an array in shared memory that the group writes is used beside
// it.
static bool writes_beside(struct arena *a, struct ir_kernel *kernel,
                          struct ir_stmt *group)
{
    struct ir_path path;
    ir_find(a, &kernel->body, group, &path);
    ir_foreach_stmt(s, &kernel->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared &&
            ir_block_writes(&group->u.loop.body, s->u.buffer) &&
            is_used_beside(&path, s))
            return true;
    return false;
}

// Return whether the consumers fill a ring of the loop.
static bool is_filled_by_consumers(const struct ir_stmt *loop)
{
    vec_foreach_value(ring, &loop->u.loop.rings)
        if (!ring->roles.n)
            return true;
    return false;
}

const char *pingpong_fault(struct arena *a, struct ir_kernel *kernel,
                           struct ir_stmt *group, const struct ir_stmt *tiles,
                           struct ir_stmt *loop)
{
    struct ir_path path;
    if (!ir_is_int_const(ir_for_extent(a, &group->u.loop), 1))
        return "several warpgroups share a tile";
    ir_find(a, &group->u.loop.body, loop, &path);
    if (!is_regular(a, &path, tiles))
        return "the ring is not used equally often in each";
    if (parts_threads(a, &path, tiles))
        return "a loop stands around those over the threads of a warpgroup";
    if (loads_beside(&path))
        return "TMA loads something outside of the ring";
    if (is_filled_by_consumers(loop))
        return "the consumers fill one of its rings themselves";
    return writes_beside(a, kernel, group)
               ? "what a warpgroup writes in shared memory is used beside it"
               : NULL;
}
