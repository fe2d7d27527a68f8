// fragment_prefetch: loads fragments marked `double` one step before they are
// used.
//
//   for k in 0..n {                      async_wait(2)
//     async_wait(2)                      if 0 < n { load F[0] of 0, 0 }
//     for s in 0..4 @unroll {            for k in 0..n {
//       alloc F: .. in local double        for s in 0..3 @unroll {
//       load F of k, s                       load F[(s + 1) % 2] of k, s + 1
//       use F                       =>       use F[s % 2]
//     }                                    }
//     copies                               copies
//   }                                      async_wait(2)
//                                          if k + 1 < n {
//                                            load F[0] of k + 1, 0
//                                          }
//                                          use F[1]
//                                        }
//
// So the last step of an iteration computes while the first fragments of the
// next iteration are loaded, behind that iteration's barrier. The conditions
// are: a serial loop around with only waits in front of the steps, copies
// behind them that the use does not access, and an even number of steps.
// Elsewhere only the loop over the steps is pipelined:
//
//   load F[0] of 0
//   for s in 0..4 @unroll {
//     if s + 1 < 4 { load F[(s + 1) % 2] of s + 1 }
//     use F[s % 2]
//   }
//
// If a fragment's loop has neither form, it is loaded where it is used, with a
// warning if a directive asked for more.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"
#include "passes/lower/slots.h"
#include "passes/pass.h"

// Of a fragment: one is used while the other is loaded.
enum { SLOTS = 2 };

// A loop over steps.
struct steps {
    struct pass *p;
    struct ir_stmt *loop;
    int64_t n;
    struct ring ring; // the fragments, two slots each
    struct ir_block allocs, loads, uses;
};

// The memory that a block uses, and whether it does more than compute.
struct memory {
    bool in_ring, in_local, elsewhere, does_more;
};

// Note the memory of an array.
static void note(struct memory *m, const struct ring *ring,
                 const struct ir_buffer *b)
{
    bool is_local = b->space == SPACE_local;
    bool in_ring = slots_has(ring, b);
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

// Return whether a statement changes one of the fragments.
static bool loads_fragment(const struct steps *x, struct ir_stmt *s)
{
    struct ir_block one = {.at = &s, .n = 1};
    for (size_t i = 0; i < x->ring.arrays.n; i++) {
        if (ir_block_writes(&one, x->ring.arrays.at[i]))
            return true;
    }
    return false;
}

// Part the body of the loop into declarations, loads and uses.
static void part_body(struct steps *x)
{
    struct arena *a = x->p->scratch;
    const struct ir_block *body = &x->loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (s->kind == STMT_alloc && s->u.buffer->is_double &&
            s->u.buffer->space == SPACE_local) {
            vec_push(a, &x->ring.arrays, s->u.buffer);
            ir_append(a, &x->allocs, s);
        } else {
            ir_append(a, loads_fragment(x, s) ? &x->loads : &x->uses, s);
        }
    }
}

// Return whether the iterations of a loop run one after another, from 0 on.
static bool runs_in_order(const struct ir_for *loop)
{
    return (loop->axis == AXIS_serial || loop->axis == AXIS_unroll) &&
           ir_is_int_const(loop->from, 0) && ir_is_int_const(loop->step, 1);
}

// Look at a statement; returns whether it is a loop over steps: those that load
// change nothing else, and the others compute in registers.
static bool find_steps(struct steps *x, struct ir_stmt *s)
{
    if (s->kind != STMT_for || !runs_in_order(&s->u.loop) ||
        !ir_int_value(s->u.loop.to, &x->n) || x->n < 2)
        return false;
    x->loop = s;
    part_body(x);
    struct memory loads = memory_of(&x->ring, &x->loads);
    struct memory uses = memory_of(&x->ring, &x->uses);
    return x->loads.n && !loads.in_local && !loads.does_more &&
           !uses.elsewhere && !uses.does_more;
}

// Append a copy of a block for a step, with the fragments in its slot.
static void append_step(struct steps *x, struct ir_block *out,
                        const struct ir_block *block, struct ir_expr *step)
{
    struct arena *a = x->p->arena;
    struct map vars = {.arena = x->p->scratch};
    struct ir_expr *slot = ir_binary(a, OP_mod, step, ir_int(a, SLOTS));
    map_set(&vars, x->loop->u.loop.var, step);
    struct ir_block copy = ir_copy_block(a, block, &vars, NULL);
    slots_use(a, &x->ring, &copy, slot);
    ir_append_all(a, out, &copy);
}

// Give the fragments two slots and append their declarations.
static void append_allocs(struct steps *x, struct ir_block *out)
{
    struct arena *a = x->p->arena;
    for (size_t i = 0; i < x->allocs.n; i++) {
        struct ir_buffer *b = x->allocs.at[i]->u.buffer;
        layout_stack(a, b, ir_int(a, SLOTS));
        b->is_double = false;
        ir_append(a, out, x->allocs.at[i]);
    }
}

