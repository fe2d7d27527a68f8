// Lowers a ring that threads fill through registers: the next tile is loaded
// while this one is used.
//
//   for k in 0..K @ring(slots 2, transport registers, arrays S) {
//     let slot = k % 2
//     S[slot, i] = A[k, i]
//     use S[slot]
//   }
//     =>
//   if 0 < K { S[0, i] = A[0, i] }
//   for k in 0..K {
//     var S_next: f32 = 0.0
//     if k + 1 < K { S_next = A[k + 1, i] }
//     use S[k % 2]
//     if k + 1 < K { S[(k + 1) % 2, i] = S_next }
//   }
//
// A variable holds the element that is loaded, so that nothing waits for the
// memory it comes from. If the copy is a serial loop, there is no variable for
// each of its elements, and it is stored at once. The copies stand in the
// loops over threads around, so the barriers that they need are derived between
// all statements (barrier_insertion.c).

#include "passes/lower/ring_registers.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/lower/slots.h"

// The rewrite of one loop.
struct rewrite {
    struct pass *p;
    struct ring ring;
    size_t index;                       // of the ring, of those of the loop
    struct ir_stmt *around[AXIS_COUNT]; // the loop on each axis, or NULL

    struct ir_block vars; // declared at the start of the body
    bool stores;          // in the second part of a copy
    size_t next;          // variable to be used there
};

// Note the outermost loop over threads around on each axis.
static void find_around(struct rewrite *r)
{
    struct ir_path path;
    ir_find(r->p->scratch, &r->p->kernel->body, r->ring.loop, &path);
    for (uint32_t i = path.n - 1; i-- > 0;) {
        struct ir_stmt *s = path.stmts[i];
        if (ir_is_over(s, AXIS_THREAD))
            r->around[s->u.loop.axis] = s;
    }
}

// Put the body of a loop in its place in a block, for the thread that the
// loop around on the same axis has; returns how many statements that made.
static size_t unnest(struct rewrite *r, struct ir_block *block, size_t at)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &block->at[at]->u.loop;
    const struct ir_for *outer = &r->around[loop->axis]->u.loop;
    struct ir_expr *thread = ir_read(a, outer->var);
    struct map vars = {.arena = r->p->scratch};
    struct ir_block body = loop->body;
    map_set(&vars, loop->var, thread);
    ir_substitute_in(a, &body, &vars, NULL);
    if (!ir_expr_equal(loop->to, outer->to)) {
        struct ir_stmt *s =
            ir_stmt_if(a, ir_binary(a, OP_lt, thread, loop->to));
        ir_stmt_from(s, block->at[at]);
        ir_enclose(a, &body, s, &s->u.branch.then);
    }
    ir_splice(a, block, at, &body);
    return body.n;
}

// Unnest the bound loops of a block and below.
static void unnest_all(struct rewrite *r, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            unnest_all(r, inner);
        if (s->kind == STMT_for && r->around[s->u.loop.axis])
            i += unnest(r, block, i) - 1;
    }
}

// Return the fills of the ring for an iteration.
static struct ir_block fills_of(struct rewrite *r, struct ir_expr *iteration)
{
    struct arena *a = r->p->arena;
    struct ir_block out = {0};
    struct map vars = {.arena = r->p->scratch};
    const struct ir_for *loop = &r->ring.loop->u.loop;
    slots_at(a, loop, iteration, &vars);
    for (size_t i = ir_ring_slots(loop); i < loop->body.n; i++) {
        struct ir_stmt *s = loop->body.at[i];
        if (s->kind == STMT_let)
            map_set(&vars, s->u.let.var,
                    ir_substitute(a, s->u.let.value, &vars, NULL));
        if (!ring_has_fill(&r->ring, s))
            continue;
        struct ir_block copy = ir_copy_block(a, ir_alone(s), &vars, NULL);
        ir_append_all(a, &out, &copy);
    }
    unnest_all(r, &out);
    return out;
}

// Put the statements of a block under a condition.
static struct ir_stmt *under(struct rewrite *r, struct ir_expr *condition,
                             struct ir_block block)
{
    struct ir_stmt *s = ir_stmt_if(r->p->arena, condition);
    s->span = r->ring.loop->span;
    s->by = block.at[0]->by;
    s->u.branch.then = block;
    return s;
}

