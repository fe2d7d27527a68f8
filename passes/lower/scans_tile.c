// The tile of a scan: the elements that a block, or a warp, or a thread holds.
//
// Level n are the elements. From the inside out, each level finds its totals
// and, if lanes or warps share it, what is in front of each of them. From the
// outside in, each thread then runs through its elements behind what is in
// front of them.

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/gpu.h"
#include "passes/lower/scans.h"

// Loops over the serial levels outside of one, and what stands in them.
struct scan_nest {
    struct ir_block *body;
    struct map vars; // the stage's loops to these
    uint32_t n;
    struct ir_expr *index[SCAN_LEVELS]; // their variables
};

// Append a loop like that of a serial level.
static void enter(const struct scanning *c, struct scan_nest *nest, uint32_t k,
                  bool keeps_vector)
{
    struct arena *a = c->pass->arena;
    const struct ir_for *l = &c->levels[k].loop->u.loop;
    struct ir_var *var = scan_var(c, l->var->name, l->var->type, VAR_loop);
    bool is_vector = keeps_vector && l->axis == AXIS_vector;
    struct ir_stmt *s = ir_stmt_for(a, var, l->from, l->to, l->step,
                                    is_vector ? AXIS_vector : AXIS_unroll);
    ir_append(a, nest->body, ir_stmt_from(s, c->levels[k].loop));
    map_set(&nest->vars, l->var, ir_read(a, var));
    nest->index[nest->n++] = ir_read(a, var);
    nest->body = &s->u.loop.body;
}

// Begin without loops.
static struct scan_nest nest_at(const struct scanning *c, struct ir_block *to)
{
    struct scan_nest nest = {.body = to, .vars = {.arena = c->pass->scratch}};
    if (c->blocks)
        map_set(&nest.vars, c->blocks->u.loop.var, c->tile);
    return nest;
}

// Append loops over the serial ones of the first `k` levels.
static struct scan_nest open_nest(const struct scanning *c, struct ir_block *to,
                                  uint32_t k, bool keeps_vector)
{
    struct scan_nest nest = nest_at(c, to);
    for (uint32_t i = 0; i < k; i++)
        if (c->levels[i].kind == SCAN_SERIAL)
            enter(c, &nest, i, keeps_vector);
    return nest;
}

// Return the places in arrays that belong to an iteration.
static struct scan_values values_at(const struct scanning *c,
                                    struct ir_buffer *const *arrays,
                                    const struct scan_nest *nest)
{
    struct arena *a = c->pass->arena;
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        r.at[v].buffer = arrays[v];
        r.at[v].n = arrays[v]->rank;
        r.at[v].index = arena_array(a, struct ir_expr *, arrays[v]->rank);
        for (uint32_t i = 0; i < arrays[v]->rank; i++)
            r.at[v].index[i] = nest->index[i];
    }
    return r;
}

// Return the extents of the serial ones of the first `k` levels.
static struct ir_expr **shape_of(const struct scanning *c, uint32_t k,
                                 uint32_t *rank)
{
    struct arena *a = c->pass->arena;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, SCAN_LEVELS);
    *rank = 0;
    for (uint32_t i = 0; i < k; i++)
        if (c->levels[i].kind == SCAN_SERIAL)
            shape[(*rank)++] = ir_int(a, c->levels[i].extent);
    return shape;
}

// Declare arrays of what each iteration of the first `k` levels has.
static void declare_arrays(const struct scanning *c, struct ir_block *to,
                           uint32_t k, const char *what,
                           struct ir_buffer **arrays)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        uint32_t rank;
        struct ir_expr **shape = shape_of(c, k, &rank);
        arrays[v] = scan_array(c, v, what, SPACE_local, rank, shape);
        scan_add(c, to, ir_stmt_alloc(c->pass->arena, arrays[v]));
    }
}

// Append a stage like that of the scan, for one element.
static struct ir_stmt *add_stage(const struct scanning *c,
                                 const struct scan_nest *nest, const char *name,
                                 struct map *iters)
{
    struct arena *a = c->pass->arena;
    const struct ir_stage *old = &c->stage->u.stage;
    struct ir_stmt *s = ir_stmt_stage(a, str_name(c->pass->names, name));
    vec_foreach(from, &old->iters) {
        struct ir_iter it = *from;
        it.var = scan_var(c, it.var->name, it.var->type, VAR_iter);
        it.binding = ir_substitute(a, it.binding, &nest->vars, NULL);
        it.is_reduce = false;
        map_set(iters, from->var, ir_read(a, it.var));
        vec_push(a, &s->u.stage.iters, it);
    }
    if (old->predicate)
        s->u.stage.predicate =
            ir_substitute(a, old->predicate, &nest->vars, NULL);
    return scan_add(c, nest->body, s);
}

