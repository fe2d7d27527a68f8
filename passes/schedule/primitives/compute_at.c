// compute_at -- compute in each iteration of a loop what its stages read.
//
//   for i { P[i] = f(i) }
//   for i_0 { for i_1 in 0..128 { C[i] = P[i] + P[i + 1] } }
//     =>   compute_at(P, C.i_0)
//   for i_0 { for ax0 in 0..129 { P[i_0 * 128 + ax0] = f(...) if ... < n }
//             for i_1 in 0..128 { C[i] = P[i] + P[i + 1] } }
//
// The stage gets new loops, directly before the first stage that uses its
// arrays: over the part of them that one iteration reads (for arrays in shared
// memory: all threads of the block), and over its reductions.
//
// Requires:
//  1. the stage stores to its own iteration variables,
//     and something reads that                      E0653 E0654
//  2. its arrays are intermediate ones              E0655
//  3. all that use them are in the loop, those that
//     write them, too, behind the stage; an init is
//     before the loops of its reduction; none goes on
//     with the stage's own reduction, or with what the
//     stage begins anew in each iteration           E0654 E0656
//  4. what it reads is computed before, and does not
//     change behind it: not even in an iteration, if
//     another one reads what that changes           E0657
//  5. nothing has been said of the loops that it
//     leaves                                        E0670

#include "passes/schedule/common/move.h"

#include "ir/accesses.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/schedule/common/offer.h"
#include "passes/schedule/common/stage_nest.h"
#include "passes/schedule/depend/depend.h"

// What is moved.
struct move {
    struct ir_stmt *stage, *loop;
    struct sched_stores stores;
    struct sched_uses uses; // of the arrays
    struct ir_stmt *first;  // of the other stages that use them
    struct ir_stmt *front;  // in the loop, holds that one
    bool is_changed;        // another stage writes the arrays, too
};

// Check that the arrays are intermediate ones.
static bool check_results(const struct sched_call *c, const struct move *m)
{
    for (size_t i = 0; i < m->stores.arrays.n; i++) {
        if (m->stores.arrays.at[i]->role == ROLE_alloc)
            continue;
        return sched_refuse(c, m->stage, "computes a result", D_move_output,
                            m->stores.arrays.at[i]->name);
    }
    return true;
}

// Return a loop that the stage would leave whose iterations each begin the same
// elements anew, for another stage to change; NULL if there is none.
static struct ir_stmt *begins_anew(struct pass *p, const struct move *m,
                                   const struct ir_stmt *other)
{
    struct ir_block loops = sched_loops(p, m->stage);
    for (size_t i = 0; i < loops.n; i++) {
        struct ir_stmt *loop = loops.at[i];
        if (loop != m->loop && !sched_is_below(p, m->loop, loop) &&
            sched_is_below(p, other, loop) &&
            !ir_stage_role(&m->stage->u.stage, loop->u.loop.var))
            return loop;
    }
    return NULL;
}

// Check that no such loop is left.
static bool check_anew(const struct sched_call *c, const struct move *m)
{
    for (size_t i = 0; i < m->uses.writers.n; i++) {
        struct ir_stmt *other = m->uses.writers.at[i];
        struct ir_stmt *loop =
            other == m->stage ? NULL : begins_anew(c->pass, m, other);
        if (loop)
            return sched_refuse_two(
                c, loop, other,
                "a loop to be left, and what changes its array in it",
                D_move_shape, sched_name_of(m->stage));
    }
    return true;
}

// Check that other stages write the arrays only in the loop, behind this one,
// and are no parts of the same reduction.
static bool check_writers(const struct sched_call *c, struct move *m)
{
    struct pass *p = c->pass;
    size_t own = sched_order_of(p, m->stage);
    vec_foreach_value(s, &m->uses.writers) {
        bool goes_on = s->kind == STMT_stage && ir_stage_reduces(&s->u.stage) &&
                       ir_stage_reduces(&m->stage->u.stage);
        m->is_changed |= s != m->stage;
        if (s != m->stage && (goes_on || sched_order_of(p, s) < own ||
                              !sched_is_below(p, s, m->loop)))
            return sched_check_alone(c, m->stage, &m->uses);
    }
    return check_anew(c, m);
}

// Take the earlier one of two statements, of which the first may be NULL.
static struct ir_stmt *earlier(struct pass *p, struct ir_stmt *x,
                               struct ir_stmt *y)
{
    return !x || sched_order_of(p, y) < sched_order_of(p, x) ? y : x;
}

