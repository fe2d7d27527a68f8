// Scans that blocks share: each takes the next tile and looks back.
//
//   if t == 0 { who[0] = atomic_add(ticket[], 1) }  barrier
//   let tile = who[0]
//   ...                                    total: of this tile
//   if t / 32 == 0 {
//     if t == 0 { sums[tile] = total  fence(gpu)  state[tile] = 1 }
//     var at = tile - 1
//     for look { if !found {               32 tiles at a time, nearest first
//       let s = state[at - lane]           once it is not 0
//       fence(gpu)
//       var near = s == 2 ? fronts[at - lane] : sums[at - lane]
//       front = near of those lanes up to the first with s == 2, + front
//       found = any s == 2  at = at - 32
//     } }
//     if t == 0 { fronts[tile] = front + total  fence(gpu)  state[tile] = 2
//                 handed[0] = front }
//   }
//   barrier
//
// A block waits for tiles only that other blocks took before, and these run. So
// all of them go on, in whatever order blocks begin. A launch in front clears
// tickets and states.

#include "ir/build.h"
#include "ir/gpu.h"
#include "ir/marks.h"
#include "passes/lower/scans.h"

enum { SUM = 1, FRONT = 2 }; // of a state

enum {
    CLEARING = 256,      // threads of a block of the launch in front
    ENDLESS = 1000000000 // iterations of loops that end early
};

// Return the indices of an element of the row that the block is of, and `tile`
// behind them; NULL: nothing.
static struct reducer_place
element(const struct scanning *c, struct ir_buffer *array, struct ir_expr *tile)
{
    struct arena *a = c->pass->arena;
    struct reducer_place at = {.buffer = array};
    at.index = arena_array(a, struct ir_expr *, c->first + 1);
    for (uint32_t i = 0; i < c->first; i++)
        at.index[at.n++] = ir_read(a, c->path.stmts[i]->u.loop.var);
    if (tile)
        at.index[at.n++] = tile;
    return at;
}

// The same for each value.
static struct scan_values elements(const struct scanning *c,
                                   struct ir_buffer *const *arrays,
                                   struct ir_expr *tile)
{
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        r.at[v] = element(c, arrays[v], tile);
    return r;
}

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
    }
    return r;
}

// Make an array of i32.
static struct ir_buffer *count_array(const struct scanning *c, const char *what,
                                     enum space space, uint32_t rank,
                                     struct ir_expr **shape)
{
    struct ir_buffer *b = ir_buffer_new(c->pass->arena, scan_name(c, 0, what),
                                        type_scalar(TYPE_i32), rank, shape);
    b->space = space;
    b->span = c->stage->span;
    return b;
}

// Declare the arrays in the workspace.
static void declare_workspace(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct scan_exchange *e = &c->exchange;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, c->first + 1);
    for (uint32_t i = 0; i < c->first; i++)
        shape[i] = c->path.stmts[i]->u.loop.to;
    shape[c->first] = c->blocks->u.loop.to;
    uint32_t rank = c->first + 1;
    e->ticket = count_array(c, "ticket", SPACE_global, c->first, shape);
    e->state = count_array(c, "state", SPACE_global, rank, shape);
    scan_add(c, to, ir_stmt_alloc(a, e->ticket));
    scan_add(c, to, ir_stmt_alloc(a, e->state));
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        e->sums[v] = scan_array(c, v, "sums", SPACE_global, rank, shape);
        e->fronts[v] = scan_array(c, v, "fronts", SPACE_global, rank, shape);
        e->sums[v]->is_ordered = e->fronts[v]->is_ordered = true;
        scan_add(c, to, ir_stmt_alloc(a, e->sums[v]));
        scan_add(c, to, ir_stmt_alloc(a, e->fronts[v]));
    }
}

// Declare the shared arrays.
static void declare_shared(struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct scan_exchange *e = &c->exchange;
    struct ir_expr **shape = arena_array(a, struct ir_expr *, 1);
    shape[0] = ir_int(a, 1);
    e->who = count_array(c, "who", SPACE_shared, 1, shape);
    scan_add(c, &c->shared, ir_stmt_alloc(a, e->who));
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        e->handed[v] = scan_array(c, v, "handed", SPACE_shared, 1, shape);
        scan_add(c, &c->shared, ir_stmt_alloc(a, e->handed[v]));
    }
}

// Append a loop from 0 on axis `axis`; returns its body.
static struct ir_block *add_loop(const struct scanning *c, struct ir_block *to,
                                 const char *name, struct ir_expr *extent,
                                 enum axis axis, struct ir_expr **value)
{
    struct arena *a = c->pass->arena;
    struct ir_var *var = scan_var(c, name, type_scalar(TYPE_int), VAR_loop);
    struct ir_stmt *s =
        ir_stmt_for(a, var, ir_int(a, 0), extent, ir_int(a, 1), axis);
    *value = ir_read(a, var);
    return &scan_add(c, to, s)->u.loop.body;
}

