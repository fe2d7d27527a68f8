// What blocks that share a scan exchange: for each tile a state, and what it
// and all tiles up to it have.
//
// A value of at most 32 bits and the state are one word of 64 bits, which is
// written and read at once; words with the same state belong together. If a
// value has more bits, all have arrays of their own: a fence stands between
// them and the state, on both sides.

#include "ir/build.h"
#include "ir/marks.h"
#include "passes/lower/scans.h"

enum {
    CLEARING = 256,       // threads of a block of the launch in front
    ENDLESS = 1000000000, // iterations of loops that end early
    VALUE_BITS = 32       // of a word; the state is above them
};

struct ir_buffer *exchange_array(const struct scanning *c, const char *what,
                                 enum type_kind type, enum space space,
                                 uint32_t rank, struct ir_expr **shape)
{
    struct ir_buffer *b = scan_array(c, 0, what, space, rank, shape);
    b->elem = type_scalar(type);
    return b;
}

// Return whether each value and a state fit into one word.
static bool can_pack(const struct scanning *c)
{
    bool fits = true;
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        struct type type = scan_type(c, v);
        fits &= type_bits(type) <= VALUE_BITS && !type_is_index(type) &&
                !type_is_storage(type);
    }
    return fits;
}

// Declare the arrays of states.
static void declare_states(struct scanning *c, struct ir_block *to,
                           uint32_t rank, struct ir_expr **shape)
{
    struct scan_exchange *e = &c->exchange;
    e->is_packed = can_pack(c);
    e->n = e->is_packed ? c->scan.reducer.n : 1;
    for (size_t v = 0; v < e->n; v++) {
        e->states[v] = scan_array(c, v, "state", SPACE_global, rank, shape);
        e->states[v]->elem = type_scalar(e->is_packed ? TYPE_u64 : TYPE_i32);
        scan_add(c, to, ir_stmt_alloc(c->pass->arena, e->states[v]));
    }
}

void exchange_declare(struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct scan_exchange *e = &c->exchange;
    struct ir_expr **shape =
        arena_array(a, struct ir_expr *, c->first + c->outer.n + 1);
    uint32_t rank = 0;
    while (rank < c->first) {
        shape[rank] = c->path.stmts[rank]->u.loop.to;
        rank++;
    }
    e->ticket =
        exchange_array(c, "ticket", TYPE_i32, SPACE_global, c->first, shape);
    shape[rank++] = c->blocks->u.loop.to;
    vec_foreach_value(s, &c->outer)
        shape[rank++] = s->u.loop.to;
    scan_add(c, to, ir_stmt_alloc(a, e->ticket));
    declare_states(c, to, rank, shape);
    for (size_t v = 0; v < c->scan.reducer.n && !e->is_packed; v++) {
        e->sums[v] = scan_array(c, v, "sums", SPACE_global, rank, shape);
        e->fronts[v] = scan_array(c, v, "fronts", SPACE_global, rank, shape);
        e->sums[v]->is_ordered = e->fronts[v]->is_ordered = true;
        scan_add(c, to, ir_stmt_alloc(a, e->sums[v]));
        scan_add(c, to, ir_stmt_alloc(a, e->fronts[v]));
    }
}

struct reducer_place exchange_at(const struct scanning *c,
                                 struct ir_buffer *array, struct ir_expr *tile)
{
    struct arena *a = c->pass->arena;
    struct reducer_place at = {.buffer = array};
    at.index = arena_array(a, struct ir_expr *, c->first + c->outer.n + 1);
    for (uint32_t i = 0; i < c->first; i++)
        at.index[at.n++] = ir_read(a, c->path.stmts[i]->u.loop.var);
    if (!tile)
        return at;
    at.index[at.n++] = tile;
    vec_foreach_value(s, &c->outer)
        at.index[at.n++] = ir_read(a, s->u.loop.var);
    return at;
}

// The same for each value.
static struct scan_values values_of(const struct scanning *c,
                                    struct ir_buffer *const *arrays,
                                    struct ir_expr *tile)
{
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        r.at[v] = exchange_at(c, arrays[v], tile);
    return r;
}

// Append a loop from 0; returns its body.
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

