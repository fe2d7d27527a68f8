// Runs the blocks of grids, of loops and of launches: one after another, or
// round-robin if a block may wait for another; cluster after cluster where only
// blocks of a cluster do, as they share arrays.
//
// Blocks in a round-robin begin in order. Each has shared arrays of its own,
// and all are resident at the same time.

#include "ir/eval_code.h"
#include "ir/walk.h"

#include <stdlib.h>

// The blocks of a loop, or of a launch, that run round-robin.
struct blocks {
    struct turns turns;
    const struct action *action;
    const struct group *parent;    // of one thread
    struct range range;            // of a loop
    const int64_t *grid;           // of a launch
    struct cluster_state *cluster; // of a launch whose clusters share arrays
    int64_t first[3];              // block of it
};

// Tell a thread which one it is, of which block.
static void place_thread(struct thread *t, const int64_t *grid, int64_t block,
                         const struct ir_launch *l, uint32_t number)
{
    t->index[AXIS_block_x] = block % grid[0];
    t->index[AXIS_block_y] = block / grid[0] % grid[1];
    t->index[AXIS_block_z] = block / grid[0] / grid[1];
    t->index[AXIS_thread_x] = number % l->block[0];
    t->index[AXIS_thread_y] = number / l->block[0] % l->block[1];
    t->index[AXIS_thread_z] = number / l->block[0] / l->block[1];
    for (int d = 0; d < 3; d++) {
        t->place[d] = t->index[AXIS_thread_x + d];
        t->block[d] = l->block[d];
    }
}

// Return how many threads a block of a launch has.
static uint32_t threads_of(const struct ir_launch *l)
{
    return l->block[0] * l->block[1] * l->block[2];
}

// Free the shared arrays of a block.
static void free_shared(struct machine *m, void **shared)
{
    for (size_t i = 0; i < m->arrays.n; i++)
        free(shared[i]);
    free(shared);
}

// Return which block of the grid one of a round-robin is.
static int64_t number_in_grid(const struct blocks *all, int64_t number)
{
    const uint32_t *n = all->action->origin->u.launch.cluster;
    if (!all->cluster)
        return number;
    int64_t x = all->first[0] + number % n[0];
    int64_t y = all->first[1] + number / n[0] % n[1];
    int64_t z = all->first[2] + number / n[0] / n[1];
    return (z * all->grid[1] + y) * all->grid[0] + x;
}

// Run a block of a round-robin: an iteration, or the threads of a launch.
static void run_block(const struct turns *turns, size_t number)
{
    const struct blocks *all = (const struct blocks *)turns;
    const struct action *s = all->action;
    const struct ir_launch *l = all->grid ? &s->origin->u.launch : NULL;
    struct machine *m = turns->machine;
    void **shared = calloc(m->arrays.n + 1, sizeof *shared);
    struct group g = eval_group_new(all->parent, l ? threads_of(l) : 1);
    if (!shared)
        eval_stop(m, EVAL_FAULT, turns->span, "no memory for blocks");
    for (size_t i = 0; i < g.n; i++) {
        g.at[i]->shared = shared;
        g.at[i]->cluster = all->cluster;
        if (l)
            place_thread(g.at[i], all->grid,
                         number_in_grid(all, (int64_t)number), l, (uint32_t)i);
        else
            g.at[i]->frame[s->slot].i =
                all->range.from + (int64_t)number * all->range.step;
    }
    if (!m->is_stopped && eval_begin_iteration(m, s))
        eval_run_group(&g, &s->body);
    eval_group_free(&g);
    if (shared)
        free_shared(m, shared);
}

void eval_block_loop(const struct group *g, const struct action *s,
                     const struct range *r)
{
    struct machine *m = g->at[0]->machine;
    struct blocks all = {
        .turns = {m, s->origin->span,
                  (size_t)((r->to - r->from - 1) / r->step) + 1, run_block},
        .action = s,
        .parent = g,
        .range = *r};
    eval_turns(&all.turns);
}

// Run the blocks of a launch one after another: `g` has a thread each, or one
// that plays them all.
static void run_in_order(struct group *g, const struct action *s,
                         const int64_t *grid)
{
    const struct ir_launch *l = &s->origin->u.launch;
    uint32_t threads = threads_of(l);
    int64_t blocks = grid[0] * grid[1] * grid[2];
    struct machine *m = g->at[0]->machine;
    bool meets = s->has_barrier || s->joint;
    for (int64_t block = 0; block < blocks; block++) {
        if (!eval_step(m, s->origin))
            return;
        m->epoch++;
        for (uint32_t i = 0; i < threads; i++) {
            place_thread(g->at[i % g->n], grid, block, l, i);
            if (!meets)
                eval_run_actions(g->at[0], &s->body);
        }
        if (meets)
            eval_run_group(g, &s->body);
    }
}

