// reverse_compute_at -- consume in each iteration of a loop what it produces.
//
//   for i_0 { for i_1 in 0..8 { P[i] = f(i) } }
//   for i { C[i] = g(P[i]) }
//     =>   reverse_compute_at(C, P.i_0)
//   for i_0 { for i_1 in 0..8 { P[i] = f(i) }
//             for ax0 in 0..8 { C[i_0 * 8 + ax0] = g(P[i_0 * 8 + ax0]) } }
//
// The stage gets new loops, directly behind the last stage of the loop that
// writes what it reads: over the part that one iteration writes.
//
// Requires:
//  1. the stage is one store to its own iteration
//     variables, alone writes its array, and has no
//     reduction                                        E0653 E0654
//  2. an array that it reads, at its own iteration
//     variables, is written in the loop ...            E0654 E0656
//  3. ... and only there                               E0656
//  4. one iteration finishes the elements it writes    E0658
//  5. nothing else between the new place and the old
//     one writes what it reads, or uses its array      E0657

#include "passes/schedule/move.h"
#include "passes/schedule/stage_nest.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stage.h"

// What is moved.
struct move {
    struct ir_stmt *stage, *loop;
    const struct ir_buffer *result; // of the stage
    const struct ir_buffer *array;  // written in the loop, read by the stage
    struct sched_uses uses;         // of the array
    struct ir_expr **index;         // at which the stage reads it
    struct ir_stmt *back;           // in the loop, holds the last writer
    struct box box;                 // what an iteration writes
};

// Report that the stage cannot be moved.
static bool refuse(const struct sched_call *c, const struct move *m,
                   const char *note)
{
    diag_error(c->pass->diags, c->span, D_move_shape, sched_name_of(m->stage));
    return sched_blame_one(c, m->stage, note);
}

// Find the array that the loop writes and the stage reads.
static bool find_array(const struct sched_call *c, struct move *m)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    for (size_t i = 0; i < inputs.n; i++) {
        struct sched_uses uses = sched_uses_of(p, inputs.at[i]);
        for (size_t k = 0; k < uses.writers.n; k++) {
            if (uses.writers.at[k] == m->stage ||
                !sched_is_below(p, uses.writers.at[k], m->loop))
                continue;
            m->array = inputs.at[i];
            m->uses = uses;
            return true;
        }
    }
    struct ir_stmt *both[] = {m->loop, m->stage};
    diag_error(p->diags, c->span, D_move_outside,
               inputs.n ? inputs.at[0]->name : sched_name_of(m->stage),
               "computed", m->loop->u.loop.var->name);
    return sched_blame(c, both, 2, "writes nothing that the stage reads");
}

// The reads of the array in the stage: the context of see_read.
struct reads {
    struct move *m;
    bool is_plain; // all at the same index, its own iteration variables
};

// Look at a read.
static void see_read(struct ir_expr *x, void *context)
{
    struct reads *r = context;
    const struct ir_stage *stage = &r->m->stage->u.stage;
    if (x->op != OP_load || x->u.buffer != r->m->array)
        return;
    for (uint32_t i = 0; i < x->n; i++) {
        r->is_plain &= ir_stage_iter(stage, x->args[i]) >= 0;
        r->is_plain &=
            !r->m->index || ir_expr_equal(r->m->index[i], x->args[i]);
        for (uint32_t j = 0; j < i; j++)
            r->is_plain &= !ir_expr_equal(x->args[i], x->args[j]);
    }
    r->m->index = x->args;
}

// Check how the stage reads the array.
static bool check_reads(const struct sched_call *c, struct move *m)
{
    struct reads r = {m, true};
    ir_each_expr_in(&m->stage->u.stage.body, see_read, &r);
    return r.is_plain || refuse(c, m, "reads not just one element, its own");
}

// Report that an iteration does not finish elements.
static bool refuse_partial(const struct sched_call *c, const struct move *m,
                           struct ir_stmt *loop, const char *note)
{
    struct ir_stmt *both[] = {loop, m->stage};
    diag_error(c->pass->diags, c->span, D_move_partial, m->array->name,
               m->loop->u.loop.var->name);
    return sched_blame(c, both, 2, note);
}

