// Plans register rings: a loop that refills arrays marked `double` has two slots
// of them.
//
//   alloc S: f32[n] in shared double    alloc S: f32[2, n] in shared
//   for k in 0..K {                     for k in 0..K @ring(slots 2,
//     S[i] = A[k, i]                        transport registers, arrive barrier,
//     use S                        =>       release barrier, arrays S) {
//   }                                     let slot = k % 2
//   use S                                 S[slot, i] = A[k, i]
//                                         use S[slot]
//                                       }
//                                       use S[0]
//
// Outside of such loops the first slot is used: so in the rest of a loop that
// was cut, or that computes what is copied.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"
#include "passes/lower/ring_plans.h"
#include "passes/lower/slots.h"

static const struct ring_plans_words words = {
    RING_transport_registers, RING_arrive_barrier, RING_release_barrier};

// The plans of a kernel.
struct plans {
    struct pass *p;
    struct map slotted; // marked arrays -> those with slots
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
    ir_foreach_stmt_from(t, s) {
        bool stores = t->kind == STMT_store;
        c.writes |= stores && t->u.store.buffer->is_double;
        c.is_plain &= stores ? t->u.store.buffer->is_double
                             : t->kind == STMT_for || t->kind == STMT_if ||
                                   t->kind == STMT_let;
    }
    ir_foreach_expr_in(x, ir_alone(s))
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

// Return whether a loop runs its iterations one after another, from 0 on.
static bool runs_in_order(const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_SERIAL) && ir_for_counts(&s->u.loop);
}

// Return whether a loop refills marked arrays, once, from what it does not
// change, and uses them behind that.
static bool refills(struct arena *scratch, struct ir_stmt *s)
{
    bool copied = false, used = false;
    struct changes c = {.body = &s->u.loop.body, .values.arena = scratch};
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

// Return the marked arrays that a loop copies to; marked arrays of loops around
// keep their slot.
static struct ring copied_by(struct arena *a, struct ir_stmt *loop)
{
    struct ring ring = {.loop = loop};
    const struct ir_block *body = &loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        if (!is_copy(body->at[i]))
            continue;
        ir_foreach_stmt_from(s, body->at[i])
            if (s->kind == STMT_store && !ring_has(&ring, s->u.store.buffer))
                vec_push(a, &ring.arrays, s->u.store.buffer);
    }
    return ring;
}

// Return whether something else than the copies of a loop, and what uses them,
// writes what they fill.
static bool is_written_else(const struct ring *ring)
{
    const struct ir_block *body = &ring->loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (!is_copy(s) && ring_is_written(ring, s) && !ring_is_read(ring, s))
            return true;
    }
    return false;
}

// Return whether a loop copies to arrays whose slots a loop inside fills, of
// which it is the rest.
static bool is_rest(const struct plans *l, struct ir_stmt *loop)
{
    struct ir_block *body = &loop->u.loop.body;
    ir_foreach_stmt(s, body) {
        struct ir_buffer *two = s->kind == STMT_store
                                    ? map_get(&l->slotted, s->u.store.buffer)
                                    : NULL;
        if (two && ir_block_uses(body, two))
            return true;
    }
    return false;
}

// Return the array with slots that stands for a marked one.
static struct ir_buffer *slotted(struct plans *l, const struct ir_buffer *b)
{
    struct ir_buffer *two = map_get(&l->slotted, b);
    if (two)
        return two;
    two = arena_new(l->p->arena, struct ir_buffer);
    *two = *b;
    two->is_double = false;
    layout_stack(l->p->arena, two, ir_int(l->p->arena, RING_PLANS_SLOTS));
    map_set(&l->slotted, b, two);
    return two;
}

// Give a loop a ring of the arrays that it copies to.
static void plan(struct plans *l, const struct ring *copied)
{
    struct ir_for *loop = &copied->loop->u.loop;
    struct ir_ring *of = ring_plans_add(l->p, copied->loop, &words);
    const struct ir_stmt *slot = ir_ring_slot(loop, loop->rings.n - 1);
    struct map filled = {.arena = l->p->scratch};
    for (size_t i = 0; i < copied->arrays.n; i++) {
        struct ir_buffer *b = copied->arrays.at[i], *two = slotted(l, b);
        map_set(&filled, b, two);
        vec_push(l->p->arena, &of->arrays, two);
    }
    slots_use_map(l->p->arena, &filled, &loop->body,
                  ir_read(l->p->arena, slot->u.let.var));
}

// Plan the loops of a block and below that refill marked arrays, the inner ones
// first.
static void plan_block(struct plans *l, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            plan_block(l, inner);
        if (!runs_in_order(s) || !refills(l->p->scratch, s) || is_rest(l, s))
            continue;
        struct ring copied = copied_by(l->p->scratch, s);
        if (!is_written_else(&copied))
            plan(l, &copied);
    }
}

// Declare the array with slots instead of a marked one; one without stays as it
// is.
static void declare(struct plans *l, struct ir_stmt *alloc)
{
    struct ir_buffer *two = map_get(&l->slotted, alloc->u.buffer);
    if (two) {
        alloc->u.buffer = two;
        return;
    }
    alloc->u.buffer->is_double = false;
    dropped_double(l->p, alloc->u.buffer,
                   "no loop is left that fills it for one iteration after "
                   "another");
}

bool ring_plan_registers(struct pass *p)
{
    struct plans l = {.p = p, .slotted.arena = p->scratch};
    struct ir_block *body = &p->kernel->body;
    bool changed = false;
    plan_block(&l, body);
    slots_use_map(p->arena, &l.slotted, body, ir_int(p->arena, 0));
    ir_foreach_stmt(s, body) {
        if (s->kind != STMT_alloc || !s->u.buffer->is_double)
            continue;
        declare(&l, s);
        changed = true;
    }
    return changed;
}
