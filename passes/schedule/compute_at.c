// compute_at -- compute in each iteration of a loop what its stages read.
//
//   for i { P[i] = f(i) }
//   for i_0 { for i_1 in 0..128 { C[i] = P[i] + P[i + 1] } }
//     =>   compute_at(P, C.i_0)
//   for i_0 { for ax0 in 0..129 { P[i_0 * 128 + ax0] = f(...) if ... < n }
//             for i_1 in 0..128 { C[i] = P[i] + P[i + 1] } }
//
// The stage gets new loops, directly before the first of its readers: over the
// part of its array that one iteration reads (for an array in shared memory:
// all threads of the block), and over its reductions.
//
// Requires:
//  1. the stage is one store to its own iteration
//     variables, and alone writes its array        E0653 E0654
//  2. the array is an intermediate one             E0655
//  3. all that read it are in the loop             E0656
//  4. what it reads is computed before, and does
//     not change behind it                         E0657

#include "passes/schedule/move.h"
#include "passes/schedule/stage_nest.h"

#include "ir/build.h"
#include "ir/stage.h"

// What is moved.
struct move {
    struct ir_stmt *stage, *loop;
    const struct ir_buffer *array;
    struct sched_uses uses;
    struct ir_stmt *first; // of its readers
    struct ir_stmt *front; // in the loop, holds the first reader
};

// Find the first reader; false after an error if there is none.
static bool find_front(const struct sched_call *c, struct move *m)
{
    size_t at;
    for (size_t i = 0; i < m->uses.readers.n && !m->first; i++) {
        if (m->uses.readers.at[i] != m->stage)
            m->first = m->uses.readers.at[i];
    }
    if (m->first) {
        m->front = sched_child_with(c->pass, m->loop, m->first, &at);
        return true;
    }
    diag_error(c->pass->diags, c->span, D_move_shape, sched_name_of(m->stage));
    return sched_blame_one(c, m->stage, "nothing reads what it computes");
}

// Check that what the stage reads is there, and stays, until the new place.
static bool check_inputs(const struct sched_call *c, const struct move *m)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    size_t old = sched_order_of(p, m->stage);
    size_t new = sched_order_of(p, m->front);
    vec_push(p->scratch, &inputs, m->array);
    for (size_t i = 0; i < inputs.n; i++) {
        if (!sched_check_scope(c, m->loop, inputs.at[i]))
            return false;
        struct sched_uses uses = sched_uses_of(p, inputs.at[i]);
        for (size_t k = 0; k < uses.writers.n; k++) {
            struct ir_stmt *s = uses.writers.at[k];
            size_t order = sched_order_of(p, s);
            if (s == m->stage || (order < old && order < new))
                continue;
            struct ir_stmt *both[] = {m->loop, s};
            diag_error(p->diags, c->span, D_move_order, sched_name_of(m->stage),
                       order < old ? "run before what it reads is computed"
                                   : "read what has changed meanwhile");
            return sched_blame(c, both, 2, "the loop, and what computes it");
        }
    }
    return true;
}

// Check everything and fill `m` in.
static bool check(const struct sched_call *c, struct move *m)
{
    m->array = sched_stored(m->stage);
    m->uses = sched_uses_of(c->pass, m->array);
    if (!sched_check_movable(c, m->stage, &m->uses))
        return false;
    if (m->array->role != ROLE_alloc) {
        diag_error(c->pass->diags, c->span, D_move_output, m->array->name);
        return sched_blame_one(c, m->stage, "computes a result");
    }
    return sched_check_below(c, m->loop, m->array, "also read",
                             m->uses.readers.at, m->uses.readers.n, m->stage) &&
           find_front(c, m) && check_inputs(c, m);
}

// Return the values that each iteration variable has to take.
static struct box_dim *box_of(struct pass *p, const struct move *m)
{
    const struct ir_stage *stage = &m->stage->u.stage;
    const struct ir_stmt *store = sched_plain_store(m->stage);
    struct box_query q = {.pass = p,
                          .loop = m->loop,
                          .buffer = m->array,
                          .access = REGION_loads,
                          .across_threads = m->array->space == SPACE_shared};
    struct box read = box_touched(&q);
    struct box_dim *box = stage_nest_box(p, stage);
    for (uint32_t i = 0; i < store->u.store.n; i++)
        box[ir_stage_iter(stage, store->u.store.index[i])] = read.dims[i];
    return box;
}

bool sched_compute_at(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct move m = {.stage = sched_arg(c, 0), .loop = sched_arg(c, 1)};
    if (!check(c, &m))
        return false;
    struct box_dim *box = box_of(p, &m);
    sched_hoist_arrays(p);
    sched_remove(p, m.stage);
    struct sched_place place = sched_place_of(p, m.front, false);
    stage_nest_put(p, m.stage, &place, box);
    return true;
}
