// Blocks of a cluster that are there while others access their shared memory.
//
//   cluster_arrive                          all have come here
//   S[thread.x] = A[thread.x]
//   cluster_wait                            ... before one stores to another
//   P[1 - block.x % 2, thread.x] = S[thread.x]
//   barrier(cluster)
//   B[..] = P[block.x % 2, thread.x]        its own: it may end
//
// A block whose elements another one stores to has to have begun: so all come to
// a barrier first, and wait for it in front of the first such store. A block
// whose elements another one loads or stores must not have ended: so one is
// behind the last such access. If all of these are loads, that barrier is waited
// for at the end; a thread comes to it once its loads have come (cluster_leave):
// on a GPU they may be under way until their values are used.

#include "passes/lower/cluster_life.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/walk.h"

bool cluster_life_matters(const struct ir_launch *launch)
{
    ir_foreach_stmt(s, &launch->body)
        if (s->kind == STMT_alloc && s->u.buffer->of_cluster)
            return true;
    return false;
}

struct cluster_life cluster_life_of(struct mapping *m)
{
    return (struct cluster_life){.m = m, .remote = {.arena = m->p->scratch}};
}

void cluster_life_note(struct cluster_life *c, const struct ir_stmt *s,
                       const struct accesses *own)
{
    vec_foreach_value(x, own)
        if (x->is_remote)
            map_set(&c->remote, s, c);
}

// Return whether a statement accesses elements of other blocks, or just whether
// it stores some, itself or below.
static bool is_remote(const struct cluster_life *c, const struct ir_stmt *stmt,
                      bool only_stores)
{
    ir_foreach_stmt_from(s, stmt) {
        bool stores = s->kind == STMT_store && s->u.store.buffer->of_cluster;
        if ((stores || !only_stores) && map_has(&c->remote, s))
            return true;
    }
    return false;
}

// Return whether all blocks run the one iteration of a loop that is theirs.
static bool is_whole_grid(const struct cluster_life *c, const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_BLOCK) &&
           ir_expr_equal(map_get(&c->m->loop_extents, s),
                         c->m->extent[s->u.loop.axis]);
}

// Put the end of a barrier of the cluster in front of the first store to elements
// of other blocks; false if there is none, or a barrier already.
static bool put_wait(struct cluster_life *c, struct ir_block *block)
{
    struct arena *a = c->m->p->arena;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_barrier && s->u.of_cluster)
            return false;
        if (!is_remote(c, s, true))
            continue;
        if (is_whole_grid(c, s))
            return put_wait(c, &s->u.loop.body);
        struct ir_stmt *wait = ir_stmt_sync(a, SYNC_cluster_wait);
        ir_insert(a, block, i, ir_stmt_from(wait, s));
        return true;
    }
    return false;
}

// Put the begin of a barrier of the cluster behind the last access to elements of
// other blocks.
static void put_arrival(struct cluster_life *c, struct ir_block *block)
{
    struct arena *a = c->m->p->arena;
    for (size_t i = block->n; i-- > 0;) {
        struct ir_stmt *s = block->at[i];
        if (!is_remote(c, s, false))
            continue;
        if (is_whole_grid(c, s)) {
            put_arrival(c, &s->u.loop.body);
            return;
        }
        struct ir_stmt *leave = ir_stmt_sync(a, SYNC_cluster_leave);
        ir_insert(a, block, i + 1, ir_stmt_from(leave, s));
        return;
    }
}

void cluster_life_keep(struct cluster_life *c, const struct accesses *last)
{
    struct arena *a = c->m->p->arena;
    struct ir_block *body = &c->m->launch->body;
    bool stores = false, loads = false;
    vec_foreach_value(x, last) {
        stores |= x->is_remote && x->writes;
        loads |= x->is_remote && !x->writes;
    }
    if (put_wait(c, body))
        ir_insert(a, body, 0, ir_stmt_sync(a, SYNC_cluster_arrive));
    if (stores) {
        ir_append(a, body, ir_stmt_cluster_barrier(a));
    } else if (loads) {
        put_arrival(c, body);
        ir_append(a, body, ir_stmt_sync(a, SYNC_cluster_wait));
    }
}
