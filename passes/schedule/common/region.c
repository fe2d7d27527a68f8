// Regions: what the loops of a stage are to run over.
//
//   for i_0 { for i_1 in 0..128 { ... A[i_0 * 128 + i_1 + 2] ... } }
//
// For loop i_0: base i_0 * 128, extent 130 if A[i_0 * 128 + i_1] is read, too.

#include "passes/schedule/common/region.h"

#include "ir/build.h"
#include "ir/walk.h"

// Let the loop and those around it stand still.
static void fix_loops(const struct sched_region_query *query, struct map *fixed)
{
    struct pass *p = query->pass;
    struct ir_path path = {0};
    ir_find(p->scratch, &p->kernel->body, query->loop, &path);
    for (uint32_t i = 0; i < path.n; i++) {
        const struct ir_stmt *s = path.stmts[i];
        bool moves = query->across_threads && ir_is_over(s, AXIS_THREAD);
        if (s->kind == STMT_for && !moves)
            map_set(fixed, s->u.loop.var, ir_read(p->arena, s->u.loop.var));
    }
}

// Return a dimension of a region for the loops of a stage.
static struct sched_region_dim dim_of(const struct sched_region_query *query,
                                      const struct region *r, uint32_t i)
{
    struct arena *a = query->pass->arena;
    struct type type = type_scalar(TYPE_int);
    const struct region_dim *d = &r->dims[i];
    struct affine one = affine_number(1);
    struct affine base = affine_add(a, &d->base, 1, &d->lo);
    struct affine extent = affine_add(a, &d->hi, -1, &d->lo);
    extent = affine_add(a, &extent, 1, &one);
    if (!d->is_known || base.failed || extent.failed)
        return (struct sched_region_dim){.base = ir_int(a, 0),
                                         .extent = query->buffer->shape[i],
                                         .is_whole = true};
    return (struct sched_region_dim){.base = affine_expr(a, &base, type),
                                     .extent = affine_expr(a, &extent, type),
                                     .is_dense = d->is_dense};
}

struct sched_region sched_region_find(const struct sched_region_query *query)
{
    struct pass *p = query->pass;
    struct map fixed = {.arena = p->scratch};
    struct region_question q = {.arena = p->arena,
                                .scratch = p->scratch,
                                .kernel = p->kernel,
                                .buffer = query->buffer,
                                .more = query->more,
                                .n_more = query->n_more,
                                .within =
                                    query->only ? query->only : query->loop,
                                .access = query->access,
                                .whole_tiles = true,
                                .fixed = &fixed};
    fix_loops(query, &fixed);
    struct region r = region_find(&q);
    struct sched_region region = {.any = r.is_accessed, .n = r.rank};
    region.dims = arena_array(p->arena, struct sched_region_dim, r.rank + 1);
    for (uint32_t i = 0; i < r.rank && region.any; i++)
        region.dims[i] = dim_of(query, &r, i);
    return region;
}

struct sched_region_dim *sched_region_over(struct pass *p, size_t n,
                                           struct ir_expr *const *extents)
{
    struct sched_region_dim *region =
        arena_array(p->scratch, struct sched_region_dim, n + 1);
    for (size_t i = 0; i < n; i++)
        region[i].extent = extents[i];
    return region;
}
