// stream -- stream-K: divide a nest of tiles and their reductions equally among
// blocks.
//
//   for t in 0..T { for k in 0..K {
//     stage S(vt = t, reduce vk = k) { init { S[vt] = 0 }
//                                      S[vt] = S[vt] + X[vt, vk] }
//   } }
//     =>   part = stream(t, k, 8)          q: ceildiv(T * K, 8), at least 1
//   for t_0 in 0..8 { for t_1 in 0..tiles(t_0) { for k in 0..length(t_0, t_1) {
//     stage S_part(vt_0 = t_0, vt_1 = t_1, reduce vk = k) {
//       init { S_part[vt_1, vt_0] = 0 }
//       S_part[vt_1, vt_0] = S_part[vt_1, vt_0] + X[tile, from + vk] }
//   } } }
//   for t in 0..T { for k in 0..ceildiv(K, q) + 1 {
//     stage S(vt = t, reduce vk = k) {
//       init { S[vt] = 0 }
//       if t * K / q + vk < ceildiv((t + 1) * K, q) {
//         S[vt] = S[vt] + S_part[..., t * K / q + vk] } }
//   } }
//
// The T * K iterations of both loops, tile after tile, are cut into as many
// ranges as there are blocks, all of the same length but for the last ones: a
// block begins and ends within a tile, and has some tiles in full where K is
// less than its range.  It has a partial result for each of its tiles; those of
// a tile are added up in the order of the blocks.  The first ones of all blocks
// lie before their second ones, so that no stride depends on a size.  Other
// loops that select elements are dimensions of the partial results, too.
// Conditions on the reduction move into the body of the partial stage, so that
// each of its elements has a value.
//
// Requires:
//  1. the tiles' loop is around that of the reduction, and with only loops in
//     between around one stage                                   E0609 E0610
//                                                                E0612 E0645
//  2. partial results may be combined in any order               E0646
//  3. the first loop selects elements, the second one counts the reduction,
//     and no loop of the nest does both                          E0647 E0871
//  4. extents follow from the sizes, loops count from 0 in
//     steps of 1                                                 E0611 E0623
//                                                                E0649
//  5. both loops are serial, without annotation                  E0607 E0608
//  6. there is at least one block                                E0870

#include "passes/schedule/common/parts.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"

// What is shared, and numbers that follow from the sizes.
struct sharing {
    struct parts parts;           // `loop` is that of the tiles
    struct ir_stmt *inner;        // the loop of the reduction
    struct ir_expr *blocks, *all; // of the blocks, of all iterations
    struct ir_expr *share;        // iterations of a block
    struct ir_expr *k, *divisor;  // iterations of a tile; and at least 1
    uint32_t selecting;           // loops of the nest that select elements
};

// Check that one loop selects tiles and the other one counts the reduction.
static bool check_loops(const struct sched_call *c, const struct sharing *f)
{
    const struct parts *q = &f->parts;
    if (parts_role(q, f->inner) != STAGE_REDUCES)
        return parts_refuse(c, D_rfactor_loop, f->inner, q->stage,
                            "no reduction");
    return parts_role(q, q->loop) == STAGE_SELECTS ||
           parts_refuse(c, D_stream_tiles, q->loop, q->stage,
                        "does not select");
}

// Check that what follows from the extents of the nest can be said by sizes.
static bool check_extents(const struct sched_call *c, struct sharing *f)
{
    const struct parts *q = &f->parts;
    for (uint32_t i = q->top; i + 1 < q->path.n; i++) {
        struct ir_stmt *s = q->path.stmts[i];
        bool selects = parts_role(q, s) & STAGE_SELECTS;
        f->selecting += selects;
        if (!sched_check_from_zero(c, s))
            return false;
        if ((selects || s == f->inner) && !parts_check_extent(c, q, s))
            return false;
    }
    return true;
}