// Return the condition that the last element of the tile exists: then all do.
// Passes behind prove that, or leave the conditions of the elements.
static struct ir_expr *is_whole(const struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct scan_nest nest = nest_at(c, NULL);
    struct ir_expr *one = ir_int(a, 1);
    for (uint32_t k = 0; k < c->n; k++)
        if (c->levels[k].kind == SCAN_SERIAL)
            map_set(&nest.vars, c->levels[k].loop->u.loop.var,
                    ir_int(a, c->levels[k].extent - 1));
    vec_foreach_value(s, &c->threads)
        map_set(&nest.vars, s->u.loop.var, ir_sub(a, s->u.loop.to, one));
    return ir_substitute(a, c->stage->u.stage.predicate, &nest.vars, NULL);
}

// Declare the arrays of what is kept.
static void declare_kept(struct scanning *c, struct ir_block *to)
{
    struct pass *p = c->pass;
    for (uint32_t k = 0; k < c->n_kept; k++) {
        uint32_t rank;
        struct ir_expr **shape = shape_of(c, c->n, &rank);
        const struct ir_buffer *from = c->kept[k].load->u.buffer;
        const char *name = arena_printf(p->scratch, "%s_kept", from->name);
        struct ir_buffer *b = ir_buffer_new(p->arena, str_name(p->names, name),
                                            from->elem, rank, shape);
        b->space = SPACE_local;
        b->span = c->stage->span;
        c->kept[k].array = b;
        scan_add(c, to, ir_stmt_alloc(p->arena, b));
    }
}

// Append what keeps loads of an element.
static void add_kept(const struct scanning *c, struct ir_block *to,
                     const struct scan_nest *nest, const struct map *iters)
{
    struct arena *a = c->pass->arena;
    for (uint32_t k = 0; k < c->n_kept; k++) {
        struct ir_buffer *array = c->kept[k].array;
        struct ir_expr **index = arena_array(a, struct ir_expr *, array->rank);
        for (uint32_t i = 0; i < array->rank; i++)
            index[i] = nest->index[i];
        scan_add(c, to,
                 ir_stmt_store(a, array, array->rank, index,
                               ir_substitute(a, c->kept[k].load, iters, NULL)));
    }
}

// Load each element.
static void load_each(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *x[REDUCER_ARRAYS];
    struct map iters = {.arena = c->pass->scratch};
    struct scan_nest nest = open_nest(c, to, c->n, true);
    struct scan_values at = values_at(c, c->totals[c->n], &nest);
    const char *name =
        arena_printf(c->pass->scratch, "%s.own", c->stage->u.stage.name);
    struct ir_stmt *s = add_stage(c, &nest, name, &iters);
    add_kept(c, &s->u.stage.body, &nest, &iters);
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        x[v] = kept_read(c, reducer_operand(&c->scan.reducer, v), nest.index);
        x[v] = ir_substitute(a, x[v], &iters, NULL);
    }
    scan_write(c, &s->u.stage.body, &at, x);
}

// Load the elements; those that do not exist are the identity.
static void load_elements(struct scanning *c, struct ir_block *to)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    declare_arrays(c, to, c->n, "own", c->totals[c->n]);
    declare_kept(c, to);
    if (c->stage->u.stage.predicate) {
        struct ir_stmt *whole =
            scan_add(c, to, ir_stmt_if(c->pass->arena, is_whole(c)));
        load_each(c, &whole->u.branch.then);
        to = &whole->u.branch.otherwise;
        struct scan_nest none = open_nest(c, to, c->n, true);
        struct scan_values at = values_at(c, c->totals[c->n], &none);
        scan_identity(c, x);
        scan_write(c, none.body, &at, x);
    }
    load_each(c, to);
}

// Store each element; branches are no vectors.
static void store_each(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct map iters = {.arena = c->pass->scratch};
    bool is_plain = !ir_has(&c->scan.elements, STMT_if);
    struct scan_nest nest = open_nest(c, to, c->n, is_plain);
    struct scan_values at = values_at(c, c->totals[c->n], &nest);
    struct ir_stmt *s = add_stage(c, &nest, c->stage->u.stage.name, &iters);
    s->u.stage.body = ir_copy_block(a, &c->scan.elements, NULL, NULL);
    kept_read_in(c, &s->u.stage.body, nest.index);
    ir_substitute_in(a, &s->u.stage.body, &iters, NULL);
    reducer_move(c->pass, &c->scan.reducer, at.at, &s->u.stage.body);
}

// Store the elements, which have taken the places of what was loaded.
static void store_elements(struct scanning *c, struct ir_block *to)
{
    if (c->stage->u.stage.predicate) {
        struct ir_stmt *whole =
            scan_add(c, to, ir_stmt_if(c->pass->arena, is_whole(c)));
        store_each(c, &whole->u.branch.then);
        to = &whole->u.branch.otherwise;
    }
    store_each(c, to);
}

