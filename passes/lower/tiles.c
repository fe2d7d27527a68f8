// tiles: lowers loops over blocks marked persistent to one loop in which each
// block runs through its tiles.
//
//   for i in 0..m @block.y                for block in 0..min(m * n, resident(1))
//           @persistent_sms(1) {                @block.x {
//     for j in 0..n @block.x {              for tile in block..m * n
//       C                            =>             step resident(1) {
//     } }                                     let i = tile / n
//                                             let j = tile % n
//                                             C
//                                           } }
//
// If the program has barriers of its own, one more follows each tile. Blocks
// that are not persistent have one tile each. If the loops have an order, i and
// j follow from that (orders.c). If the body is a loop over warpgroups that
// will be warp-specialized, the loop over tiles goes inside of it. So each role
// runs through the tiles at its own pace, or, with the mark @pingpong on that
// loop, each consumer warpgroup takes some of the tiles.

#include "passes/analysis/tiles.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/marks.h"
#include "ir/ring.h"
#include "ir/walk.h"
#include "passes/analysis/pingpong.h"
#include "passes/lower/orders.h"
#include "passes/opt/fold.h"

// Why no tiles of several iterations may be one block's.
#define KEEPS_ARRAY                                                            \
    "a serial loop is around them: what a block keeps from one iteration to "  \
    "the next would be that of another tile"

// A nest in the making.
struct walk {
    struct pass *p;
    struct tiles tiles;
    struct ir_expr *count; // of its tiles
    struct ir_var *tile;
    struct facts facts;   // of a tile
    struct ir_block body; // of the loop over tiles
};

// Return a new loop variable of the nest.
static struct ir_var *new_var(struct walk *w, const char *name)
{
    return ir_var_new(w->p->arena, str_name(w->p->names, name),
                      type_scalar(TYPE_int), VAR_loop,
                      w->tiles.loops.at[0]->span);
}

// Append a `let` in place of the variable of a loop.
static void append_let(struct walk *w, struct ir_stmt *loop,
                       struct ir_expr *value)
{
    struct arena *a = w->p->arena;
    struct ir_var *old = loop->u.loop.var;
    struct ir_var *new =
        ir_var_new(a, old->name, old->type, VAR_let, old->span);
    struct ir_stmt *s = ir_stmt_let(a, new, fold_expr(a, &w->facts, value));
    ir_append(a, &w->body, ir_stmt_from(s, loop));
    facts_enter(&w->facts, s);
    struct ir_stmt *last = w->tiles.loops.at[w->tiles.loops.n - 1];
    ir_replace_in(a, &last->u.loop.body, old, ir_read(a, new));
}

// Let the variable of the only loop be that of the loop over tiles.
static void take_only(struct walk *w)
{
    w->tile = w->tiles.loops.at[0]->u.loop.var;
}

// Return how many tiles there are in the loops from number `first` on.
static struct ir_expr *tiles_below(struct walk *w, size_t first)
{
    struct tiles inside = {.loops = {.at = &w->tiles.loops.at[first],
                                     .n = w->tiles.loops.n - first}};
    return tiles_count(w->p->arena, &inside);
}

// Append what the variables of the last two loops are for tile `number` of
// theirs, by the order that the first one is marked with.
static void append_ordered(struct walk *w, struct ir_stmt **loops,
                           struct ir_expr *number)
{
    struct arena *a = w->p->arena;
    const struct ir_attr *mark = ir_attr_get(loops[0], MARK_order);
    const struct ir_attr *group = ir_attr_get(loops[0], MARK_group);
    struct order_tile t = {.p = w->p,
                           .facts = &w->facts,
                           .from = loops[0],
                           .out = &w->body,
                           .rows = ir_for_extent(a, &loops[0]->u.loop),
                           .columns = ir_for_extent(a, &loops[1]->u.loop),
                           .group = group ? group->value : 1};
    enum tile_order order = ORDER_row;
    if (mark)
        tiles_order(mark->word, &order);
    orders_find(&t, order, number);
    append_let(w, loops[0], t.row);
    append_let(w, loops[1], t.column);
}