// Append a nest that clears tickets and states.
static void clear(const struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *index[IR_TILE_RANK], *block, *thread;
    struct ir_expr *tiles = c->blocks->u.loop.to, *size = ir_int(a, CLEARING);
    struct ir_expr *zero = ir_const_int(a, type_scalar(TYPE_i32), 0);
    uint32_t n = c->first;
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_for *l = &c->path.stmts[i]->u.loop;
        to = add_loop(c, to, l->var->name, l->to, l->axis, &index[i]);
    }
    to = add_loop(c, to, "z", ir_binary(a, OP_ceildiv, tiles, size),
                  AXIS_block_x, &block);
    to = add_loop(c, to, "t", size, AXIS_thread_x, &thread);
    index[n] = ir_add(a, ir_mul(a, block, size), thread);
    struct ir_stmt *inside =
        scan_add(c, to, ir_stmt_if(a, ir_binary(a, OP_lt, index[n], tiles)));
    scan_add(c, &inside->u.branch.then,
             ir_stmt_store(a, c->exchange.state, n + 1, index, zero));
    struct ir_stmt *first =
        scan_add(c, to, ir_stmt_if(a, scan_compare(c, OP_eq, index[n], 0)));
    scan_add(c, &first->u.branch.then,
             ir_stmt_store(a, c->exchange.ticket, n, index, zero));
}

void lookback_declare(struct scanning *c)
{
    struct ir_block *body = &c->pass->kernel->body, out = {0};
    size_t at = 0;
    while (at < body->n && body->at[at]->kind == STMT_let)
        at++;
    declare_workspace(c, &out);
    clear(c, &out);
    ir_insert_all(c->pass->arena, body, at, &out);
    c->path.index[0] += out.n;
    declare_shared(c);
}

// Return the condition that this is the first thread of the block.
static struct ir_expr *is_first_thread(const struct scanning *c)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *r = ir_bool(a, true);
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
    struct reducer_place ticket = element(c, c->exchange.ticket, NULL);
    struct ir_var *next =
        scan_var(c, scan_name(c, 0, "next"), type_scalar(TYPE_i32), VAR_let);
    struct ir_stmt *first = scan_add(c, to, ir_stmt_if(a, is_first_thread(c)));
    scan_add(c, &first->u.branch.then,
             ir_stmt_let(a, next,
                         ir_atomic(a, OP_atomic_add, ticket.buffer, ticket.n,
                                   ticket.index, 1, &one)));
    scan_add(c, &first->u.branch.then,
             ir_stmt_store(a, c->exchange.who, 1, &zero, ir_read(a, next)));
    scan_add(c, to, ir_stmt_barrier(a));
    struct ir_var *tile =
        scan_var(c, scan_name(c, 0, "tile"), type_scalar(TYPE_int), VAR_let);
    struct ir_expr *last = ir_sub(a, c->blocks->u.loop.to, ir_int(a, 1));
    struct ir_expr *taken = ir_cast(a, type_scalar(TYPE_int),
                                    ir_load(a, c->exchange.who, 1, &zero));
    taken = ir_binary(a, OP_max, ir_binary(a, OP_min, taken, last), zero);
    scan_add(c, to, ir_stmt_let(a, tile, taken));
    c->tile = ir_read(a, tile);
}

// The search of a block for what is in front of its tile.
struct look {
    struct scanning *c;
    struct ir_expr *lane;
    struct scan_values total, front;
    struct ir_var *found, *at;
};

// Append what publishes values of the block's tile.
static void publish(const struct look *l, struct ir_block *to,
                    struct ir_buffer *const *arrays, struct ir_expr *const *x,
                    int64_t state)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct scan_values at = elements(c, arrays, c->tile);
    struct reducer_place flag = element(c, c->exchange.state, c->tile);
    struct ir_expr *value = ir_const_int(a, type_scalar(TYPE_i32), state);
    scan_write(c, to, &at, x);
    scan_add(c, to, ir_stmt_sync(a, SYNC_gpu));
    scan_add(c, to,
             ir_stmt_eval(a, ir_atomic(a, OP_atomic_exchange, flag.buffer,
                                       flag.n, flag.index, 1, &value)));
}

// Append a loop that ends once a condition does not hold; returns the block of
// what it does meanwhile.
static struct ir_block *add_while(const struct scanning *c, struct ir_block *to,
                                  const char *name, struct ir_expr *condition)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *unused;
    struct ir_block *body =
        add_loop(c, to, name, ir_int(a, ENDLESS), AXIS_serial, &unused);
    ir_attr_set(a, to->at[to->n - 1], MARK_no_unroll, 1);
    return &scan_add(c, body, ir_stmt_if(a, condition))->u.branch.then;
}

// Declare a variable, or name a value.
static struct ir_var *declare(const struct scanning *c, struct ir_block *to,
                              const char *name, struct ir_expr *value,
                              enum var_kind kind)
{
    struct ir_var *var = scan_var(c, name, value->type, kind);
    scan_add(c, to, ir_stmt_let(c->pass->arena, var, value));
    return var;
}

