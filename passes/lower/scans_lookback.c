// Scans that blocks share: each takes the next tile and looks back.
//
//   if t == 0 { who[0] = atomic_add(ticket[], 1) }  barrier
//   let tile = who[0]
//   ...                                    total: of this tile
//   if t / 32 == 0 {
//     if t == 0 { sums[tile] = total  state[tile] = 1 }
//     var at = tile - 1
//     for look { if !found {               32 tiles at a time, nearest first
//       let s = state[at - lane]           once it is not 0
//       var near = s == 2 ? fronts[at - lane] : sums[at - lane]
//       front = near of those lanes up to the first with s == 2, + front
//       found = any s == 2  at = at - 32
//     } }
//     if t == 0 { fronts[tile] = front + total  state[tile] = 2
//                 handed[0] = front }
//   }
//   barrier
//
// Where the lanes of a warp have a scan each, as columns of a matrix, each lane
// looks back for its own, one tile after the other.
//
// A block waits for tiles only that other blocks took before, and these run. So
// all of them go on, in whatever order blocks begin. A launch in front clears
// tickets and states. How values and states are written and read:
// scans_exchange.c.

#include "ir/build.h"
#include "ir/gpu.h"
#include "passes/lower/scans.h"

enum { LOOKS = 8 }; // tiles that a thread looks at, where each has its own scan

// Return the places of what the block hands to its threads.
static struct scan_values handed(const struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        r.at[v] =
            (struct reducer_place){.buffer = c->exchange.handed[v], .n = 1};
        r.at[v].index = arena_array(a, struct ir_expr *, 1);
        r.at[v].index[0] = ir_int(a, 0);
        vec_foreach_value(s, &c->outer)
            r.at[v].index[0] = ir_read(a, s->u.loop.var);
    }
    return r;
}

// Declare the shared arrays.
static void declare_shared(struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct scan_exchange *e = &c->exchange;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, 1);
    shape[0] = ir_int(a, 1);
    e->who = exchange_array(c, "who", TYPE_i32, SPACE_shared, 1, shape);
    scan_add(c, &c->shared, ir_stmt_alloc(a, e->who));
    struct ir_expr **own = arena_array(a, struct ir_expr *, 1);
    own[0] = c->outer.n ? c->outer.at[0]->u.loop.to : shape[0];
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        e->handed[v] = scan_array(c, v, "handed", SPACE_shared, 1, own);
        scan_add(c, &c->shared, ir_stmt_alloc(a, e->handed[v]));
    }
}

void lookback_declare(struct scanning *c)
{
    struct ir_block *body = &c->pass->kernel->body, out = {0};
    size_t at = 0;
    while (at < body->n && body->at[at]->kind == STMT_let)
        at++;
    exchange_declare(c, &out);
    exchange_clear(c, &out);
    ir_insert_all(c->pass->arena, body, at, &out);
    c->path.index[0] += out.n;
    declare_shared(c);
}

// Return the condition that this is the first thread of the block.
static struct ir_expr *is_first_thread(const struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *r = ir_bool(a, true);
    vec_foreach_value(s, &c->outer)
        r = ir_binary(a, OP_and, r,
                      scan_compare(c, OP_eq, ir_read(a, s->u.loop.var), 0));
    vec_foreach_value(s, &c->threads)
        r = ir_binary(a, OP_and, r,
                      scan_compare(c, OP_eq, ir_read(a, s->u.loop.var), 0));
    return r;
}

void lookback_take(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *one = ir_const_int(a, type_scalar(TYPE_i32), 1);
    struct ir_expr *zero = ir_int(a, 0);
    struct reducer_place ticket = exchange_at(c, c->exchange.ticket, NULL);
    struct ir_stmt *first = scan_add(c, to, ir_stmt_if(a, is_first_thread(c)));
    struct ir_block *then = &first->u.branch.then;
    struct ir_var *next = scan_let(c, then, scan_name(c, 0, "next"),
                                   ir_atomic(a, OP_atomic_add, ticket.buffer,
                                             ticket.n, ticket.index, 1, &one),
                                   VAR_let);
    scan_add(c, then,
             ir_stmt_store(a, c->exchange.who, 1, &zero, ir_read(a, next)));
    scan_add(c, to, ir_stmt_barrier(a));
    struct ir_expr *last = ir_sub(a, c->blocks->u.loop.to, ir_int(a, 1));
    struct ir_expr *taken = ir_cast(a, type_scalar(TYPE_int),
                                    ir_load(a, c->exchange.who, 1, &zero));
    taken = ir_binary(a, OP_max, ir_binary(a, OP_min, taken, last), zero);
    c->tile =
        ir_read(a, scan_let(c, to, scan_name(c, 0, "tile"), taken, VAR_let));
}

// The search of a block for what is in front of its tile.
struct look {
    struct scanning *c;
    struct ir_expr *lane;
    struct scan_values total, front;
    struct ir_var *found, *at;
};