// Check the number of blocks.
static bool check_blocks(const struct sched_call *c, const struct sharing *f)
{
    if (c->args.at[2].number >= 1)
        return true;
    return sched_refuse_at(c, c->args.at[2].span, f->parts.loop, "to be shared",
                           D_stream_blocks, (long long)c->args.at[2].number);
}

// Check every precondition.
static bool check(const struct sched_call *c, struct sharing *f)
{
    struct ir_stmt *both[] = {f->parts.loop, f->inner};
    return sched_check_distinct(c, both, 2) &&
           sched_check_nested(c, both, 2, true) &&
           sched_check_serial(c, both[0]) && sched_check_plain(c, both[0]) &&
           sched_check_serial(c, both[1]) && sched_check_plain(c, both[1]) &&
           parts_find_nest(c, &f->parts) && parts_check_roles(c, &f->parts) &&
           check_loops(c, f) && check_extents(c, f) && check_blocks(c, f);
}

// Set the numbers that follow from the sizes.
static void set_numbers(const struct sched_call *c, struct sharing *f)
{
    struct arena *a = f->parts.pass->arena;
    struct ir_expr *one = ir_int(a, 1);
    struct ir_expr *tiles = parts_extent(&f->parts, f->parts.loop);
    struct facts facts;
    facts_start(&facts, f->parts.pass->scratch, f->parts.pass->kernel);
    f->k = parts_extent(&f->parts, f->inner);
    f->divisor = ir_binary(a, OP_max, f->k, one);
    f->all = fold_expr(a, &facts, ir_mul(a, tiles, f->k));
    f->blocks = ir_int(a, c->args.at[2].number);
    f->share =
        ir_binary(a, OP_max, ir_binary(a, OP_ceildiv, f->all, f->blocks), one);
}

// Return the first iteration of a block, as far as there is one.
static struct ir_expr *first_of(const struct sharing *f, struct ir_expr *block)
{
    return ir_mul(f->parts.pass->arena, block, f->share);
}

// Return the iteration behind the last one of a block.
static struct ir_expr *end_of(const struct sharing *f, struct ir_expr *block)
{
    struct arena *a = f->parts.pass->arena;
    struct ir_expr *next = ir_add(a, block, ir_int(a, 1));
    return ir_binary(a, OP_min, first_of(f, next), f->all);
}

// Return the tile in which a block begins.
static struct ir_expr *first_tile(const struct sharing *f,
                                  struct ir_expr *block)
{
    return ir_binary(f->parts.pass->arena, OP_div, first_of(f, block),
                     f->divisor);
}

// Return how many tiles a block has iterations of at most.
static struct ir_expr *tiles_most(const struct sharing *f)
{
    struct arena *a = f->parts.pass->arena;
    return ir_add(a, ir_binary(a, OP_ceildiv, f->share, f->divisor),
                  ir_int(a, 1));
}

// Return how many tiles a block has iterations of; that these are no more than
// the most of any is for those that prove bounds.
static struct ir_expr *tiles_of(const struct sharing *f, struct ir_expr *block)
{
    struct arena *a = f->parts.pass->arena;
    struct ir_expr *end =
        ir_binary(a, OP_ceildiv, end_of(f, block), f->divisor);
    struct ir_expr *n = ir_sub(a, end, first_tile(f, block));
    return ir_binary(a, OP_min, ir_binary(a, OP_max, n, ir_int(a, 0)),
                     tiles_most(f));
}

// Return how many blocks have iterations of a tile at most.
static struct ir_expr *blocks_most(const struct sharing *f)
{
    struct arena *a = f->parts.pass->arena;
    return ir_add(a, ir_binary(a, OP_ceildiv, f->k, f->share), ir_int(a, 1));
}

// A tile of a block.
struct segment {
    struct ir_expr *tile, *from, *length; // its number; its iterations
};