// Append the wait for the state of the lane's tile; in front of the first there
// is nothing, and that is known.  Returns the state.
static struct ir_var *wait_for(const struct look *l, struct ir_block *to,
                               struct ir_expr *is_before, struct ir_expr *near)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct type type = type_scalar(TYPE_i32);
    struct ir_expr *zero = ir_const_int(a, type, 0);
    struct ir_var *state =
        declare(c, to, "state",
                ir_select(a, is_before, ir_const_int(a, type, FRONT), zero),
                VAR_mutable);
    struct ir_block *body =
        add_while(c, to, "wait", ir_binary(a, OP_eq, ir_read(a, state), zero));
    struct reducer_place flag = element(c, c->exchange.state, near);
    scan_add(c, body,
             ir_stmt_assign(a, state,
                            ir_atomic(a, OP_atomic_or, flag.buffer, flag.n,
                                      flag.index, 1, &zero)));
    scan_add(c, to, ir_stmt_sync(a, SYNC_gpu));
    return state;
}

// Append what reads a tile's values: what all up to it have, or it alone.
static struct scan_values read_tile(const struct look *l, struct ir_block *to,
                                    struct ir_expr *is_before,
                                    struct ir_expr *near, struct ir_var *state)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct ir_expr *x[REDUCER_ARRAYS];
    scan_identity(c, x);
    struct scan_values r = scan_declare_values(c, to, "near", x);
    struct ir_stmt *exists =
        scan_add(c, to, ir_stmt_if(a, ir_unary(a, OP_not, is_before)));
    struct ir_expr *is_front = scan_compare(c, OP_eq, ir_read(a, state), FRONT);
    struct ir_stmt *which =
        scan_add(c, &exists->u.branch.then, ir_stmt_if(a, is_front));
    struct scan_values fronts = elements(c, c->exchange.fronts, near);
    struct scan_values sums = elements(c, c->exchange.sums, near);
    scan_read(c, &fronts, x);
    scan_write(c, &which->u.branch.then, &r, x);
    scan_read(c, &sums, x);
    scan_write(c, &which->u.branch.otherwise, &r, x);
    return r;
}

// Append what puts 32 tiles in front of what was found, those behind the last
// one that knows what is in front of it.
static void take_tiles(const struct look *l, struct ir_block *to,
                       const struct scan_values *near, struct ir_var *state)
{
    const struct scanning *c = l->c;
    struct arena *a = c->pass->arena;
    struct type mask = type_scalar(TYPE_u32);
    struct ir_expr *x[REDUCER_ARRAYS], *one = ir_const_int(a, mask, 1);
    struct ir_expr *is_front = scan_compare(c, OP_eq, ir_read(a, state), FRONT);
    struct ir_var *fronts =
        declare(c, to, "fronts", ir_call(a, OP_ballot, 1, &is_front), VAR_let);
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
    to = add_while(c, to, "look", ir_unary(a, OP_not, ir_read(a, l->found)));
    struct ir_var *mine =
        declare(c, to, "mine", ir_sub(a, ir_read(a, l->at), l->lane), VAR_let);
    struct ir_expr *is_before = scan_compare(c, OP_lt, ir_read(a, mine), 0);
    struct ir_expr *near = ir_binary(a, OP_max, ir_read(a, mine), ir_int(a, 0));
    struct ir_var *state = wait_for(l, to, is_before, near);
    struct scan_values values = read_tile(l, to, is_before, near, state);
    take_tiles(l, to, &values, state);
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
    publish(l, to, c->exchange.fronts, x, FRONT);
}

struct scan_values lookback_find(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct look l = {.c = c, .lane = scan_lane(c), .total = scan_total(c)};
    struct ir_expr *x[REDUCER_ARRAYS];
    struct ir_stmt *warp = scan_add(c, to, ir_stmt_if(a, first_warp(c)));
    struct ir_block *body = &warp->u.branch.then;
    struct ir_expr *is_lane = scan_compare(c, OP_eq, l.lane, 0);
    struct ir_stmt *early = scan_add(c, body, ir_stmt_if(a, is_lane));
    scan_read(c, &l.total, x);
    publish(&l, &early->u.branch.then, c->exchange.sums, x, SUM);
    scan_identity(c, x);
    l.front = scan_declare_values(c, body, "front", x);
    l.found = declare(c, body, "found", scan_compare(c, OP_eq, c->tile, 0),
                      VAR_mutable);
    l.at =
        declare(c, body, "at", ir_sub(a, c->tile, ir_int(a, 1)), VAR_mutable);
    search(&l, body);
    struct ir_stmt *late = scan_add(c, body, ir_stmt_if(a, is_lane));
    hand_over(&l, &late->u.branch.then);
    scan_add(c, to, ir_stmt_barrier(a));
    return handed(c);
}
