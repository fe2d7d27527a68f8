// double_buffer: loads the next tile into registers while this one is used.
//
//   alloc S: f32[n] in shared double
//   for k in 0..K { S[i] = A[k, i]; use S }
//     =>
//   alloc S: f32[2, n] in shared
//   if 0 < K { S[0, i] = A[0, i] }
//   for k in 0..K {
//     var S_next: f32 = 0.0
//     if k + 1 < K { S_next = A[k + 1, i] }
//     use S[k % 2]
//     if k + 1 < K { S[(k + 1) % 2, i] = S_next }
//   }
//
// A variable holds the element that is loaded, so that nothing waits for the
// memory it comes from. Outside of such loops the first half is used: so in the
// rest of a loop that was cut, or that computes what is copied. If the copy is
// a serial loop, there is no variable for each of its elements, and it is
// stored at once.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"
#include "passes/lower/slots.h"
#include "passes/pass.h"

// The rewrite of one loop.
struct rewrite {
    struct pass *p;
    struct ir_stmt *loop;
    struct ir_stmt *around[AXIS_COUNT]; // the loop on each axis, or NULL
    struct map doubled;                 // arrays -> those with two halves
    struct map filled;                  // those that the loop copies to

    struct ir_block vars; // declared at the start of the body
    bool stores;          // in the second part of a copy
    size_t next;          // variable to be used there
};

// What a statement does to marked arrays.
struct copies {
    bool reads, writes; // marked arrays
    bool is_plain;      // nothing but stores to them
};

// Return what a statement does to marked arrays.
static struct copies copies_in(struct ir_stmt *s)
{
    struct copies c = {.is_plain = true};
    struct ir_block alone = {&s, 1, 1};
    ir_foreach_stmt_from(t, s) {
        bool stores = t->kind == STMT_store;
        c.writes |= stores && t->u.store.buffer->is_double;
        c.is_plain &= stores ? t->u.store.buffer->is_double
                             : t->kind == STMT_for || t->kind == STMT_if ||
                                   t->kind == STMT_let;
    }
    ir_foreach_expr_in(x, &alone)
        if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
            c.reads |= x->u.buffer->is_double;
    return c;
}

// Return whether a statement is a copy into marked arrays.
static bool is_copy(struct ir_stmt *s)
{
    struct copies c = copies_in(s);
    return c.writes && c.is_plain && !c.reads;
}

// What a loop changes.
struct changes {
    struct ir_block *body; // of the loop
    struct map values;     // `let`s of what changes
};

// Return whether an expression reads what the loop writes, or a value made of
// that.
static bool changes(const struct changes *c, const struct ir_expr *root)
{
    ir_foreach_expr(x, root) {
        bool reads = ir_op_info(x->op)->flags & OP_READS;
        if (reads && ir_block_writes(c->body, x->u.buffer))
            return true;
        if (x->op == OP_var &&
            (x->u.var->kind == VAR_mutable || map_has(&c->values, x->u.var)))
            return true;
    }
    return false;
}

// Return whether a copy reads what the loop changes.
static bool copies_changes(const struct changes *c, struct ir_stmt *copy)
{
    ir_foreach_stmt_from(s, copy)
        ir_foreach_place(place, s)
            if (changes(c, *place))
                return true;
    return false;
}

// Return whether a loop refills marked arrays, once, from what it does not
// change, and uses them behind that.
static bool refills(struct arena *scratch, struct ir_stmt *s)
{
    bool copied = false, used = false;
    struct changes c = {.body = &s->u.loop.body, .values.arena = scratch};
    if (s->kind != STMT_for || axis_kind(s->u.loop.axis) != AXIS_SERIAL ||
        !ir_is_int_const(s->u.loop.from, 0) ||
        !ir_is_int_const(s->u.loop.step, 1))
        return false;
    for (size_t i = 0; i < s->u.loop.body.n; i++) {
        struct ir_stmt *inner = s->u.loop.body.at[i];
        bool copies = is_copy(inner);
        if (copies && (used || copies_changes(&c, inner)))
            return false;
        if (inner->kind == STMT_let && changes(&c, inner->u.let.value))
            map_set(&c.values, inner->u.let.var, inner);
        copied |= copies;
        used |= copies_in(inner).reads;
    }
    return copied && used;
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
        s->u.branch.then = body;
        body = (struct ir_block){0};
        ir_append(a, &body, s);
    }
    ir_splice(a, block, at, &body);
    return body.n;
}

// Unnest the bound loops of a block and below.
static void unnest_all(struct rewrite *r, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++)
            unnest_all(r, inside[k]);
        if (s->kind == STMT_for && r->around[s->u.loop.axis])
            i += unnest(r, block, i) - 1;
    }
}

// Return the copies of the loop's body in an iteration.
static struct ir_block copies_of(struct rewrite *r, struct ir_expr *iteration)
{
    struct arena *a = r->p->arena;
    struct ir_block out = {0};
    struct map vars = {.arena = r->p->scratch};
    struct ir_block *body = &r->loop->u.loop.body;
    map_set(&vars, r->loop->u.loop.var, iteration);
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (s->kind == STMT_let)
            map_set(&vars, s->u.let.var,
                    ir_substitute(a, s->u.let.value, &vars, NULL));
        struct ir_block alone = {&s, 1, 1};
        if (!is_copy(s))
            continue;
        alone = ir_copy_block(a, &alone, &vars, NULL);
        ir_append(a, &out, alone.at[0]);
    }
    unnest_all(r, &out);
    return out;
}