void eval_cluster_barrier(struct thread *t, struct span span)
{
    struct cluster_state *c = t->cluster;
    if (!c)
        return;
    uint64_t before = c->meetings;
    t->machine->events++;
    if (++c->arrived == c->blocks) {
        c->arrived = 0;
        c->meetings++;
    }
    while (c->meetings == before && !t->machine->is_stopped)
        eval_pause(t->machine, span);
}

// Return whether the blocks of a cluster share an array.
static bool shares_arrays(const struct ir_launch *l)
{
    ir_foreach_stmt(s, &l->body)
        if (s->kind == STMT_alloc && s->u.buffer->of_cluster)
            return true;
    return false;
}

// Run the clusters of a launch one after another.
static void run_clusters(const struct group *alone, const struct action *s,
                         const int64_t *grid)
{
    const uint32_t *n = s->origin->u.launch.cluster;
    struct machine *m = alone->at[0]->machine;
    int64_t clusters = grid[0] / n[0] * (grid[1] / n[1]) * (grid[2] / n[2]);
    for (int64_t i = 0; i < clusters && eval_step(m, s->origin); i++) {
        struct cluster_state c = {
            .blocks = (size_t)n[0] * n[1] * n[2],
            .shared = calloc(m->arrays.n + 1, sizeof *c.shared)};
        struct blocks all = {
            .turns = {m, s->origin->span, c.blocks, run_block},
            .action = s,
            .parent = alone,
            .grid = grid,
            .cluster = &c,
            .first = {i % (grid[0] / n[0]) * n[0],
                      i / (grid[0] / n[0]) % (grid[1] / n[1]) * n[1],
                      i / (grid[0] / n[0]) / (grid[1] / n[1]) * n[2]}};
        if (!c.shared) {
            eval_stop(m, EVAL_FAULT, s->origin->span, "no memory for blocks");
            return;
        }
        eval_turns(&all.turns);
        free_shared(m, c.shared);
    }
}

// Compute the grid of a launch; false after a fault.
static bool find_grid(struct thread *t, const struct action *s, int64_t *grid)
{
    const struct ir_launch *l = &s->origin->u.launch;
    const struct code *extents[3] = {s->x, s->y, s->z};
    for (int d = 0; d < 3; d++)
        grid[d] = eval_run(t, extents[d]).i;
    for (int d = 0; d < 3; d++) {
        enum axis axis = (enum axis)(AXIS_block_x + d);
        if (grid[d] < 0 || grid[d] > axis_most(axis))
            eval_stop(t->machine, grid[d] < 0 ? EVAL_FAULT : EVAL_REFUSED,
                      s->origin->span, "the grid has %lld blocks along %s",
                      (long long)grid[d], axis_name(axis));
        if (grid[d] % l->cluster[d])
            eval_stop(t->machine, EVAL_FAULT, s->origin->span,
                      "the grid has %lld blocks along %s, no multiple of those "
                      "of a cluster",
                      (long long)grid[d], axis_name(axis));
    }
    return !t->machine->is_stopped;
}

void eval_launch(struct thread *t, const struct action *s)
{
    int64_t grid[3];
    const struct group alone = {&t, 1, 0, 0};
    if (!find_grid(t, s, grid))
        return;
    if (t->machine->kernel->level < LEVEL_launch) {
        eval_run_actions(t, &s->body);
        return;
    }
    if (shares_arrays(&s->origin->u.launch)) {
        run_clusters(&alone, s, grid);
        return;
    }
    if (s->waits) {
        struct blocks all = {.turns = {t->machine, s->origin->span,
                                       (size_t)(grid[0] * grid[1] * grid[2]),
                                       run_block},
                             .action = s,
                             .parent = &alone,
                             .grid = grid};
        eval_turns(&all.turns);
        return;
    }
    bool meets = s->has_barrier || s->joint;
    struct group g =
        eval_group_new(&alone, meets ? threads_of(&s->origin->u.launch) : 1);
    if (!t->machine->is_stopped)
        run_in_order(&g, s, grid);
    eval_group_free(&g);
}
