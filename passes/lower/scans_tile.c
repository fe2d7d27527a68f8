// The tile of a scan: the elements that a block, or a warp, or a thread holds.
//
// Level n are the elements. From the inside out, each level finds its totals
// and, if lanes or warps share it, what is in front of each of them. From the
// outside in, each thread then runs through its elements behind what is in
// front of them (scans_store.c).

#include "ir/build.h"
#include "ir/gpu.h"
#include "passes/lower/scans.h"

// Store what is in front of this lane or warp: what the one before has, nothing
// in front of the first.
static void write_before(struct scanning *c, struct ir_block *to,
                         const struct scan_level *level,
                         const struct scan_values *before,
                         struct ir_expr *const *previous)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *x[REDUCER_ARRAYS];
    struct ir_expr *is_first = scan_compare(c, OP_eq, level->number, 0);
    scan_identity(c, x);
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        x[v] = ir_select(a, is_first, x[v], previous[v]);
    scan_write(c, to, before, x);
}

// Let lanes exchange what they have.
static void total_lanes(struct scanning *c, uint32_t k, struct scan_nest *nest,
                        bool needs_total)
{
    struct arena *a = c->pass->arena;
    const struct scan_level *level = &c->levels[k];
    struct ir_expr *x[REDUCER_ARRAYS];
    struct ir_block *to = nest->body;
    struct scan_values in = nest_values(c, c->totals[k + 1], nest);
    struct scan_values before = nest_values(c, level->before, nest);
    scan_read(c, &in, x);
    struct scan_values run = scan_declare_values(c, to, "lane", x);
    scan_lanes(c, to, &run, level->number, level->extent);
    scan_shuffle(c, to, OP_shuffle_up, &run, ir_int(a, 1), x);
    write_before(c, to, level, &before, x);
    if (!needs_total)
        return;
    struct scan_values out = nest_values(c, c->totals[k], nest);
    struct ir_expr *last = ir_int(a, level->extent - 1);
    bool is_warp = level->extent == WARP_LANES;
    scan_shuffle(c, to, is_warp ? OP_shuffle : OP_shuffle_down, &run,
                 is_warp ? last : ir_sub(a, last, level->number), x);
    scan_write(c, to, &out, x);
}

// Return the place of the part of a warp, one array for each group of threads;
// where lanes have a scan each, neighbours of them beside one another.
static struct scan_values part_at(struct scanning *c,
                                  struct ir_buffer *const *parts,
                                  struct ir_expr *number)
{
    struct arena *a = c->pass->arena;
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        struct reducer_place *at = &r.at[v];
        at->buffer = parts[v];
        at->index = arena_array(a, struct ir_expr *, parts[v]->rank);
        if (!scan_lane(c))
            at->index[at->n++] = number;
        vec_foreach_value(s, &c->outer)
            at->index[at->n++] = ir_read(a, s->u.loop.var);
        if (scan_lane(c))
            at->index[at->n++] = number;
    }
    return r;
}

// Declare the parts of warps in shared memory.
static void declare_parts(struct scanning *c, int64_t warps,
                          struct ir_buffer **parts)
{
    struct arena *a = c->pass->arena;
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        uint32_t rank = 0;
        struct ir_expr **shape =
            arena_array(a, struct ir_expr *, c->outer.n + 1);
        if (!scan_lane(c))
            shape[rank++] = ir_int(a, warps);
        vec_foreach_value(s, &c->outer)
            shape[rank++] = s->u.loop.to;
        if (scan_lane(c))
            shape[rank++] = ir_int(a, warps);
        parts[v] = scan_array(c, v, "part", SPACE_shared, rank, shape);
        scan_add(c, &c->shared, ir_stmt_alloc(a, parts[v]));
    }
}