// Let a thread combine what it holds of a serial level.
static void total_serial(struct scanning *c, uint32_t k, struct scan_nest *nest)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    struct scan_values out = values_at(c, c->totals[k], nest);
    struct ir_block *outside = nest->body;
    scan_identity(c, x);
    struct scan_values run = scan_declare_values(c, outside, "sum", x);
    enter(c, nest, k, false);
    struct scan_values in = values_at(c, c->totals[k + 1], nest);
    scan_read(c, &in, x);
    scan_combine(c, nest->body, &run, x);
    scan_read(c, &run, x);
    scan_write(c, outside, &out, x);
}

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
    struct scan_values in = values_at(c, c->totals[k + 1], nest);
    struct scan_values before = values_at(c, level->before, nest);
    scan_read(c, &in, x);
    struct scan_values run = scan_declare_values(c, to, "lane", x);
    scan_lanes(c, to, &run, level->number, level->extent);
    scan_shuffle(c, to, OP_shuffle_up, &run, ir_int(a, 1), x);
    write_before(c, to, level, &before, x);
    if (!needs_total)
        return;
    struct scan_values out = values_at(c, c->totals[k], nest);
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
    struct scan_values in = values_at(c, c->totals[k + 1], nest);
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
    struct scan_values before = values_at(c, level->before, nest);
    struct ir_expr *previous =
        ir_add(a, level->number, ir_int(a, WARP_LANES - 1));
    scan_shuffle(c, to, OP_shuffle, &run,
                 ir_binary(a, OP_mod, previous, ir_int(a, WARP_LANES)), x);
    write_before(c, to, level, &before, x);
    struct scan_values out = values_at(c, c->totals[k], nest);
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
    struct scan_values in = values_at(c, c->totals[k + 1], nest);
    struct scan_values part = part_at(c, parts, level->number);
    scan_read(c, &in, x);
    scan_write(c, to, &part, x);
    scan_add(c, to, ir_stmt_barrier(c->pass->arena));
    struct scan_values before = values_at(c, level->before, nest);
    scan_identity(c, x);
    struct scan_values run = scan_declare_values(c, to, "warp", x);
    scan_write(c, to, &before, x);
    pass_parts(c, to, level, parts, &before, &run);
    struct scan_values out = values_at(c, c->totals[k], nest);
    scan_read(c, &run, x);
    scan_write(c, to, &out, x);
}

void scan_up(struct scanning *c, struct ir_block *to, bool needs_total)
{
    load_elements(c, to);
    for (uint32_t k = c->n; k-- > 0;) {
        struct scan_level *level = &c->levels[k];
        bool is_wanted = k > 0 || needs_total;
        if (level->kind == SCAN_SERIAL && !is_wanted)
            continue;
        declare_arrays(c, to, k, "total", c->totals[k]);
        if (level->kind != SCAN_SERIAL)
            declare_arrays(c, to, k, "before", level->before);
        struct scan_nest nest = open_nest(c, to, k, false);
        switch (level->kind) {
        case SCAN_SERIAL: total_serial(c, k, &nest); break;
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

// Put an element behind those in `run`, or `run` in its place.
static void finish_element(struct scanning *c, const struct scan_nest *nest,
                           const struct scan_values *run)
{
    struct ir_expr *x[REDUCER_ARRAYS], *own[REDUCER_ARRAYS];
    struct scan_values at = values_at(c, c->totals[c->n], nest);
    scan_read(c, &at, own);
    if (c->scan.is_inclusive) {
        scan_combine(c, nest->body, run, own);
        scan_read(c, run, x);
        scan_write(c, nest->body, &at, x);
        return;
    }
    struct scan_values kept = scan_declare_values(c, nest->body, "kept", own);
    scan_read(c, run, x);
    scan_write(c, nest->body, &at, x);
    scan_read(c, &kept, own);
    scan_combine(c, nest->body, run, own);
}

// Finish the elements of level k and those inside, behind those in `run`, which
// it may change.
static void finish(struct scanning *c, uint32_t k, struct scan_nest *nest,
                   const struct scan_values *run)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    if (k == c->n) {
        finish_element(c, nest, run);
        return;
    }
    if (c->levels[k].kind != SCAN_SERIAL) {
        struct scan_values before = values_at(c, c->levels[k].before, nest);
        scan_read(c, &before, x);
        scan_combine(c, nest->body, run, x);
        finish(c, k + 1, nest, run);
        return;
    }
    enter(c, nest, k, false);
    if (k + 1 == c->n) {
        finish(c, k + 1, nest, run);
        return;
    }
    struct ir_block *body = nest->body;
    struct scan_values in = values_at(c, c->totals[k + 1], nest);
    scan_read(c, run, x);
    struct scan_values inner = scan_declare_values(c, body, "inner", x);
    finish(c, k + 1, nest, &inner);
    scan_read(c, &in, x);
    scan_combine(c, body, run, x);
}

void scan_down(struct scanning *c, struct ir_block *to,
               const struct scan_values *run)
{
    struct scan_nest nest = nest_at(c, to);
    finish(c, 0, &nest, run);
    store_elements(c, to);
}

struct scan_values scan_total(const struct scanning *c)
{
    struct scan_nest none = {0};
    return values_at(c, c->totals[0], &none);
}