// Put the statements of a block under a condition.
static struct ir_stmt *under(struct rewrite *r, struct ir_expr *condition,
                             struct ir_block block)
{
    struct ir_stmt *s = ir_stmt_if(r->p->arena, condition);
    s->span = r->loop->span;
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
        struct ir_block *inside[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++)
            drop_lets(a, inside[k]);
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

// Remove the copies from the body; returns where the first one was.
static size_t take_copies(struct rewrite *r)
{
    struct ir_block *body = &r->loop->u.loop.body;
    size_t first = body->n;
    for (size_t i = body->n; i-- > 0;) {
        if (!is_copy(body->at[i]))
            continue;
        ir_splice(r->p->arena, body, i, &(struct ir_block){0});
        first = i;
    }
    return first;
}

// Note the array of a store: it is filled, and gets two halves.
static void note_fill(struct rewrite *r, const struct ir_stmt *s)
{
    const struct ir_buffer *b =
        s->kind == STMT_store ? s->u.store.buffer : NULL;
    if (!b || !b->is_double)
        return;
    if (!map_has(&r->doubled, b)) {
        struct ir_buffer *two = arena_new(r->p->arena, struct ir_buffer);
        *two = *b;
        two->is_double = false;
        layout_stack(r->p->arena, two, ir_int(r->p->arena, 2));
        map_set(&r->doubled, b, two);
    }
    map_set(&r->filled, b, map_get(&r->doubled, b));
}

// Note which arrays the loop copies to; marked arrays of loops around keep
// their half.
static void note_filled(struct rewrite *r)
{
    struct ir_block *body = &r->loop->u.loop.body;
    r->filled = (struct map){.arena = r->p->scratch};
    for (size_t i = 0; i < body->n; i++) {
        if (!is_copy(body->at[i]))
            continue;
        ir_foreach_stmt_from(s, body->at[i])
            note_fill(r, s);
    }
}

// Return the half that an iteration uses.
static struct ir_expr *half_of(struct arena *a, struct ir_expr *iteration)
{
    return ir_binary(a, OP_mod, iteration, ir_int(a, 2));
}

// Rewrite a loop in its block.
static void rewrite_loop(struct rewrite *r, struct ir_block *block, size_t at)
{
    struct arena *a = r->p->arena;
    struct ir_for *loop = &r->loop->u.loop;
    struct ir_expr *zero = ir_int(a, 0), *k = ir_read(a, loop->var);
    struct ir_expr *next = ir_add(a, k, ir_int(a, 1));
    struct ir_expr *more = ir_binary(a, OP_lt, next, loop->to);
    note_filled(r);
    struct ir_block first = copies_of(r, zero), load = copies_of(r, next);
    struct ir_block store = copies_of(r, next);
    bool staged = !ir_has(&load, STMT_for);
    size_t front = take_copies(r);
    slots_use_map(a, &r->filled, &first, zero);
    slots_use_map(a, &r->filled, &loop->body, half_of(a, k));
    if (staged)
        split_stores(r, &load);
    r->stores = true;
    if (staged)
        split_stores(r, &store);
    slots_use_map(a, &r->filled, &store, half_of(a, next));
    drop_lets(a, &store);
    if (staged)
        ir_append(a, &loop->body, under(r, more, store));
    ir_insert(a, &loop->body, front, under(r, more, staged ? load : store));
    for (size_t i = 0; i < r->vars.n; i++)
        ir_insert(a, &loop->body, front + i, r->vars.at[i]);
    struct ir_expr *some = ir_binary(a, OP_lt, zero, loop->to);
    ir_insert(a, block, at, under(r, some, first));
}

// Return whether a loop copies to arrays whose halves a loop inside fills, of
// which it is the rest.
static bool is_rest(const struct rewrite *r, struct ir_stmt *loop)
{
    struct ir_block *body = &loop->u.loop.body;
    ir_foreach_stmt(s, body) {
        struct ir_buffer *two = s->kind == STMT_store
                                    ? map_get(&r->doubled, s->u.store.buffer)
                                    : NULL;
        if (two && (ir_block_reads(body, two) || ir_block_writes(body, two)))
            return true;
    }
    return false;
}

// Rewrite the loops of a block and below that refill marked arrays.
static void rewrite_block(struct rewrite *r, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        bool is_bound =
            s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_THREAD;
        struct ir_stmt *outer = is_bound ? r->around[s->u.loop.axis] : NULL;
        uint32_t n = ir_stmt_blocks(s, inside);
        if (is_bound)
            r->around[s->u.loop.axis] = outer ? outer : s;
        for (uint32_t k = 0; k < n; k++)
            rewrite_block(r, inside[k]);
        if (is_bound)
            r->around[s->u.loop.axis] = outer;
        if (!refills(r->p->scratch, s) || is_rest(r, s))
            continue;
        r->loop = s;
        r->vars = (struct ir_block){0};
        r->stores = false;
        r->next = 0;
        rewrite_loop(r, block, i++);
    }
}

// Declare the new arrays instead of the marked ones.
static void declare_halves(struct rewrite *r, struct ir_stmt *s)
{
    if (s->kind != STMT_alloc || !s->u.buffer->is_double)
        return;
    struct ir_buffer *two = map_get(&r->doubled, s->u.buffer);
    if (two) {
        s->u.buffer = two;
        return;
    }
    s->u.buffer->is_double = false;
    dropped_double(r->p, s->u.buffer,
                   "no loop is left that fills it for one iteration after "
                   "another");
}

enum pass_result pass_double_buffer(struct pass *p)
{
    struct rewrite r = {.p = p};
    struct ir_block *body = &p->kernel->body;
    r.doubled.arena = p->scratch;
    rewrite_block(&r, body);
    slots_use_map(p->arena, &r.doubled, body, ir_int(p->arena, 0));
    ir_foreach_stmt(s, body)
        declare_halves(&r, s);
    return PASS_CHANGED;
}