// Let warps exchange what they have: each scans the parts of all.
static void total_warps(struct scanning *c, uint32_t k, struct scan_nest *nest)
{
    struct arena *a = c->pass->arena;
    const struct scan_level *level = &c->levels[k];
    struct ir_expr *x[REDUCER_ARRAYS], *lane = scan_lane(c);
    struct ir_buffer *parts[REDUCER_ARRAYS];
    struct ir_block *to = nest->body;
    declare_parts(c, level->extent, parts);
    struct scan_values in = nest_values(c, c->totals[k + 1], nest);
    struct scan_values part = part_at(c, parts, level->number);
    struct ir_stmt *first =
        scan_add(c, to, ir_stmt_if(a, scan_compare(c, OP_eq, lane, 0)));
    scan_read(c, &in, x);
    scan_write(c, &first->u.branch.then, &part, x);
    scan_add(c, to, ir_stmt_barrier(a));
    part = part_at(c, parts, lane);
    scan_identity(c, x);
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        x[v] = ir_select(a, scan_compare(c, OP_lt, lane, level->extent),
                         reducer_read(a, &part.at[v]), x[v]);
    struct scan_values run = scan_declare_values(c, to, "warp", x);
    scan_lanes(c, to, &run, lane, level->extent);
    struct scan_values before = nest_values(c, level->before, nest);
    struct ir_expr *previous =
        ir_add(a, level->number, ir_int(a, WARP_LANES - 1));
    scan_shuffle(c, to, OP_shuffle, &run,
                 ir_binary(a, OP_mod, previous, ir_int(a, WARP_LANES)), x);
    write_before(c, to, level, &before, x);
    struct scan_values out = nest_values(c, c->totals[k], nest);
    scan_shuffle(c, to, OP_shuffle, &run, ir_int(a, level->extent - 1), x);
    scan_write(c, to, &out, x);
}

// Append the way of a thread through the parts of all warps: `before` has what
// is in front of its own, `run` in the end all.
static void pass_parts(struct scanning *c, struct ir_block *to,
                       const struct scan_level *level,
                       struct ir_buffer *const *parts,
                       const struct scan_values *before,
                       const struct scan_values *run)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *x[REDUCER_ARRAYS];
    struct ir_var *var = scan_var(c, "w", type_scalar(TYPE_int), VAR_loop);
    struct ir_expr *w = ir_read(a, var);
    struct ir_stmt *all =
        scan_add(c, to,
                 ir_stmt_for(a, var, ir_int(a, 0), ir_int(a, level->extent),
                             ir_int(a, 1), AXIS_unroll));
    struct ir_block *body = &all->u.loop.body;
    struct ir_stmt *own =
        scan_add(c, body, ir_stmt_if(a, ir_binary(a, OP_eq, level->number, w)));
    scan_read(c, run, x);
    scan_write(c, &own->u.branch.then, before, x);
    struct scan_values part = part_at(c, parts, w);
    scan_read(c, &part, x);
    scan_combine(c, body, run, x);
}

// The same where each lane has a scan of its own: it goes through the parts.
static void total_alone(struct scanning *c, uint32_t k, struct scan_nest *nest)
{
    const struct scan_level *level = &c->levels[k];
    struct ir_expr *x[REDUCER_ARRAYS];
    struct ir_buffer *parts[REDUCER_ARRAYS];
    struct ir_block *to = nest->body;
    declare_parts(c, level->extent, parts);
    struct scan_values in = nest_values(c, c->totals[k + 1], nest);
    struct scan_values part = part_at(c, parts, level->number);
    scan_read(c, &in, x);
    scan_write(c, to, &part, x);
    scan_add(c, to, ir_stmt_barrier(c->pass->arena));
    struct scan_values before = nest_values(c, level->before, nest);
    scan_identity(c, x);
    struct scan_values run = scan_declare_values(c, to, "warp", x);
    scan_write(c, to, &before, x);
    pass_parts(c, to, level, parts, &before, &run);
    struct scan_values out = nest_values(c, c->totals[k], nest);
    scan_read(c, &run, x);
    scan_write(c, to, &out, x);
}

void scan_up(struct scanning *c, struct ir_block *to, bool needs_total)
{
    load_elements(c, to);
    for (uint32_t k = c->n; k-- > 0;) {
        struct scan_level *level = &c->levels[k];
        bool is_wanted = k > 0 || needs_total;
        bool is_done = k + 1 == c->n && load_is_early(c);
        if (level->kind == SCAN_SERIAL && (!is_wanted || is_done))
            continue;
        nest_arrays(c, to, k, "total", c->totals[k]);
        if (level->kind != SCAN_SERIAL)
            nest_arrays(c, to, k, "before", level->before);
        struct scan_nest nest = nest_open(c, to, k, false);
        switch (level->kind) {
        case SCAN_SERIAL: load_total(c, k, &nest); break;
        case SCAN_LANES: total_lanes(c, k, &nest, is_wanted); break;
        case SCAN_WARPS:
            if (scan_lane(c))
                total_warps(c, k, &nest);
            else
                total_alone(c, k, &nest);
            break;
        }
    }
}

struct scan_values scan_total(const struct scanning *c)
{
    struct scan_nest none = {0};
    return nest_values(c, c->totals[0], &none);
}