// Return what the variable of a loop is in a tile: that is below its extent, as
// the lesser of both says to those that prove bounds.
static struct ir_expr *place_of(struct walk *w, size_t i, struct ir_expr *tile,
                                struct ir_expr *inside)
{
    struct arena *a = w->p->arena;
    const struct ir_for *loop = &w->tiles.loops.at[i]->u.loop;
    struct ir_expr *last = ir_sub(a, ir_for_extent(a, loop), ir_int(a, 1));
    return ir_binary(a, OP_min, ir_binary(a, OP_div, tile, inside), last);
}

// Append what the variables of the loops are in a tile.
static void append_places(struct walk *w)
{
    struct arena *a = w->p->arena;
    size_t last = w->tiles.loops.n - 2;
    w->tile = new_var(w, "tile");
    facts_start(&w->facts, w->p->scratch, w->p->kernel);
    facts_enter(&w->facts, ir_stmt_for(a, w->tile, ir_int(a, 0), w->count,
                                       ir_int(a, 1), AXIS_serial));
    struct ir_expr *rest = ir_read(a, w->tile);
    for (size_t i = 0; i < last; i++) {
        struct ir_expr *inside = tiles_below(w, i + 1);
        append_let(w, w->tiles.loops.at[i], place_of(w, i, rest, inside));
        rest = ir_binary(a, OP_mod, rest, inside);
    }
    append_ordered(w, &w->tiles.loops.at[last], rest);
}

// Append the arrays that the loops declare, and the body of the last one.
static void append_body(struct walk *w)
{
    for (size_t i = 0; i < w->tiles.loops.n; i++) {
        const struct ir_block *body = &w->tiles.loops.at[i]->u.loop.body;
        bool is_last = i + 1 == w->tiles.loops.n;
        for (size_t k = 0; k < body->n; k++)
            if (is_last || body->at[k]->kind == STMT_alloc)
                ir_append(w->p->arena, &w->body, body->at[k]);
    }
}

// Put the loop over tiles inside of the one over warpgroups, with the
// coordinates of the tiles; the arrays stay outside. If the ring inside has a
// ping-pong order, the loop says so to the pass warp_specialize.
static struct ir_block sink(struct walk *w, struct ir_stmt *group,
                            struct ir_stmt *loop)
{
    struct arena *a = w->p->arena;
    struct ir_ring *ring = tiles_ring(&group->u.loop.body);
    struct ir_block outside = {0};
    if (ring->order)
        ir_attr_set(a, loop, MARK_pingpong, ring->order);
    vec_foreach_value(s, &w->body) {
        if (s->kind != STMT_let)
            ir_append(a, &outside, s);
        else
            ir_append(a, &loop->u.loop.body, s);
    }
    ir_append_all(a, &loop->u.loop.body, &group->u.loop.body);
    group->u.loop.body = (struct ir_block){0};
    ir_append(a, &group->u.loop.body, loop);
    return outside;
}

// Let the threads of a block that places its own barriers meet behind a tile,
// as the next one fills the same arrays.
static void part_tiles(struct walk *w, struct ir_stmt *loop)
{
    struct arena *a = w->p->arena;
    if (ir_has_meeting(&loop->u.loop.body))
        ir_append(a, &loop->u.loop.body,
                  ir_stmt_from(ir_stmt_barrier(a), loop));
}

// Return how many persistent blocks, or clusters, there are at most; NULL: one
// a tile. For clusters, as many as fit on the device at a time.
static struct ir_expr *walkers(struct walk *w)
{
    const struct ir_attr *all = tiles_mark(&w->tiles, MARK_persistent);
    const struct ir_attr *each = tiles_mark(&w->tiles, MARK_persistent_sms);
    struct arena *a = w->p->arena;
    struct ir_expr *size = ir_int(a, 1);
    if (!all && !each)
        return NULL;
    for (int d = 0; d < 3; d++)
        if (w->tiles.cluster[d])
            size = ir_mul(a, size, w->tiles.cluster[d]);
    struct ir_expr *blocks =
        all ? ir_int(a, all->value)
            : ir_unary(a, OP_resident, ir_int(a, each->value));
    if (ir_is_int_const(size, 1))
        return blocks;
    return ir_binary(a, OP_max, ir_binary(a, OP_div, blocks, size),
                     ir_int(a, 1));
}

