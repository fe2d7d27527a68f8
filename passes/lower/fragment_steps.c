// Loops over steps, each of which loads fragments and uses them.

#include "passes/lower/fragment_steps.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/lower/slots.h"

// The memory that a block uses, and whether it does more than compute.
struct memory {
    bool in_ring, in_local, elsewhere, does_more;
};

// Note the memory of an array.
static void note(struct memory *m, const struct ring *ring,
                 const struct ir_buffer *b)
{
    bool is_local = b->space == SPACE_local;
    bool in_ring = ring_has(ring, b);
    m->in_ring |= in_ring;
    m->in_local |= is_local && !in_ring;
    m->elsewhere |= !is_local;
}

// Return what memory a block uses.
static struct memory memory_of(const struct ring *ring,
                               const struct ir_block *block)
{
    struct memory m = {0};
    ir_foreach_expr_in(x, block)
        if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
            note(&m, ring, x->u.buffer);
    ir_foreach_stmt(s, block) {
        if (ir_stored(s))
            note(&m, ring, ir_stored(s));
        else
            m.does_more |= s->kind != STMT_stage && s->kind != STMT_for &&
                           s->kind != STMT_if && s->kind != STMT_matrix;
    }
    return m;
}

// Return whether a statement rounds an element of a fragment to tf32 where it
// is.
static bool rounds_element(const struct ring *ring, const struct ir_stmt *s)
{
    if (s->kind != STMT_store || !ring_has(ring, s->u.store.buffer) ||
        s->u.store.value->op != OP_tf32)
        return false;
    const struct ir_expr *x = s->u.store.value->args[0];
    return x->op == OP_load && x->u.buffer == s->u.store.buffer &&
           ir_all_equal(x->n, x->args, s->u.store.index);
}

// Return whether a statement does nothing else, to whichever elements.
static bool rounds(const struct ring *ring, const struct ir_stmt *root)
{
    bool found = false;
    ir_foreach_stmt_from(s, root) {
        if (rounds_element(ring, s))
            found = true;
        else if (s->kind != STMT_for && s->kind != STMT_stage)
            return false;
    }
    return found;
}

// Part the body of the loop into loads, what rounds these, and uses; returns
// whether some statement just fills fragments.
static bool part_body(struct arena *a, struct fragment_steps *x)
{
    bool fills = false;
    const struct ir_for *loop = &x->ring.loop->u.loop;
    for (size_t i = ir_ring_slots(loop); i < loop->body.n; i++) {
        struct ir_stmt *s = loop->body.at[i];
        if (s->kind == STMT_alloc && ring_has(&x->ring, s->u.buffer))
            continue;
        if (rounds(&x->ring, s)) {
            ir_append(a, &x->rounds, s);
            continue;
        }
        bool loads = ring_is_written(&x->ring, s);
        fills |= loads && !ring_is_read(&x->ring, s);
        ir_append(a, loads ? &x->loads : &x->uses, s);
    }
    return fills;
}

// Return whether the iterations of a loop run one after another, from 0 on.
static bool runs_in_order(const struct ir_for *loop)
{
    return (loop->axis == AXIS_serial || loop->axis == AXIS_unroll) &&
           ir_for_counts(loop);
}

bool fragment_steps_find(struct arena *a, struct fragment_steps *x)
{
    const struct ir_for *loop = &x->ring.loop->u.loop;
    if (!runs_in_order(loop) || !ir_int_value(loop->to, &x->n) || x->n < 2 ||
        !part_body(a, x))
        return false;
    struct memory loads = memory_of(&x->ring, &x->loads);
    struct memory uses = memory_of(&x->ring, &x->uses);
    return !loads.in_local && !loads.does_more && !uses.elsewhere &&
           !uses.does_more;
}

// Return whether a statement waits for copies.
static bool is_wait(const struct ir_stmt *s)
{
    return s->kind == STMT_sync && s->u.sync.kind == SYNC_async_wait;
}

bool fragment_steps_around(struct arena *a, const struct fragment_steps *x,
                           struct ir_stmt *s, struct fragment_around *o)
{
    size_t at = 0;
    *o = (struct fragment_around){.loop = s};
    if (s->kind != STMT_for || !runs_in_order(&s->u.loop) ||
        !ir_is_stable(s->u.loop.to) || x->n % x->ring.of->slots)
        return false;
    const struct ir_block *body = &s->u.loop.body;
    for (; at < body->n && is_wait(body->at[at]); at++)
        ir_append(a, &o->waits, body->at[at]);
    if (at == body->n || body->at[at] != x->ring.loop)
        return false;
    for (at++; at < body->n; at++)
        ir_append(a, &o->rest, body->at[at]);
    struct memory rest = memory_of(&x->ring, &o->rest);
    return !rest.in_local && !rest.in_ring;
}