// Append the loop over all steps but the last `left`, each of which loads
// for the next one if there is one.
static void append_loop(struct steps *x, struct ir_block *out, int64_t left)
{
    struct arena *a = x->p->arena;
    struct ir_for *loop = &x->loop->u.loop;
    struct ir_expr *next = ir_add(a, ir_read(a, loop->var), ir_int(a, 1));
    struct ir_block body = {0}, *to = &body;
    if (!left) {
        struct ir_stmt *s =
            ir_stmt_if(a, ir_binary(a, OP_lt, next, ir_int(a, x->n)));
        ir_append(a, &body, ir_stmt_from(s, x->loop));
        to = &s->u.branch.then;
    }
    append_step(x, to, &x->loads, next);
    append_step(x, &body, &x->uses, ir_read(a, loop->var));
    loop->body = body;
    loop->to = ir_int(a, x->n - left);
    ir_append(a, out, x->loop);
}

// Put what stands in the place of a loop over steps into `out`.
static void load_in_loop(struct steps *x, struct ir_block *out)
{
    append_allocs(x, out);
    append_step(x, out, &x->loads, ir_int(x->p->arena, 0));
    append_loop(x, out, 0);
}

// A loop around one over steps.
struct around {
    struct ir_stmt *loop;
    struct ir_block waits, rest;
};

// Return whether a statement waits for copies.
static bool is_wait(const struct ir_stmt *s)
{
    return s->kind == STMT_sync && s->u.sync.kind == SYNC_async_wait;
}

// Look at a statement; returns whether it is a loop whose steps load across its
// iterations.
static bool find_around(struct around *o, struct steps *x, struct ir_stmt *s)
{
    size_t at = 0;
    if (s->kind != STMT_for || !runs_in_order(&s->u.loop) ||
        !ir_is_stable(s->u.loop.to))
        return false;
    const struct ir_block *body = &s->u.loop.body;
    o->loop = s;
    for (; at < body->n && is_wait(body->at[at]); at++)
        ir_append(x->p->scratch, &o->waits, body->at[at]);
    if (at == body->n || !find_steps(x, body->at[at]) || x->n % SLOTS)
        return false;
    for (at++; at < body->n; at++)
        ir_append(x->p->scratch, &o->rest, body->at[at]);
    struct memory rest = memory_of(&x->ring, &o->rest);
    return !rest.in_local && !rest.in_ring;
}

// Append the waits, and the loads of the first step if there is an iteration:
// the next one, or the first of all.
static void append_first(struct steps *x, struct ir_block *out,
                         const struct around *o, bool is_next)
{
    struct arena *a = x->p->arena;
    const struct ir_for *loop = &o->loop->u.loop;
    struct map vars = {.arena = x->p->scratch};
    struct ir_expr *k = ir_int(a, 0);
    if (is_next)
        k = ir_add(a, ir_read(a, loop->var), ir_int(a, 1));
    struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_lt, k, loop->to));
    map_set(&vars, loop->var, k);
    struct ir_block waits = ir_copy_block(a, &o->waits, NULL, NULL);
    ir_append_all(a, out, &waits);
    append_step(x, &s->u.branch.then, &x->loads, ir_int(a, 0));
    ir_substitute_in(a, &s->u.branch.then, &vars, NULL);
    ir_append(a, out, ir_stmt_from(s, x->loop));
}

// Put what stands in the place of a loop around into `out`.
static void load_across(struct steps *x, const struct around *o,
                        struct ir_block *out)
{
    struct arena *a = x->p->arena;
    struct ir_block body = {0};
    append_allocs(x, out);
    append_first(x, out, o, false);
    append_loop(x, &body, 1);
    ir_append_all(a, &body, &o->rest);
    append_first(x, &body, o, true);
    append_step(x, &body, &x->uses, ir_int(a, x->n - 1));
    o->loop->u.loop.body = body;
    ir_append(a, out, o->loop);
}

// Rewrite the loops of a block and below; returns whether there were any.
static bool rewrite_block(struct pass *p, struct ir_block *block)
{
    bool changed = false;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block out = {0};
        struct steps across = {.p = p}, alone = {.p = p};
        struct around around = {0};
        if (find_around(&around, &across, s))
            load_across(&across, &around, &out);
        else if (find_steps(&alone, s))
            load_in_loop(&alone, &out);
        if (!out.n) {
            ir_foreach_block(inner, s)
                changed |= rewrite_block(p, inner);
            continue;
        }
        ir_splice(p->arena, block, i, &out);
        i += out.n - 1;
        changed = true;
    }
    return changed;
}

// Take the marks of fragments that stay as they are; returns whether there are
// any.
static bool unmark(struct pass *p)
{
    bool changed = false;
    ir_foreach_stmt(s, &p->kernel->body) {
        if (s->kind != STMT_alloc || s->u.buffer->space != SPACE_local ||
            !s->u.buffer->is_double)
            continue;
        s->u.buffer->is_double = false;
        changed = true;
        dropped_double(p, s->u.buffer,
                       "no loop is left that loads it for one step after "
                       "another");
    }
    return changed;
}

enum pass_result pass_fragment_prefetch(struct pass *p)
{
    bool changed = rewrite_block(p, &p->kernel->body);
    changed |= unmark(p);
    return changed ? PASS_CHANGED : PASS_SAME;
}