// Check that an iteration of the loop finishes a box of elements.
static bool check_box(const struct sched_call *c, struct move *m)
{
    struct pass *p = c->pass;
    struct ir_path path = sched_path(p, m->loop);
    for (size_t k = 0; k < m->uses.writers.n; k++) {
        const struct ir_stmt *s = m->uses.writers.at[k];
        for (uint32_t i = 0; i < path.n && s->kind == STMT_stage; i++) {
            struct ir_stmt *loop = path.stmts[i];
            if (loop->kind == STMT_for &&
                (ir_stage_role(&s->u.stage, loop->u.loop.var) & STAGE_REDUCES))
                return refuse_partial(c, m, loop, "counts the reduction");
        }
    }
    struct box_query q = {.pass = p,
                          .loop = m->loop,
                          .buffer = m->array,
                          .access = REGION_stores};
    m->box = box_touched(&q);
    for (uint32_t i = 0; i < m->box.n; i++) {
        if (m->box.dims[i].is_whole || !m->box.dims[i].is_dense)
            return refuse_partial(c, m, m->loop, "writes no box of elements");
    }
    return true;
}

// Report what lies in the way.
static bool refuse_order(const struct sched_call *c, const struct move *m,
                         struct ir_stmt *s, const char *what)
{
    struct ir_stmt *both[] = {m->loop, s};
    diag_error(c->pass->diags, c->span, D_move_order, sched_name_of(m->stage),
               what);
    return sched_blame(c, both, 2, "the loop, and what is in the way");
}

// Check that nothing from the loop's nest to the old place is in the way.
static bool check_between(const struct sched_call *c, const struct move *m)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    size_t from = sched_order_of(p, sched_path(p, m->loop).stmts[0]);
    size_t to = sched_order_of(p, m->stage);
    vec_push(p->scratch, &inputs, m->result);
    for (size_t i = 0; i < inputs.n; i++) {
        if (!sched_check_scope(c, m->loop, inputs.at[i]))
            return false;
        struct sched_uses uses = sched_uses_of(p, inputs.at[i]);
        for (size_t k = 0; k < uses.writers.n; k++) {
            struct ir_stmt *s = uses.writers.at[k];
            size_t order = sched_order_of(p, s);
            if (inputs.at[i] != m->array && s != m->stage && order >= from &&
                order < to)
                return refuse_order(c, m, s,
                                    "run before what it reads is computed");
        }
    }
    struct sched_uses uses = sched_uses_of(p, m->result);
    for (size_t k = 0; k < uses.readers.n; k++) {
        struct ir_stmt *s = uses.readers.at[k];
        size_t order = sched_order_of(p, s);
        if (s != m->stage && order >= from && order < to)
            return refuse_order(c, m, s, "change what is read there");
    }
    return true;
}

// Check everything and fill `m` in.
static bool check(const struct sched_call *c, struct move *m)
{
    size_t at;
    struct pass *p = c->pass;
    m->result = sched_stored(m->stage);
    struct sched_uses uses = sched_uses_of(p, m->result);
    if (!sched_check_movable(c, m->stage, &uses))
        return false;
    if (ir_stage_reduces(&m->stage->u.stage))
        return refuse(c, m, "has a reduction");
    if (!find_array(c, m) ||
        !sched_check_below(c, m->loop, m->array, "also written",
                           m->uses.writers.at, m->uses.writers.n, NULL) ||
        !check_reads(c, m) || !check_box(c, m) || !check_between(c, m))
        return false;
    struct ir_stmt *last = m->uses.writers.at[m->uses.writers.n - 1];
    m->back = sched_child_with(p, m->loop, last, &at);
    return true;
}

bool sched_reverse_compute_at(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct move m = {.stage = sched_arg(c, 0), .loop = sched_arg(c, 1)};
    if (!check(c, &m))
        return false;
    const struct ir_stage *stage = &m.stage->u.stage;
    struct box_dim *box = stage_nest_box(p, stage);
    for (uint32_t i = 0; i < m.box.n; i++)
        box[ir_stage_iter(stage, m.index[i])] = m.box.dims[i];
    sched_hoist_arrays(p);
    sched_remove(p, m.stage);
    struct sched_place place = sched_place_of(p, m.back, true);
    stage_nest_put(p, m.stage, &place, box);
    return true;
}