// Append what clears the states at an index, and the ticket of its row if it is
// the first.
static void clear_at(const struct scanning *c, struct ir_block *to,
                     uint32_t rank, struct ir_expr **index,
                     struct ir_expr *number)
{
    struct arena *a = c->pass->arena;
    struct ir_buffer *ticket = c->exchange.ticket;
    struct ir_expr *tiles = c->blocks->u.loop.to;
    struct ir_stmt *inside = scan_add(
        c, to, ir_stmt_if(a, ir_binary(a, OP_lt, index[c->first], tiles)));
    for (size_t v = 0; v < c->exchange.n; v++) {
        struct ir_buffer *state = c->exchange.states[v];
        scan_add(c, &inside->u.branch.then,
                 ir_stmt_store(a, state, rank, index, ir_zero(a, state->elem)));
    }
    struct ir_stmt *first =
        scan_add(c, to, ir_stmt_if(a, scan_compare(c, OP_eq, number, 0)));
    scan_add(
        c, &first->u.branch.then,
        ir_stmt_store(a, ticket, c->first, index, ir_zero(a, ticket->elem)));
}

void exchange_clear(const struct scanning *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *block, *thread, *count = c->blocks->u.loop.to;
    struct ir_expr **index =
        arena_array(a, struct ir_expr *, c->first + c->outer.n + 1);
    struct ir_expr *size = ir_int(a, CLEARING);
    uint32_t n = c->first;
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_for *l = &c->path.stmts[i]->u.loop;
        to = add_loop(c, to, l->var->name, l->to, l->axis, &index[i]);
    }
    vec_foreach_value(s, &c->outer)
        count = ir_mul(a, count, s->u.loop.to);
    to = add_loop(c, to, "z", ir_binary(a, OP_ceildiv, count, size),
                  c->blocks->u.loop.axis, &block);
    to = add_loop(c, to, "t", size, AXIS_thread_x, &thread);
    struct ir_expr *number = ir_add(a, ir_mul(a, block, size), thread);
    index[n++] = number;
    vec_foreach_value(s, &c->outer) {
        index[n] = ir_binary(a, OP_mod, index[n - 1], s->u.loop.to);
        index[n - 1] = ir_binary(a, OP_div, index[n - 1], s->u.loop.to);
        n++;
    }
    clear_at(c, to, n, index, number);
}

struct ir_block *exchange_while(const struct scanning *c, struct ir_block *to,
                                const char *name, struct ir_expr *condition)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *unused;
    struct ir_block *body =
        add_loop(c, to, name, ir_int(a, ENDLESS), AXIS_serial, &unused);
    ir_attr_set(a, to->at[to->n - 1], MARK_no_unroll, 1);
    return &scan_add(c, body, ir_stmt_if(a, condition))->u.branch.then;
}

// Return a word of a state and a value.
static struct ir_expr *pack(const struct scanning *c, struct ir_expr *value,
                            enum scan_state state)
{
    struct arena *a = c->pass->arena;
    struct type word = type_scalar(TYPE_u64);
    struct ir_expr *bits =
        type_is_float(value->type)
            ? ir_unary(a, OP_float_bits,
                       ir_cast(a, type_scalar(TYPE_f32), value))
            : ir_cast(a, type_scalar(TYPE_u32), value);
    struct ir_expr *high = ir_const_int(a, word, (int64_t)state << VALUE_BITS);
    return ir_binary(a, OP_bit_or, high, ir_cast(a, word, bits));
}

// Return what is in a word of a value.
static struct ir_expr *unpack(const struct scanning *c, size_t value,
                              struct ir_expr *word)
{
    struct arena *a = c->pass->arena;
    struct type type = scan_type(c, value);
    struct ir_expr *bits = ir_cast(a, type_scalar(TYPE_u32), word);
    if (type_is_float(type))
        bits = ir_unary(a, OP_bits_float, bits);
    return ir_cast(a, type, bits);
}

// Append a write of a state of the block's tile.
static void write_state(const struct scanning *c, struct ir_block *to,
                        size_t which, struct ir_expr *state)
{
    struct arena *a = c->pass->arena;
    struct reducer_place at =
        exchange_at(c, c->exchange.states[which], c->tile);
    scan_add(c, to,
             ir_stmt_eval(a, ir_atomic(a, OP_atomic_exchange, at.buffer, at.n,
                                       at.index, 1, &state)));
}

void exchange_publish(const struct scanning *c, struct ir_block *to,
                      struct ir_expr *const *x, enum scan_state state)
{
    struct arena *a = c->pass->arena;
    const struct scan_exchange *e = &c->exchange;
    for (size_t v = 0; v < e->n && e->is_packed; v++)
        write_state(c, to, v, pack(c, x[v], state));
    if (e->is_packed)
        return;
    struct scan_values at =
        values_of(c, state == SCAN_SUM ? e->sums : e->fronts, c->tile);
    scan_write(c, to, &at, x);
    scan_add(c, to, ir_stmt_sync(a, SYNC_gpu));
    write_state(c, to, 0, ir_const_int(a, e->states[0]->elem, state));
}