// Declare the variable of an element on its way.
static struct ir_var *declare(struct rewrite *r, const struct ir_stmt *store)
{
    struct arena *a = r->p->arena;
    struct type type = store->u.store.value->type;
    const char *name =
        arena_printf(r->p->scratch, "%s_next", store->u.store.buffer->name);
    struct ir_var *var = ir_var_new(a, str_name(r->p->names, name), type,
                                    VAR_mutable, store->span);
    struct ir_expr *zero = ir_zero(a, type_scalar(type.kind));
    if (type.lanes > 1)
        zero = ir_broadcast(a, zero, type.lanes);
    struct ir_stmt *s = ir_stmt_let(a, var, zero);
    ir_append(a, &r->vars, ir_stmt_from(s, store));
    return var;
}

// Remove the lets of a block and below that nothing uses.
static void drop_lets(struct arena *a, struct ir_block *block)
{
    for (size_t i = block->n; i-- > 0;) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            drop_lets(a, inner);
        if (s->kind == STMT_let && !ir_block_mentions(block, s->u.let.var))
            ir_splice(a, block, i, &(struct ir_block){0});
    }
}

// Split a store: assign its value to a variable, or store the variable.
static void split_store(struct rewrite *r, struct ir_stmt *s)
{
    if (s->kind != STMT_store)
        return;
    if (r->stores) {
        struct ir_var *var = r->vars.at[r->next++]->u.let.var;
        s->u.store.value = ir_read(r->p->arena, var);
        return;
    }
    struct ir_expr *value = s->u.store.value;
    struct ir_var *var = declare(r, s);
    s->kind = STMT_assign;
    s->u.let.var = var;
    s->u.let.value = value;
}

// Split the stores of a block.
static void split_stores(struct rewrite *r, struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        split_store(r, s);
}

// Take the fills, and the ring, from the loop; returns where the first fill was.
static size_t take_fills(struct rewrite *r)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->ring.loop->u.loop;
    const struct ir_stmt *slot = ir_ring_slot(loop, r->index);
    struct map vars = {.arena = r->p->scratch};
    map_set(&vars, slot->u.let.var, slot->u.let.value);
    ir_ring_remove(loop, r->index);
    size_t first = loop->body.n;
    for (size_t i = loop->body.n; i-- > 0;) {
        if (!ring_has_fill(&r->ring, loop->body.at[i]))
            continue;
        ir_splice(a, &loop->body, i, &(struct ir_block){0});
        first = i;
    }
    ir_substitute_in(a, &loop->body, &vars, NULL);
    return first;
}

// Put what fills the slot of the next iteration into the loop: its loads where
// the fills were, its stores at the end.
static void fill_next(struct rewrite *r, struct ir_expr *next)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->ring.loop->u.loop;
    struct ir_expr *more = ir_binary(a, OP_lt, next, loop->to);
    struct ir_block load = fills_of(r, next), store = fills_of(r, next);
    bool staged = !ir_has(&load, STMT_for);
    size_t front = take_fills(r);
    if (staged)
        split_stores(r, &load);
    r->stores = true;
    if (staged)
        split_stores(r, &store);
    drop_lets(a, &store);
    if (staged)
        ir_append(a, &loop->body, under(r, more, store));
    ir_insert(a, &loop->body, front, under(r, more, staged ? load : store));
    for (size_t i = 0; i < r->vars.n; i++)
        ir_insert(a, &loop->body, front + i, r->vars.at[i]);
}

void ring_registers_lower(struct pass *p, struct ir_block *block,
                          struct ir_stmt *loop, size_t i)
{
    struct arena *a = p->arena;
    struct rewrite r = {
        .p = p, .ring = ring_planned(p->scratch, loop, i), .index = i};
    struct ir_expr *zero = ir_int(a, 0);
    struct ir_expr *k = ir_read(a, loop->u.loop.var);
    find_around(&r);
    struct ir_block first = fills_of(&r, zero);
    fill_next(&r, ir_add(a, k, ir_int(a, 1)));
    struct ir_expr *some = ir_binary(a, OP_lt, zero, loop->u.loop.to);
    ir_insert(a, block, ir_index(block, loop), under(&r, some, first));
}