// Return tile number `n` of a block's, which has an iteration; that is for those
// that prove that loops run.
static struct segment segment_of(const struct sharing *f, struct ir_expr *block,
                                 struct ir_expr *n)
{
    struct arena *a = f->parts.pass->arena;
    struct segment s = {.tile = ir_add(a, first_tile(f, block), n)};
    struct ir_expr *before = ir_mul(a, s.tile, f->k);
    struct ir_expr *first = ir_sub(a, first_of(f, block), before);
    struct ir_expr *end = ir_sub(a, end_of(f, block), before);
    s.from = ir_binary(a, OP_max, first, ir_int(a, 0));
    s.length = ir_sub(a, ir_binary(a, OP_min, end, f->k), s.from);
    s.length = ir_binary(a, OP_max, s.length, ir_int(a, 1));
    return s;
}

// A nest in the making.
struct making {
    const struct sharing *f;
    struct ir_block nest, *innermost;
    struct ir_stmt *stage;
    struct map loops; // of the old nest, to what they are in the new one
    struct map iters; // these and the old stage's variables, in the new stage
    struct reducer_place part; // where a partial result is; of any array
};

// Return a making of a nest around the stage `name`.
static void begin(struct making *m, const struct sharing *f, const char *name)
{
    struct arena *scratch = f->parts.pass->scratch;
    *m = (struct making){
        .f = f, .loops = {.arena = scratch}, .iters = {.arena = scratch}};
    m->stage = parts_new_stage(&f->parts, name);
    m->innermost = &m->nest;
    m->part.index =
        arena_array(f->parts.pass->arena, struct ir_expr *, f->selecting + 1);
}

// Append a loop inside of those so far; returns what reads its variable.
static struct ir_expr *append(struct making *m, struct ir_stmt *loop)
{
    ir_append(m->f->parts.pass->arena, m->innermost, loop);
    m->innermost = &loop->u.loop.body;
    return ir_read(m->f->parts.pass->arena, loop->u.loop.var);
}

// Append a copy of a loop that runs to `to`, in the same way.
static struct ir_expr *append_copy(struct making *m, const struct ir_stmt *old,
                                   struct ir_expr *to)
{
    return append(m, parts_copy_loop(&m->f->parts, old, to));
}

// Add an iteration variable of that extent, bound to a loop; returns what
// reads it.
static struct ir_expr *append_iter(struct making *m, const char *name,
                                   struct ir_expr *extent, struct ir_expr *loop,
                                   bool is_reduce)
{
    const struct parts *q = &m->f->parts;
    struct ir_var *var =
        parts_add_iter(q, &m->stage->u.stage, name, extent, loop, is_reduce);
    return ir_read(q->pass->arena, var);
}

// Append the loops over blocks and their tiles.
static struct segment append_tiles(struct making *m, struct segment *of_loops)
{
    const struct sharing *f = m->f;
    struct pass *p = f->parts.pass;
    const struct ir_stmt *old = f->parts.loop;
    const char *name = parts_iter_name(&f->parts, old);
    struct ir_expr *loops[2], *iters[2];
    struct ir_expr *extents[] = {f->blocks, tiles_most(f)};
    for (int i = 0; i < 2; i++) {
        struct ir_expr *to = i ? tiles_of(f, loops[0]) : f->blocks;
        struct ir_var *var = sched_new_var(
            p, old, arena_printf(p->scratch, "%s_%d", old->u.loop.var->name, i),
            old->u.loop.var->span);
        loops[i] = append(m, sched_new_loop(p, var, to, old->span));
        iters[i] = append_iter(m, arena_printf(p->scratch, "%s_%d", name, i),
                               extents[i], loops[i], false);
        m->part.index[m->part.n + 1 - i] = iters[i];
    }
    m->part.n += 2;
    *of_loops = segment_of(f, loops[0], loops[1]);
    return segment_of(f, iters[0], iters[1]);
}

