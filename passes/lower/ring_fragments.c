// Lowers a ring of fragments: a prefetch, each step loads those of the next one.
//
//   for k in 0..n {                      async_wait(2)
//     async_wait(2)                      if 0 < n { load F[0] of 0, 0 }
//     for s in 0..4 @unroll              for k in 0..n {
//         @ring(slots 2, arrays F) {       for s in 0..3 @unroll {
//       let slot = s % 2                     load F[(s + 1) % 2] of k, s + 1
//       load F[slot] of k, s       =>        use F[s % 2]
//       use F[slot]                        }
//     }                                    copies
//     copies                               async_wait(2)
//   }                                      if k + 1 < n {
//                                            load F[0] of k + 1, 0
//                                          }
//                                          use F[1]
//                                        }
//
// So the last step of an iteration computes while the first fragments of the
// next iteration are loaded, behind that iteration's barrier. What that asks of
// the loop around says fragment_steps.h; the fragments are then declared in
// front of it. Elsewhere only the loop over the steps is pipelined:
//
//   load F[0] of 0
//   for s in 0..4 @unroll {
//     if s + 1 < 4 { load F[(s + 1) % 2] of s + 1 }
//     use F[s % 2]
//   }
//
// What is loaded is rounded to tf32, where it is to be, behind the use that the
// load runs beside; also where there was no load, which changes nothing.

#include "passes/lower/ring_fragments.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/lower/fragment_steps.h"
#include "passes/lower/slots.h"

// The rewrite of a loop.
struct rewrite {
    struct pass *p;
    struct ir_for *loop;
    struct fragment_steps steps;
};

// Append a copy of a block for a step.
static void append_step(struct rewrite *r, struct ir_block *out,
                        const struct ir_block *block, struct ir_expr *step)
{
    struct arena *a = r->p->arena;
    struct map vars = {.arena = r->p->scratch};
    slots_at(a, r->loop, step, &vars);
    struct ir_block copy = ir_copy_block(a, block, &vars, NULL);
    ir_append_all(a, out, &copy);
}

// Return the loop's body: a step that loads for the next one. If no step is
// `left` behind the loop, its last one has none.
static struct ir_block step_of(struct rewrite *r, int64_t left)
{
    struct arena *a = r->p->arena;
    struct ir_expr *step = ir_read(a, r->loop->var);
    struct ir_expr *next = ir_add(a, step, ir_int(a, 1));
    struct ir_block body = {0}, *to = &body;
    if (!left) {
        struct ir_stmt *s =
            ir_stmt_if(a, ir_binary(a, OP_lt, next, ir_int(a, r->steps.n)));
        ir_append(a, &body, ir_stmt_from(s, r->steps.ring.loop));
        to = &s->u.branch.then;
    }
    append_step(r, to, &r->steps.loads, next);
    append_step(r, &body, &r->steps.uses, step);
    append_step(r, &body, &r->steps.rounds, next);
    return body;
}

// Let the loop run all steps but the last `left`, without a ring.
static void run_ahead(struct rewrite *r, int64_t left)
{
    struct ir_block body = step_of(r, left);
    ir_ring_remove(r->loop, 0);
    r->loop->body = body;
    r->loop->to = ir_int(r->p->arena, r->steps.n - left);
}

// Append the waits, and the loads of the first step if there is an iteration:
// the next one, or the first of all.
static void append_first(struct rewrite *r, struct ir_block *out,
                         const struct fragment_around *o, bool is_next)
{
    struct arena *a = r->p->arena;
    const struct ir_for *loop = &o->loop->u.loop;
    struct map vars = {.arena = r->p->scratch};
    struct ir_expr *k = ir_int(a, 0);
    if (is_next)
        k = ir_add(a, ir_read(a, loop->var), ir_int(a, 1));
    struct ir_stmt *s = ir_stmt_if(a, ir_binary(a, OP_lt, k, loop->to));
    map_set(&vars, loop->var, k);
    struct ir_block waits = ir_copy_block(a, &o->waits, NULL, NULL);
    ir_append_all(a, out, &waits);
    append_step(r, &s->u.branch.then, &r->steps.loads, ir_int(a, 0));
    if (!is_next)
        append_step(r, &s->u.branch.then, &r->steps.rounds, ir_int(a, 0));
    ir_substitute_in(a, &s->u.branch.then, &vars, NULL);
    ir_append(a, out, ir_stmt_from(s, r->steps.ring.loop));
}

// Let the steps load across the iterations of the loop around, in its block.
static void load_across(struct rewrite *r, const struct fragment_around *o,
                        struct ir_block *block)
{
    struct arena *a = r->p->arena;
    struct ir_block front = {0}, behind = {0}, body = {0};
    append_first(r, &front, o, false);
    append_first(r, &behind, o, true);
    append_step(r, &behind, &r->steps.uses, ir_int(a, r->steps.n - 1));
    append_step(r, &behind, &r->steps.rounds, ir_int(a, 0));
    run_ahead(r, 1);
    ir_append(a, &body, r->steps.ring.loop);
    ir_append_all(a, &body, &o->rest);
    ir_append_all(a, &body, &behind);
    o->loop->u.loop.body = body;
    ir_insert_all(a, block, ir_index(block, o->loop), &front);
}

// Let each step load for the next one, in the block of the loop.
static void load_in_loop(struct rewrite *r, struct ir_block *block)
{
    struct ir_block front = {0};
    append_step(r, &front, &r->steps.loads, ir_int(r->p->arena, 0));
    append_step(r, &front, &r->steps.rounds, ir_int(r->p->arena, 0));
    run_ahead(r, 0);
    ir_insert_all(r->p->arena, block, ir_index(block, r->steps.ring.loop),
                  &front);
}

bool ring_fragments_lower(struct pass *p, struct ir_block *block,
                          struct ir_stmt *loop)
{
    struct ir_path path;
    struct fragment_around o;
    struct rewrite r = {.p = p, .loop = &loop->u.loop};
    r.steps.ring = ring_planned(p->scratch, loop, 0);
    if (!fragment_steps_find(p->scratch, &r.steps)) {
        diag_error(p->diags, loop->span, D_pipeline_lost,
                   loop->u.loop.var->name,
                   "its steps do more than load fragments and compute in "
                   "registers");
        return false;
    }
    ir_find(p->scratch, &p->kernel->body, loop, &path);
    uint32_t at = path.n - 1;
    if (at &&
        fragment_steps_around(p->scratch, &r.steps, path.stmts[at - 1], &o))
        load_across(&r, &o, path.blocks[at - 1]);
    else
        load_in_loop(&r, block);
    return true;
}
