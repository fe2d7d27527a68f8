// The loops over blocks of a nest.

#include "passes/analysis/tiles.h"

#include "ir/build.h"
#include "ir/marks.h"
#include "ir/ring.h"
#include "ir/stage.h"
#include "ir/walk.h"

#include <string.h>

enum { POWER_MOST = 64 };

// What an order says of groups of rows.
enum grouping { NONE, ANY, POWER };

// A row of orders.def.
static const struct order {
    const char *name;
    enum grouping grouping;
} orders[] = {
#define ORDER(name, group, meaning) {#name, group},
#include "passes/analysis/orders.def"
#undef ORDER
};

bool tiles_order(const char *name, enum tile_order *out)
{
    int i = 0;
    while (i < ORDER_COUNT && strcmp(orders[i].name, name) != 0)
        i++;
    *out = (enum tile_order)i;
    return i < ORDER_COUNT;
}

const char *tiles_order_name(enum tile_order order)
{
    return orders[order].name;
}

bool tiles_group_fits(enum tile_order order, int64_t n)
{
    switch (orders[order].grouping) {
    case NONE: return n == 0;
    case ANY: return n >= 1 && n <= INT32_MAX;
    case POWER: return n >= 2 && n <= POWER_MOST && (n & (n - 1)) == 0;
    }
    return false;
}

// Return whether a statement is a loop over blocks, or clusters of them.
static bool is_grid(const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_BLOCK) && !axis_is_cluster(s->u.loop.axis);
}

// Note what keeps blocks from being persistent, and the clusters.
static void note_inside(struct tiles *t, struct ir_stmt *s)
{
    if (is_grid(s))
        t->fault = "something else stands between the loops over blocks";
    if (s->kind == STMT_for && axis_is_cluster(s->u.loop.axis))
        t->cluster[axis_dimension(s->u.loop.axis)] = s->u.loop.to;
    for (size_t i = 0; s->kind == STMT_stage && i < t->loops.n; i++)
        if (ir_stage_role(&s->u.stage, t->loops.at[i]->u.loop.var) &
            STAGE_REDUCES)
            t->fault = "one of the loops counts a reduction";
}

// Return the loop over blocks that alone, but for declarations of arrays,
// stands in a loop; NULL if there is none.
static struct ir_stmt *inner(const struct ir_stmt *loop)
{
    struct ir_stmt *only = ir_only(&loop->u.loop.body);
    return only && is_grid(only) ? only : NULL;
}

struct tiles tiles_find(struct arena *a, struct ir_kernel *kernel,
                        const struct ir_stmt *loop)
{
    struct tiles t = {0};
    struct ir_path path;
    struct ir_stmt *s = NULL;
    if (!is_grid(loop)) {
        t.fault = "it is not bound to blocks";
        return t;
    }
    ir_find(a, &kernel->body, loop, &path);
    for (uint32_t i = path.n; i-- > 0;)
        s = is_grid(path.stmts[i]) ? path.stmts[i] : s;
    for (; s; s = inner(s))
        vec_push(a, &t.loops, s);
    ir_foreach_stmt(inside, &t.loops.at[t.loops.n - 1]->u.loop.body)
        note_inside(&t, inside);
    return t;
}

bool tiles_keep_array(struct arena *a, struct ir_kernel *kernel,
                      const struct tiles *t)
{
    bool is_repeated = false;
    struct ir_path path;
    ir_find(a, &kernel->body, t->loops.at[0], &path);
    for (uint32_t i = 0; i < path.n && !is_grid(path.stmts[i]); i++)
        is_repeated |= path.stmts[i]->kind == STMT_for &&
                       !ir_is_int_const(path.stmts[i]->u.loop.to, 1);
    for (uint32_t i = 0; i < path.n && is_repeated; i++) {
        for (size_t k = 0; k < path.index[i]; k++) {
            const struct ir_stmt *s = path.blocks[i]->at[k];
            if (s->kind == STMT_alloc && s->u.buffer->space != SPACE_global &&
                ir_stmt_uses_declared(path.stmts[i], s))
                return true;
        }
        if (is_grid(path.stmts[i]))
            break;
    }
    return false;
}

struct ir_expr *tiles_count(struct arena *a, const struct tiles *t)
{
    struct ir_expr *n = ir_int(a, 1);
    for (size_t i = t->loops.n; i-- > 0;)
        n = ir_mul(a, ir_for_extent(a, &t->loops.at[i]->u.loop), n);
    return n;
}

bool tiles_are_walked(const struct ir_stmt *loop)
{
    return ir_attr_get(loop, MARK_persistent) ||
           ir_attr_get(loop, MARK_persistent_sms) ||
           ir_attr_get(loop, MARK_order) || ir_attr_get(loop, MARK_group) ||
           (is_grid(loop) && ir_attr_get(loop, MARK_pingpong));
}

const struct ir_attr *tiles_mark(const struct tiles *t, enum ir_mark mark)
{
    const struct ir_attr *found = NULL;
    for (size_t i = 0; i < t->loops.n && !found; i++)
        found = ir_attr_get(t->loops.at[i], mark);
    return found;
}

struct ir_ring *tiles_ring(struct ir_block *tile)
{
    struct ir_ring *last = NULL;
    ir_foreach_stmt(s, tile)
        last = ir_ring_specialized(s) ? ir_ring_specialized(s) : last;
    return last;
}

struct ir_stmt *tiles_roles(const struct ir_block *tile)
{
    struct ir_stmt *only = NULL;
    vec_foreach_value(s, tile) {
        if (s->kind == STMT_let || s->kind == STMT_alloc)
            continue;
        if (only || s->kind != STMT_for)
            return NULL;
        only = s;
    }
    if (only && axis_is_cluster(only->u.loop.axis))
        return tiles_roles(&only->u.loop.body);
    bool is_group = only && only->u.loop.axis == AXIS_warpgroup;
    return is_group && tiles_ring(&only->u.loop.body) ? only : NULL;
}