// Append the loops and variables of the partial stage.
static void append_parts(struct making *m)
{
    const struct parts *q = &m->f->parts;
    struct arena *a = q->pass->arena;
    struct segment loops = {0}, iters = {0};
    for (uint32_t i = q->top; i + 1 < q->path.n; i++) {
        const struct ir_stmt *old = q->path.stmts[i];
        const struct ir_for *l = &old->u.loop;
        bool is_inner = old == m->f->inner;
        bool selects = parts_role(q, old) & STAGE_SELECTS;
        if (old == q->loop) {
            iters = append_tiles(m, &loops);
            map_set(&m->loops, l->var, loops.tile);
            map_set(&m->iters, l->var, iters.tile);
            continue;
        }
        struct ir_expr *loop =
            append_copy(m, old, is_inner ? loops.length : l->to);
        struct ir_expr *iter =
            append_iter(m, parts_iter_name(q, old), l->to, loop, !selects);
        if (selects)
            m->part.index[m->part.n++] = iter;
        map_set(&m->loops, l->var,
                is_inner ? ir_add(a, loops.from, loop) : loop);
        map_set(&m->iters, l->var,
                is_inner ? ir_add(a, iters.from, iter) : iter);
    }
}

// Return the same place in the array of number `i` of the partial results.
static struct reducer_place place_in(const struct making *m, size_t i)
{
    struct reducer_place at = m->part;
    at.buffer = m->f->parts.buffers[i];
    return at;
}

// Make the stage of the partial results with its loops.
static struct making make_partial(const struct sharing *f)
{
    const struct parts *q = &f->parts;
    struct arena *a = q->pass->arena;
    struct reducer_place places[REDUCER_ARRAYS];
    struct ir_expr *inner = parts_predicate(q, true);
    struct ir_expr *outer = parts_predicate(q, false);
    struct making m;
    begin(&m, f, q->buffers[0]->name);
    append_parts(&m);
    vec_foreach(it, &q->stage->u.stage.iters)
        map_set(&m.iters, it->var,
                ir_substitute(a, it->binding, &m.iters, NULL));
    for (size_t i = 0; i < q->reducer.n; i++)
        places[i] = place_in(&m, i);
    m.stage->u.stage.init = parts_init(q, places);
    m.stage->u.stage.body =
        reducer_body(q->pass, &q->reducer, places, &m.iters);
    if (outer)
        m.stage->u.stage.predicate = ir_substitute(a, outer, &m.loops, NULL);
    if (inner)
        parts_guard(q, m.stage, ir_substitute(a, inner, &m.iters, NULL));
    ir_append(a, m.innermost, m.stage);
    return m;
}

// Append the loops of the stage that combines, and bind its variables to them.
// Returns what counts the blocks of a tile.
static struct ir_expr *append_final(struct making *m)
{
    const struct parts *q = &m->f->parts;
    const struct ir_stage *old = &q->stage->u.stage;
    struct arena *a = q->pass->arena;
    struct ir_expr *loop = NULL;
    for (uint32_t i = q->top; i + 1 < q->path.n; i++) {
        const struct ir_stmt *s = q->path.stmts[i];
        const struct ir_for *l = &s->u.loop;
        if (s == m->f->inner)
            loop = append_copy(m, s, blocks_most(m->f));
        if (parts_role(q, s) & STAGE_REDUCES)
            continue;
        struct ir_expr *x = append_copy(m, s, l->to);
        map_set(&m->loops, l->var, x);
        map_set(&m->iters, l->var, x);
    }
    vec_foreach(it, &old->iters)
        if (!it->is_reduce)
            map_set(&m->iters, it->var,
                    append_iter(m, it->var->name, it->extent,
                                ir_substitute(a, it->binding, &m->loops, NULL),
                                false));
    return append_iter(m, parts_iter_name(q, m->f->inner), blocks_most(m->f),
                       loop, true);
}