// Find the first of the other stages that use the arrays; false after an
// error if none reads them.
static bool find_first(const struct sched_call *c, struct move *m)
{
    struct pass *p = c->pass;
    bool is_read = false;
    for (size_t i = 0; i < m->uses.readers.n; i++) {
        is_read |= m->uses.readers.at[i] != m->stage;
        if (m->uses.readers.at[i] != m->stage)
            m->first = earlier(p, m->first, m->uses.readers.at[i]);
    }
    for (size_t i = 0; i < m->uses.writers.n && is_read; i++)
        if (m->uses.writers.at[i] != m->stage)
            m->first = earlier(p, m->first, m->uses.writers.at[i]);
    return is_read ||
           sched_refuse_shape(c, m->stage, "nothing reads what it computes");
}

// Return whether the stage just copies an array, element by element.
static bool is_copy_of(const struct move *m, const struct ir_buffer *from)
{
    const struct ir_block *body = &m->stage->u.stage.body;
    const struct ir_stmt *s = body->at[0];
    if (body->n != 1 || s->kind != STMT_store ||
        s->u.store.value->op != OP_load || s->u.store.value->u.buffer != from ||
        from->rank != m->stores.n)
        return false;
    return ir_all_equal(m->stores.n, m->stores.index, s->u.store.value->args);
}

// Check that no iteration of the loop, or of one around it, needs what another
// one makes of the elements of `written`.
static bool check_flow(const struct sched_call *c, const struct move *m,
                       const struct ir_buffer *written,
                       const struct ir_buffer *used)
{
    struct pass *p = c->pass;
    struct depend_conflict conflict;
    struct depend_flow flow = {.written = written, .used = used};
    struct ir_block loops = sched_loops(p, m->loop);
    flow.aside = m->stage;
    for (size_t i = 0; i < loops.n; i++) {
        if (!depend_flows(p, loops.at[i], &flow, &conflict))
            continue;
        struct ir_stmt *both[] = {loops.at[i], m->stage};
        diag_error(p->diags, c->span, D_move_order, sched_name_of(m->stage),
                   "undo what an iteration leaves to another one");
        sched_note_conflict(c, &conflict);
        return sched_blame(c, both, 2, "the loop, and what would run again");
    }
    return true;
}

// Check that no iteration changes what the stage would copy again for another
// one.
static bool check_changes(const struct sched_call *c, const struct move *m)
{
    const struct sched_buffers *arrays = &m->stores.arrays;
    for (size_t i = 0; i < arrays->n && m->is_changed; i++)
        if (!check_flow(c, m, arrays->at[i], arrays->at[i]))
            return false;
    return true;
}

// Report that a stage computes, or changes, what the moved one reads.
static bool refuse_order(const struct sched_call *c, const struct move *m,
                         struct ir_stmt *s, const struct ir_buffer *b,
                         bool before)
{
    struct sched_obstacle o = {
        .stage = m->stage,
        .loop = m->loop,
        .other = s,
        .buffer = b,
        .fault = before ? "run before what it reads is computed"
                        : "read what has changed meanwhile",
        .note = "the loop, and what computes it"};
    return sched_refuse_order(c, &o);
}

// Check that an array that the stage reads is there, and stays, until the new
// place.
static bool check_input(const struct sched_call *c, const struct move *m,
                        const struct ir_buffer *b)
{
    struct pass *p = c->pass;
    size_t old = sched_order_of(p, m->stage);
    size_t new = sched_order_of(p, m->front);
    struct sched_uses uses = sched_uses_of(p, b);
    bool flows = false;
    vec_foreach_value(s, &uses.writers) {
        size_t order = sched_order_of(p, s);
        if (s == m->stage || (order < old && order < new))
            continue;
        if (order < old || order < new || !sched_is_below(p, s, m->loop) ||
            !is_copy_of(m, b))
            return refuse_order(c, m, s, b, order < old);
        flows = true;
    }
    return !flows || check_flow(c, m, b, m->stores.arrays.at[0]);
}

// Check that no loop around the stage changes what it reads, if it leaves the
// loop or is read in other iterations.
static bool check_loops(const struct sched_call *c, const struct move *m)
{
    struct ir_stmt *loop =
        sched_find_change(c->pass, m->stage, &m->stores.arrays, m->loop);
    if (!loop)
        return true;
    return sched_refuse_two(c, loop, m->stage,
                            "the loop that changes it, and what would leave it",
                            D_move_order, sched_name_of(m->stage),
                            "read what has changed meanwhile");
}

