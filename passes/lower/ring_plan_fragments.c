// Plans rings of fragments: a loop over steps that loads fragments marked
// `double` has two slots of them.
//
//   for k in 0..n {                      alloc F: f16[2, ..] in local
//     async_wait(2)                      for k in 0..n {
//     for s in 0..4 @unroll {              async_wait(2)
//       alloc F: .. in local double        for s in 0..4 @unroll @ring(slots 2,
//       load F of k, s             =>          transport fragments, arrive order,
//       use F                                  release order, arrays F) {
//     }                                      let slot = s % 2
//     copies                                 load F[slot] of k, s
//   }                                        use F[slot]
//                                          }
//                                          copies
//                                        }
//
// If the steps can load across the iterations of the loop around
// (fragment_steps.h), the fragments stand in front of that; elsewhere in front
// of the steps.

#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"
#include "passes/lower/fragment_steps.h"
#include "passes/lower/ring_plans.h"
#include "passes/lower/slots.h"

static const struct ring_plans_words words = {
    RING_transport_fragments, RING_arrive_order, RING_release_order};

// Return whether a statement declares a marked fragment.
static bool is_marked(const struct ir_stmt *s)
{
    return s->kind == STMT_alloc && s->u.buffer->is_double &&
           s->u.buffer->space == SPACE_local;
}

// Return the marked fragments that the body of a loop declares.
static struct ring marked_in(struct pass *p, struct ir_stmt *loop)
{
    struct ring ring = {.loop = loop,
                        .of = ir_ring_new(p->scratch, RING_PLANS_SLOTS)};
    const struct ir_block *body = &loop->u.loop.body;
    for (size_t i = 0; i < body->n; i++) {
        if (is_marked(body->at[i]))
            vec_push(p->scratch, &ring.arrays, body->at[i]->u.buffer);
    }
    return ring;
}

// Give a marked fragment its slots, and put its declaration in front of a
// statement of a block.
static void place_array(struct pass *p, struct ir_stmt *alloc,
                        struct ir_block *block, const struct ir_stmt *s)
{
    struct ir_buffer *b = alloc->u.buffer;
    layout_stack(p->arena, b, ir_int(p->arena, RING_PLANS_SLOTS));
    b->is_double = false;
    ir_insert(p->arena, block, ir_index(block, s), alloc);
}

// Move the declarations of the fragments in front of the loop around, or of the
// loop itself.
static void place_arrays(struct pass *p, const struct fragment_steps *x)
{
    struct ir_path path;
    struct fragment_around o;
    struct ir_block *body = &x->ring.loop->u.loop.body;
    size_t n = 0;
    ir_find(p->scratch, &p->kernel->body, x->ring.loop, &path);
    uint32_t at = path.n - 1;
    if (at && fragment_steps_around(p->scratch, x, path.stmts[at - 1], &o))
        at--;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (is_marked(s))
            place_array(p, s, path.blocks[at], path.stmts[at]);
        else
            body->at[n++] = s;
    }
    body->n = n;
}

// Give a loop over steps a ring of its marked fragments.
static void plan(struct pass *p, const struct fragment_steps *x)
{
    struct ir_for *loop = &x->ring.loop->u.loop;
    place_arrays(p, x);
    struct ir_ring *of = ring_plans_add(p, x->ring.loop, &words);
    const struct ir_stmt *slot = ir_ring_slot(loop, loop->rings.n - 1);
    vec_append(p->arena, &of->arrays, &x->ring.arrays);
    slots_use(p->arena, &x->ring, &loop->body,
              ir_read(p->arena, slot->u.let.var));
}

// Plan the loops over steps of a block and below; returns whether there were
// any.
static bool plan_block(struct pass *p, struct ir_block *block)
{
    bool changed = false;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            changed |= plan_block(p, inner);
        i = ir_index(block, s);
        if (s->kind != STMT_for)
            continue;
        struct fragment_steps x = {.ring = marked_in(p, s)};
        if (!x.ring.arrays.n || !fragment_steps_find(p->scratch, &x))
            continue;
        plan(p, &x);
        i = ir_index(block, s);
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
        if (!is_marked(s))
            continue;
        s->u.buffer->is_double = false;
        changed = true;
        dropped_double(p, s->u.buffer,
                       "no loop is left that loads it for one step after "
                       "another");
    }
    return changed;
}

bool ring_plan_fragments(struct pass *p)
{
    bool changed = plan_block(p, &p->kernel->body);
    changed |= unmark(p);
    return changed;
}