// Find the place of the partial result of block number `n` of a tile, and
// return whether there is such a block.  All but the first begin in the tile.
static struct ir_expr *find_part(struct making *m, struct ir_expr *n)
{
    const struct sharing *f = m->f;
    const struct parts *q = &f->parts;
    struct arena *a = q->pass->arena;
    struct ir_expr *tile = map_get(&m->loops, q->loop->u.loop.var);
    struct ir_expr *next = ir_add(a, tile, ir_int(a, 1));
    struct ir_expr *first =
        ir_binary(a, OP_div, ir_mul(a, tile, f->k), f->share);
    struct ir_expr *end =
        ir_binary(a, OP_ceildiv, ir_mul(a, next, f->k), f->share);
    struct ir_expr *begun = ir_sub(a, tile, first_tile(f, first));
    struct ir_expr *block = ir_add(a, first, n);
    for (uint32_t i = q->top; i + 1 < q->path.n; i++) {
        const struct ir_stmt *s = q->path.stmts[i];
        if (s == q->loop) {
            m->part.index[m->part.n++] = ir_select(
                a, ir_binary(a, OP_eq, n, ir_int(a, 0)), begun, ir_int(a, 0));
            m->part.index[m->part.n++] = block;
        } else if (parts_role(q, s) & STAGE_SELECTS) {
            m->part.index[m->part.n++] = map_get(&m->loops, s->u.loop.var);
        }
    }
    return ir_binary(a, OP_lt, block, end);
}

// Make the stage that combines the partial results with its loops.
static struct making make_final(const struct sharing *f)
{
    const struct parts *q = &f->parts;
    struct arena *a = q->pass->arena;
    struct reducer_place places[REDUCER_ARRAYS];
    struct ir_expr *right[REDUCER_ARRAYS];
    struct ir_expr *predicate = parts_predicate(q, false);
    struct making m;
    begin(&m, f, q->stage->u.stage.name);
    struct ir_expr *is_block = find_part(&m, append_final(&m));
    for (size_t i = 0; i < q->reducer.n; i++) {
        const struct ir_stmt *store = q->reducer.values[i].store;
        struct reducer_place part = place_in(&m, i);
        right[i] = reducer_read(a, &part);
        places[i] = (struct reducer_place){
            .buffer = store->u.store.buffer,
            .n = store->u.store.n,
            .index = ir_substitute_all(a, store->u.store.n,
                                       store->u.store.index, &m.iters, NULL)};
    }
    m.stage->u.stage.init = parts_init(q, places);
    m.stage->u.stage.body =
        reducer_combine(q->pass, &q->reducer, places, right, &m.iters);
    parts_guard(q, m.stage, is_block);
    if (predicate)
        m.stage->u.stage.predicate =
            ir_substitute(a, predicate, &m.loops, NULL);
    ir_append(a, m.innermost, m.stage);
    return m;
}

// Declare the arrays of the partial results.
static void declare_parts(struct sharing *f)
{
    struct parts *q = &f->parts;
    for (size_t i = 0; i < q->reducer.n; i++) {
        struct ir_buffer *b = parts_declare(q, i, "part", f->selecting + 1);
        uint32_t n = 0;
        for (uint32_t k = q->top; k + 1 < q->path.n; k++) {
            struct ir_stmt *s = q->path.stmts[k];
            if (s == q->loop) {
                b->shape[n++] = tiles_most(f);
                b->shape[n++] = f->blocks;
            } else if (parts_role(q, s) & STAGE_SELECTS) {
                b->shape[n++] = parts_extent(q, s);
            }
        }
    }
}

bool sched_stream(struct sched_call *c)
{
    struct sharing f = {.parts = {.pass = c->pass, .loop = sched_arg(c, 0)},
                        .inner = sched_arg(c, 1)};
    if (!check(c, &f))
        return false;
    set_numbers(c, &f);
    declare_parts(&f);
    struct making partial = make_partial(&f);
    struct making final = make_final(&f);
    parts_replace(&f.parts, partial.nest.at[0], final.nest.at[0]);
    sched_result(c, VALUE_stage, partial.stage);
    return true;
}
