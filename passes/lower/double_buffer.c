// Double buffering: loads the next tile into registers while this one is used.
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

#include "passes/lower/double_buffer.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"
#include "passes/lower/slots.h"

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

// Note an array that is marked and written: the context of see_copy.
struct copies {
    bool reads, writes; // marked arrays
    bool is_plain;      // nothing but stores to them
};

// Note a read of a marked array.
static void see_read(struct ir_expr *x, void *context)
{
    struct copies *c = context;
    if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
        c->reads |= x->u.buffer->is_double;
}

// Note what a statement does.
static void see_copy(struct ir_stmt *s, void *context)
{
    struct copies *c = context;
    if (s->kind == STMT_store) {
        c->writes |= s->u.store.buffer->is_double;
        c->is_plain &= s->u.store.buffer->is_double;
    }
    c->is_plain &= s->kind == STMT_store || s->kind == STMT_for ||
                   s->kind == STMT_if || s->kind == STMT_let;
}

// Return what a statement does to marked arrays.
static struct copies copies_in(struct ir_stmt *s)
{
    struct copies c = {.is_plain = true};
    struct ir_block alone = {&s, 1, 1};
    ir_each_stmt(&alone, see_copy, &c);
    ir_each_expr_in(&alone, see_read, &c);
    return c;
}

// Return whether a statement is a copy into marked arrays.
static bool is_copy(struct ir_stmt *s)
{
    struct copies c = copies_in(s);
    return c.writes && c.is_plain && !c.reads;
}

// A look at what a copy reads: the context of see_source.
struct sources {
    struct ir_block *body; // of the loop
    struct map values;     // `let`s of what changes
    bool change;           // in the loop
};

// Note an array that the loop writes, or a value made of one.
static void see_source(struct ir_expr *x, void *context)
{
    struct sources *c = context;
    if (ir_op_info(x->op)->flags & OP_READS)
        c->change |= ir_block_writes(c->body, x->u.buffer);
    if (x->op == OP_var)
        c->change |=
            x->u.var->kind == VAR_mutable || map_has(&c->values, x->u.var);
}

// Note a `let` of a value that changes in the loop.
static void see_value(struct sources *c, struct ir_stmt *s)
{
    struct sources alone = {c->body, c->values, false};
    ir_each_expr(s->u.let.value, see_source, &alone);
    if (alone.change)
        map_set(&c->values, s->u.let.var, s);
}

// Return whether a loop refills marked arrays, once, from what it does not
// change, and uses them behind that.
static bool refills(struct arena *scratch, struct ir_stmt *s)
{
    bool copied = false, used = false;
    struct sources sources = {.body = &s->u.loop.body, .values.arena = scratch};
    if (s->kind != STMT_for || axis_kind(s->u.loop.axis) != AXIS_SERIAL ||
        !ir_is_int_const(s->u.loop.from, 0) ||
        !ir_is_int_const(s->u.loop.step, 1))
        return false;
    for (size_t i = 0; i < s->u.loop.body.n; i++) {
        struct ir_stmt *inner = s->u.loop.body.at[i];
        if (is_copy(inner) && used)
            return false;
        if (inner->kind == STMT_let)
            see_value(&sources, inner);
        if (is_copy(inner))
            ir_each_expr_in(&(struct ir_block){&inner, 1, 1}, see_source,
                            &sources);
        copied |= is_copy(inner);
        used |= copies_in(inner).reads;
    }
    return copied && used && !sources.change;
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
static void split_store(struct ir_stmt *s, void *context)
{
    struct rewrite *r = context;
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

// Set *(bool *)context at a loop.
static void see_loop(struct ir_stmt *s, void *context)
{
    *(bool *)context |= s->kind == STMT_for;
}

// Return whether there is a loop in a block.
static bool has_loops(struct ir_block *block)
{
    bool found = false;
    ir_each_stmt(block, see_loop, &found);
    return found;
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
static void see_fill(struct ir_stmt *s, void *context)
{
    struct rewrite *r = context;
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
        if (is_copy(body->at[i]))
            ir_each_stmt(&(struct ir_block){&body->at[i], 1, 1}, see_fill, r);
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
    bool staged = !has_loops(&load);
    size_t front = take_copies(r);
    slots_use_map(a, &r->filled, &first, zero);
    slots_use_map(a, &r->filled, &loop->body, half_of(a, k));
    if (staged)
        ir_each_stmt(&load, split_store, r);
    r->stores = true;
    if (staged)
        ir_each_stmt(&store, split_store, r);
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

// A look for marked arrays of which a loop inside uses both halves already: the
// context of see_taken.
struct taken {
    const struct rewrite *r;
    struct ir_block *body;
    bool found;
};

// Note a store to such an array.
static void see_taken(struct ir_stmt *s, void *context)
{
    struct taken *t = context;
    struct ir_buffer *two = s->kind == STMT_store
                                ? map_get(&t->r->doubled, s->u.store.buffer)
                                : NULL;
    t->found |=
        two && (ir_block_reads(t->body, two) || ir_block_writes(t->body, two));
}

// Return whether a loop copies to arrays whose halves a loop inside fills, of
// which it is the rest.
static bool is_rest(const struct rewrite *r, struct ir_stmt *loop)
{
    struct taken t = {r, &loop->u.loop.body, false};
    ir_each_stmt(&loop->u.loop.body, see_taken, &t);
    return t.found;
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
static void see_alloc(struct ir_stmt *s, void *context)
{
    struct rewrite *r = context;
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

void double_buffer(struct pass *p, struct ir_block *body)
{
    struct rewrite r = {.p = p};
    r.doubled.arena = p->scratch;
    rewrite_block(&r, body);
    slots_use_map(p->arena, &r.doubled, body, ir_int(p->arena, 0));
    ir_each_stmt(body, see_alloc, &r);
}