// Return the condition that something is not known yet, or that states are not
// those of one time.
static struct ir_expr *is_open(const struct scanning *c, struct ir_expr **state)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *bits = ir_const_int(a, type_scalar(TYPE_u64), VALUE_BITS);
    struct ir_expr *first = state[0];
    struct ir_expr *r = scan_compare(c, OP_eq, first, 0);
    for (size_t v = 1; v < c->exchange.n; v++)
        r = ir_binary(a, OP_or, r,
                      ir_binary(a, OP_ne, ir_binary(a, OP_shr, first, bits),
                                ir_binary(a, OP_shr, state[v], bits)));
    return r;
}

// Return what a state is where there is no tile: all in front is known.
static struct ir_expr *known(const struct scanning *c, size_t which)
{
    const struct scan_exchange *e = &c->exchange;
    struct ir_expr *x[REDUCER_ARRAYS];
    scan_identity(c, x);
    return e->is_packed
               ? pack(c, x[which], SCAN_FRONT)
               : ir_const_int(c->pass->arena, e->states[0]->elem, SCAN_FRONT);
}

// Return a read of a state of a tile.
static struct ir_expr *read_state(const struct scanning *c, size_t which,
                                  struct ir_expr *tile)
{
    struct arena *a = c->pass->arena;
    struct ir_buffer *states = c->exchange.states[which];
    struct ir_expr *zero = ir_zero(a, states->elem);
    struct reducer_place at = exchange_at(c, states, tile);
    return ir_atomic(a, OP_atomic_or, at.buffer, at.n, at.index, 1, &zero);
}

struct scan_states exchange_begin(const struct scanning *c, struct ir_block *to,
                                  struct ir_expr *is_none, struct ir_expr *tile,
                                  bool looks)
{
    struct arena *a = c->pass->arena;
    struct scan_states r = {.is_none = is_none, .tile = tile};
    for (size_t v = 0; v < c->exchange.n; v++) {
        struct ir_expr *first = ir_zero(a, c->exchange.states[v]->elem);
        if (looks)
            first = ir_read(
                a, scan_let(c, to, "seen", read_state(c, v, tile), VAR_let));
        r.at[v] =
            scan_let(c, to, "state", ir_select(a, is_none, known(c, v), first),
                     VAR_mutable);
    }
    return r;
}

// Append what reads values from their arrays.
static struct scan_values read_arrays(const struct scanning *c,
                                      struct ir_block *to,
                                      const struct scan_states *s,
                                      struct ir_expr *is_front)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *x[REDUCER_ARRAYS];
    scan_identity(c, x);
    struct scan_values r = scan_declare_values(c, to, "near", x);
    struct ir_stmt *exists =
        scan_add(c, to, ir_stmt_if(a, ir_unary(a, OP_not, s->is_none)));
    struct ir_stmt *which =
        scan_add(c, &exists->u.branch.then, ir_stmt_if(a, is_front));
    struct scan_values fronts = values_of(c, c->exchange.fronts, s->tile);
    struct scan_values sums = values_of(c, c->exchange.sums, s->tile);
    scan_read(c, &fronts, x);
    scan_write(c, &which->u.branch.then, &r, x);
    scan_read(c, &sums, x);
    scan_write(c, &which->u.branch.otherwise, &r, x);
    return r;
}

struct scan_values exchange_read(const struct scanning *c, struct ir_block *to,
                                 const struct scan_states *s,
                                 struct ir_expr **is_front)
{
    struct arena *a = c->pass->arena;
    const struct scan_exchange *e = &c->exchange;
    struct ir_expr *x[REDUCER_ARRAYS], *state[REDUCER_ARRAYS];
    for (size_t v = 0; v < e->n; v++)
        state[v] = ir_read(a, s->at[v]);
    struct ir_block *body = exchange_while(c, to, "wait", is_open(c, state));
    for (size_t v = 0; v < e->n; v++)
        scan_add(c, body,
                 ir_stmt_assign(a, s->at[v], read_state(c, v, s->tile)));
    if (!e->is_packed) {
        *is_front = ir_binary(a, OP_eq, state[0], known(c, 0));
        scan_add(c, to, ir_stmt_sync(a, SYNC_gpu));
        return read_arrays(c, to, s, *is_front);
    }
    *is_front =
        scan_compare(c, OP_ge, state[0], (int64_t)SCAN_FRONT << VALUE_BITS);
    for (size_t v = 0; v < e->n; v++)
        x[v] = unpack(c, v, state[v]);
    return scan_declare_values(c, to, "near", x);
}
