// Where threads of a block, or of a cluster, wait for one another: barriers, those
// of a warp and of a warpgroup where pairs of one are asked about, those of the
// cluster alone where pairs of different blocks are.

#include "passes/proof/group.h"

#include "ir/build.h"
#include "ir/walk.h"

// The same of two threads of a cluster.
static bool blocks_may_differ(struct system *s)
{
    struct linear *l = &s->linear;
    struct sum x[3], y[3];
    for (int i = 0; i < 3; i++) {
        enum axis axis = (enum axis)(AXIS_block_x + i);
        uint32_t n = s->program->launch->cluster[i];
        x[i] = system_value(s, ir_index_value(s->arena, axis), FIRST);
        y[i] = system_value(s, ir_index_value(s->arena, axis), SECOND);
        struct sum a = linear_divide(l, x[i], n), b = linear_divide(l, y[i], n);
        linear_require_equal(l, &a, &b);
    }
    for (int i = 0; i < 3; i++)
        if (s->program->launch->cluster[i] > 1 &&
            (system_may_be_less(s, &x[i], &y[i]) ||
             system_may_be_less(s, &y[i], &x[i])))
            return true;
    return false;
}

bool group_may_differ(struct system *s, const void *group)
{
    const struct group *g = group;
    if (g->of_cluster)
        return blocks_may_differ(s);
    struct linear *l = &s->linear;
    struct sum x = system_thread(s, FIRST), y = system_thread(s, SECOND);
    if (g->same) {
        struct sum a = linear_divide(l, x, g->same);
        struct sum b = linear_divide(l, y, g->same);
        linear_require_equal(l, &a, &b);
    }
    if (g->apart > 1) {
        x = linear_divide(l, x, g->apart);
        y = linear_divide(l, y, g->apart);
    }
    return system_may_be_less(s, &x, &y) || system_may_be_less(s, &y, &x);
}

bool group_meets(const struct group *g, const struct node *n)
{
    if (n->kind != NODE_SYNC)
        return false;
    if (n->stmt->kind == STMT_barrier)
        return n->stmt->u.of_cluster || !g->of_cluster;
    uint32_t threads = g->of_cluster ? 0 : sync_threads(n->stmt->u.sync.kind);
    return g->same && threads >= g->same;
}

bool group_may_meet(const struct group *g, const struct nodes *nodes)
{
    vec_foreach_value(n, nodes) {
        if (group_meets(g, n) ||
            (n->has_sync &&
             (group_may_meet(g, &n->body) || group_may_meet(g, &n->otherwise))))
            return true;
    }
    return false;
}

bool loop_runs(struct system *s, const struct scope *loop)
{
    if (!ir_is_stable(loop->from) || !ir_is_stable(loop->to))
        return false;
    system_begin(s, (struct relation){NULL, NULL, false});
    system_enter(s, loop->up, FIRST);
    struct sum from = system_value(s, loop->from, FIRST);
    struct sum to = system_value(s, loop->to, FIRST), one = linear_number(1);
    to = linear_plus(&s->linear, to, -1, &one);
    return !system_may_be_less(s, &to, &from);
}

bool group_has_same(struct system *s, const struct group *g,
                    const struct scope *scope, struct ir_expr *x)
{
    if (!ir_is_stable(x))
        return false;
    system_begin(s, (struct relation){scope, NULL, g->of_cluster});
    system_enter(s, scope, FIRST);
    system_enter(s, scope, SECOND);
    group_may_differ(s, g);
    struct sum a = system_value(s, x, FIRST), b = system_value(s, x, SECOND);
    return !system_may_be_less(s, &a, &b) && !system_may_be_less(s, &b, &a);
}

// Return whether every way through some nodes has a barrier.
static bool clears(struct system *s, const struct group *g,
                   const struct nodes *nodes)
{
    vec_foreach_value(n, nodes) {
        bool all = n->has_sync && clears(s, g, &n->body);
        if (group_meets(g, n) ||
            (n->kind == NODE_BRANCH && all && clears(s, g, &n->otherwise)) ||
            (n->kind == NODE_LOOP && all && !n->scope->may_end &&
             loop_runs(s, n->scope)))
            return true;
    }
    return false;
}

bool group_is_in_step(struct system *s, const struct group *g,
                      const struct node *loop)
{
    int64_t step;
    const struct scope *scope = loop->scope, *around = scope->up;
    return ir_int_value(scope->step, &step) && !scope->may_end &&
           clears(s, g, &loop->body) &&
           group_has_same(s, g, around, scope->from);
}