// Make the outermost loop one over the tiles, or over the persistent blocks.
static void make_loops(struct walk *w)
{
    struct arena *a = w->p->arena;
    struct ir_stmt *first = w->tiles.loops.at[0];
    struct ir_expr *blocks = walkers(w);
    struct ir_var *block = blocks ? new_var(w, "block") : w->tile;
    struct ir_for *grid = &first->u.loop;
    grid->var = block;
    grid->axis = AXIS_block_x;
    grid->to = blocks ? ir_binary(a, OP_min, w->count, blocks) : w->count;
    grid->body = w->body;
    if (!blocks)
        return;
    struct ir_stmt *loop =
        ir_stmt_from(ir_stmt_for(a, w->tile, ir_read(a, block), w->count,
                                 blocks, AXIS_serial),
                     first);
    struct ir_stmt *group = tiles_roles(&w->body);
    grid->body = (struct ir_block){0};
    if (group) {
        grid->body = sink(w, group, loop);
        return;
    }
    loop->u.loop.body = w->body;
    part_tiles(w, loop);
    ir_append(a, &grid->body, loop);
}

// Return whether the ring of the tiles, if there is one that several warpgroups
// use in ping-pong order, is in persistent blocks.
static bool check_order(const struct walk *w)
{
    const struct tiles *t = &w->tiles;
    struct ir_block *tile = &t->loops.at[t->loops.n - 1]->u.loop.body;
    const struct ir_ring *ring = tiles_ring(tile);
    bool is_persistent =
        tiles_mark(t, MARK_persistent) || tiles_mark(t, MARK_persistent_sms);
    return !ring || !ring->order || (is_persistent && tiles_roles(tile));
}

// Remove what is done from a loop.
static void remove_marks(struct ir_stmt *loop)
{
    static const enum ir_mark done[] = {MARK_persistent, MARK_persistent_sms,
                                        MARK_order, MARK_group};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        ir_attr_remove(loop, done[i]);
}

// Rewrite the nest of a marked loop.
static bool rewrite(struct pass *p, struct ir_stmt *marked)
{
    struct walk w = {.p = p,
                     .tiles = tiles_find(p->scratch, p->kernel, marked)};
    if (!w.tiles.fault && tiles_keep_array(p->scratch, p->kernel, &w.tiles))
        w.tiles.fault = KEEPS_ARRAY;
    if (w.tiles.fault)
        return diag_error(p->diags, marked->span, D_tile_nest,
                          marked->u.loop.var->name, w.tiles.fault);
    if (!check_order(&w))
        return diag_error(p->diags, marked->span, D_pingpong_shape,
                          w.tiles.loops.at[0]->u.loop.var->name,
                          PINGPONG_NO_ROLES);
    w.count = tiles_below(&w, 0);
    if (w.tiles.loops.n > 1)
        append_places(&w);
    else
        take_only(&w);
    append_body(&w);
    make_loops(&w);
    for (size_t i = 0; i < w.tiles.loops.n; i++)
        remove_marks(w.tiles.loops.at[i]);
    return true;
}

enum pass_result pass_tiles(struct pass *p)
{
    struct VEC(struct ir_stmt *) marked = {0};
    ir_foreach_stmt(s, &p->kernel->body)
        if (tiles_are_walked(s))
            vec_push(p->scratch, &marked, s);
    for (size_t i = 0; i < marked.n; i++)
        if (tiles_are_walked(marked.at[i]) && !rewrite(p, marked.at[i]))
            return PASS_FAILED;
    return marked.n ? PASS_CHANGED : PASS_SAME;
}