// Check that all that the stage reads is there, and stays.
static bool check_inputs(const struct sched_call *c, const struct move *m)
{
    struct sched_buffers inputs = sched_inputs_of(c->pass, m->stage);
    for (size_t i = 0; i < m->stores.arrays.n; i++)
        if (!sched_check_scope(c, m->loop, m->stores.arrays.at[i]))
            return false;
    for (size_t i = 0; i < inputs.n; i++) {
        if (!sched_check_scope(c, m->loop, inputs.at[i]))
            return false;
        if (!sched_has_buffer(&m->stores.arrays, inputs.at[i]) &&
            !check_input(c, m, inputs.at[i]))
            return false;
    }
    return check_loops(c, m);
}

// Return whether a stage's init runs before a loop: it, or one around it, is
// of the stage's reduction.
static bool is_behind_init(struct pass *p, const struct ir_stmt *stage,
                           struct ir_stmt *loop)
{
    struct ir_block loops = sched_loops(p, loop);
    for (size_t i = 0; i < loops.n; i++)
        if (ir_stage_role(&stage->u.stage, loops.at[i]->u.loop.var) &
            STAGE_REDUCES)
            return true;
    return false;
}

// Check that no init reads the arrays before the loop begins.
static bool check_inits(const struct sched_call *c, const struct move *m)
{
    vec_foreach_value(s, &m->uses.readers) {
        if (s == m->stage || s->kind != STMT_stage || !s->u.stage.has_init ||
            !is_behind_init(c->pass, s, m->loop))
            continue;
        vec_foreach_value(b, &m->stores.arrays) {
            if (!ir_block_reads(&s->u.stage.init, b))
                continue;
            return sched_refuse_two(
                c, m->loop, s, "the loop, and the stage whose init reads it",
                D_move_outside, b->name, "also read",
                m->loop->u.loop.var->name);
        }
    }
    return true;
}

// Check everything and fill `m` in.
static bool check(const struct sched_call *c, struct ir_stmt *loop,
                  struct move *m)
{
    size_t at;
    *m = (struct move){.stage = sched_arg(c, 0), .loop = loop};
    if (!sched_check_movable(c, m->stage, m->loop, &m->stores))
        return false;
    m->uses = sched_uses_of_all(c->pass, &m->stores.arrays);
    if (!check_writers(c, m) || !check_results(c, m) ||
        !sched_check_below(c, loop, m->stores.arrays.at[0], "also read",
                           m->uses.readers.at, m->uses.readers.n, m->stage) ||
        !check_inits(c, m) || !find_first(c, m))
        return false;
    m->front = sched_child_with(c->pass, loop, m->first, &at);
    return check_inputs(c, m) && check_changes(c, m);
}

// Return whether the stage may be moved to a loop.
static bool accepts(const struct sched_call *c, struct ir_stmt *loop)
{
    struct move ignored;
    return check(c, loop, &ignored);
}

// Return the values that each iteration variable has to take: for an array in
// shared memory those that all threads need, if each can compute them.
static struct sched_region_dim *region_of(struct pass *p, const struct move *m)
{
    const struct ir_stage *stage = &m->stage->u.stage;
    const struct sched_buffers *arrays = &m->stores.arrays;
    struct sched_region_query q = {.pass = p,
                                   .loop = m->loop,
                                   .buffer = arrays->at[0],
                                   .more = arrays->at,
                                   .n_more = arrays->n,
                                   .access = REGION_loads};
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    for (size_t i = 0; i < arrays->n; i++)
        q.across_threads |= arrays->at[i]->space == SPACE_shared;
    for (size_t i = 0; i < inputs.n; i++)
        q.across_threads &= !space_is_own(inputs.at[i]->space);
    struct sched_region read = sched_region_find(&q);
    struct sched_region_dim *region = stage_nest_region(p, stage);
    for (uint32_t i = 0; i < m->stores.n; i++)
        region[ir_stage_iter(stage, m->stores.index[i])] = read.dims[i];
    return region;
}

// Say which loops around what uses the arrays are legal.
static void offer(const struct sched_call *c, const struct move *m)
{
    size_t found =
        sched_offer_loops(c, m->uses.readers.at, m->uses.readers.n, accepts);
    if (!found && sched_is_newest(c, D_move_outside))
        diag_help(c->pass->diags,
                  "no loop holds all that read `%s`: move "
                  "those stages into one nest first",
                  m->stores.arrays.at[0]->name);
}

bool sched_compute_at(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct move m;
    if (!check(c, sched_arg(c, 1), &m)) {
        offer(c, &m);
        return false;
    }
    if (!sched_check_moved(c, m.stage))
        return false;
    struct sched_region_dim *region = region_of(p, &m);
    sched_hoist_arrays(p);
    sched_remove(p, m.stage);
    struct sched_place place = sched_place_of(p, m.front, false);
    stage_nest_put(p, m.stage, &place, region);
    return true;
}