// Append what puts 32 tiles in front of what was found, those behind the last
// one that knows what is in front of it.
static void take_tiles(const struct look *l, struct ir_block *to,
                       const struct scan_values *near, struct ir_expr *is_front)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct type mask = type_scalar(TYPE_u32);
    struct ir_expr *x[REDUCER_ARRAYS], *one = ir_const_int(a, mask, 1);
    struct ir_var *fronts =
        scan_let(c, to, "fronts", ir_call(a, OP_ballot, 1, &is_front), VAR_let);
    struct ir_expr *nearer =
        ir_sub(a, ir_binary(a, OP_shl, one, ir_cast(a, mask, l->lane)), one);
    nearer = ir_binary(a, OP_bit_and, ir_read(a, fronts), nearer);
    struct ir_stmt *farther =
        scan_add(c, to, ir_stmt_if(a, scan_compare(c, OP_ne, nearer, 0)));
    scan_identity(c, x);
    scan_write(c, &farther->u.branch.then, near, x);
    for (int64_t d = 1; d < WARP_LANES; d *= 2) {
        scan_shuffle(c, to, OP_shuffle_down, near, ir_int(a, d), x);
        scan_precede(c, to, scan_compare(c, OP_lt, l->lane, WARP_LANES - d),
                     near, x);
    }
    scan_shuffle(c, to, OP_shuffle, near, ir_int(a, 0), x);
    scan_precede(c, to, NULL, &l->front, x);
    scan_add(c, to,
             ir_stmt_assign(a, l->found,
                            scan_compare(c, OP_ne, ir_read(a, fronts), 0)));
    scan_add(
        c, to,
        ir_stmt_assign(a, l->at,
                       ir_sub(a, ir_read(a, l->at), ir_int(a, WARP_LANES))));
}

// Append the search, by one warp.
static void search(const struct look *l, struct ir_block *to)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct ir_expr *is_front;
    to = exchange_while(c, to, "look",
                        ir_unary(a, OP_not, ir_read(a, l->found)));
    struct ir_var *mine =
        scan_let(c, to, "mine", ir_sub(a, ir_read(a, l->at), l->lane), VAR_let);
    struct ir_expr *is_none = scan_compare(c, OP_lt, ir_read(a, mine), 0);
    struct ir_expr *tile = ir_binary(a, OP_max, ir_read(a, mine), ir_int(a, 0));
    struct scan_states states = exchange_begin(c, to, is_none, tile, false);
    struct scan_values near = exchange_read(c, to, &states, &is_front);
    take_tiles(l, to, &near, is_front);
}

// Append what puts a tile in front of what was found, unless that is all.
static void take_tile(const struct look *l, struct ir_block *to,
                      const struct scan_states *states)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct ir_expr *x[REDUCER_ARRAYS], *is_front;
    struct ir_stmt *more = scan_add(
        c, to, ir_stmt_if(a, ir_unary(a, OP_not, ir_read(a, l->found))));
    to = &more->u.branch.then;
    struct scan_values near = exchange_read(c, to, states, &is_front);
    scan_read(c, &near, x);
    scan_precede(c, to, NULL, &l->front, x);
    scan_add(c, to, ir_stmt_assign(a, l->found, is_front));
}

// Append the search of each thread for its own scan: it looks at several tiles
// at once, and takes one after the other.
static void search_alone(const struct look *l, struct ir_block *to)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct scan_states states[LOOKS];
    struct ir_expr *at = ir_read(a, l->at);
    to = exchange_while(c, to, "look",
                        ir_unary(a, OP_not, ir_read(a, l->found)));
    for (int64_t k = 0; k < LOOKS; k++) {
        struct ir_expr *mine = ir_sub(a, at, ir_int(a, k));
        struct ir_expr *is_none = scan_compare(c, OP_lt, mine, 0);
        struct ir_expr *tile = ir_binary(a, OP_max, mine, ir_int(a, 0));
        states[k] = exchange_begin(c, to, is_none, tile, true);
    }
    for (int64_t k = 0; k < LOOKS; k++)
        take_tile(l, to, &states[k]);
    scan_add(c, to, ir_stmt_assign(a, l->at, ir_sub(a, at, ir_int(a, LOOKS))));
}

// Return the condition that this is the first warp.
static struct ir_expr *first_warp(const struct scanning *c)
{
    struct ir_expr *r = ir_bool(c->pass->arena, true);
    for (uint32_t k = 0; k < c->n; k++)
        if (c->levels[k].kind == SCAN_WARPS)
            r = scan_compare(c, OP_eq, c->levels[k].number, 0);
    return r;
}

// Append what the first lane does once all is found.
static void hand_over(const struct look *l, struct ir_block *to)
{
    const struct scanning *c = l->c;
    struct ir_expr *x[REDUCER_ARRAYS], *total[REDUCER_ARRAYS];
    struct scan_values at = handed(c);
    scan_read(c, &l->front, x);
    scan_write(c, to, &at, x);
    scan_read(c, &l->total, total);
    scan_combine(c, to, &l->front, total);
    scan_read(c, &l->front, x);
    exchange_publish(c, to, x, SCAN_FRONT);
}

struct scan_values lookback_find(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct look l = {.c = c, .lane = scan_lane(c), .total = scan_total(c)};
    struct ir_expr *x[REDUCER_ARRAYS];
    struct ir_stmt *warp = scan_add(c, to, ir_stmt_if(a, first_warp(c)));
    struct ir_block *body = &warp->u.branch.then;
    struct ir_expr *is_lane =
        l.lane ? scan_compare(c, OP_eq, l.lane, 0) : ir_bool(a, true);
    struct ir_stmt *early = scan_add(c, body, ir_stmt_if(a, is_lane));
    scan_read(c, &l.total, x);
    exchange_publish(c, &early->u.branch.then, x, SCAN_SUM);
    scan_identity(c, x);
    l.front = scan_declare_values(c, body, "front", x);
    l.found = scan_let(c, body, "found", scan_compare(c, OP_eq, c->tile, 0),
                       VAR_mutable);
    l.at =
        scan_let(c, body, "at", ir_sub(a, c->tile, ir_int(a, 1)), VAR_mutable);
    if (l.lane)
        search(&l, body);
    else
        search_alone(&l, body);
    struct ir_stmt *late = scan_add(c, body, ir_stmt_if(a, is_lane));
    hand_over(&l, &late->u.branch.then);
    scan_add(c, to, ir_stmt_barrier(a));
    return handed(c);
}
