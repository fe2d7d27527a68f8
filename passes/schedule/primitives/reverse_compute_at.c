// reverse_compute_at -- consume in each iteration of a loop what it produces.
//
//   for i_0 { for i_1 in 0..8 { P[i] = f(i) } }
//   for i { C[i] = g(P[i]) }
//     =>   reverse_compute_at(C, P.i_0)
//   for i_0 { for i_1 in 0..8 { P[i] = f(i) }
//             for ax0 in 0..8 { C[i_0 * 8 + ax0] = g(P[i_0 * 8 + ax0]) } }
//
// The stage gets new loops, directly behind the last stage of the loop that
// writes what it reads: over the part that one iteration writes. A reduction
// moves if that is all that it reduces for an element.
//
// Requires:
//  1. the stage stores to its own iteration variables,
//     or each iteration to elements of its own, and
//     alone writes its arrays                          E0653 E0654
//  2. an array that it reads, at its own iteration
//     variables, is written in the loop ...            E0654 E0656
//  3. ... by a stage that computes all that it reads,
//     and by others only there or before               E0656
//  4. one iteration finishes the elements it writes,
//     and writes a region of them                      E0658
//     with all that a reduction of the stage reads
//     for an element                                   E0654
//  5. nothing else between the new place and the old
//     one, which is behind it, writes what it reads, or
//     uses its arrays; elements that it changes in
//     place are written in one iteration only          E0657
//  6. nothing has been said of the loops that it leaves E0670

#include "passes/schedule/common/move.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"
#include "passes/schedule/common/offer.h"
#include "passes/schedule/common/stage_nest.h"
#include "passes/schedule/depend/depend.h"

// What is moved.
struct move {
    struct ir_stmt *stage, *loop;
    struct sched_stores stores;  // of the stage
    struct sched_buffers arrays; // written in the loop, read by the stage
    struct sched_uses uses;      // of those
    struct ir_expr **index;      // at which the stage reads them
    struct ir_stmt *main; // computes all elements of them in the loop, or NULL
    struct ir_stmt *back; // in the loop, holds the last that writes them
    struct sched_region region; // what an iteration writes
};

// Return whether the loop writes an array.
static bool is_written(const struct sched_call *c, const struct move *m,
                       const struct ir_buffer *b)
{
    struct sched_uses uses = sched_uses_of(c->pass, b);
    for (size_t k = 0; k < uses.writers.n; k++)
        if (uses.writers.at[k] != m->stage &&
            sched_is_below(c->pass, uses.writers.at[k], m->loop))
            return true;
    return false;
}

// Add an array to those that the stage consumes in the loop, if it reads it
// where it reads the others.
static bool add_array(const struct sched_call *c, struct move *m,
                      const struct ir_buffer *b)
{
    const struct ir_stage *stage = &m->stage->u.stage;
    struct ir_expr **index = m->index;
    bool is_plain = true;
    if (m->arrays.n && m->arrays.at[0]->rank != b->rank)
        return true;
    ir_foreach_expr_in(x, &stage->body)
        if (x->op == OP_load && x->u.buffer == b) {
            is_plain &= sched_reads_own(stage, x, index);
            index = x->args;
        }
    if (!is_plain && m->arrays.n)
        return true;
    vec_push(c->pass->scratch, &m->arrays, b);
    m->index = index;
    return is_plain || sched_refuse_shape(
                           c, m->stage, "reads not just one element, its own");
}

// Find the arrays that the loop writes and the stage reads.
static bool find_arrays(const struct sched_call *c, struct move *m)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    for (size_t i = 0; i < inputs.n; i++)
        if (is_written(c, m, inputs.at[i]) && !add_array(c, m, inputs.at[i]))
            return false;
    m->uses = sched_uses_of_all(p, &m->arrays);
    if (m->arrays.n)
        return true;
    return sched_refuse_two(
        c, m->loop, m->stage, "writes nothing that the stage reads",
        D_move_outside, inputs.n ? inputs.at[0]->name : sched_name_of(m->stage),
        "computed", m->loop->u.loop.var->name);
}

// Return whether a stage computes every element that the moved one reads.
static bool computes_all(const struct sched_call *c, const struct move *m,
                         struct ir_stmt *s)
{
    struct facts f;
    struct sched_stores stores;
    facts_start(&f, c->pass->scratch, c->pass->kernel);
    if (!sched_stores_of(c->pass, s, &stores) || stores.n != m->region.n)
        return false;
    const struct ir_stage *from = &s->u.stage, *to = &m->stage->u.stage;
    for (uint32_t i = 0; i < stores.n; i++) {
        const struct ir_iter *x =
            &from->iters.at[ir_stage_iter(from, stores.index[i])];
        const struct ir_iter *y = &to->iters.at[ir_stage_iter(to, m->index[i])];
        if (!facts_at_most(&f, y->extent, x->extent))
            return false;
    }
    return true;
}

// Return the greatest value of an index over loops from 0, if each of its
// terms grows with one; failed otherwise.
static struct affine greatest(struct pass *p, const struct ir_stmt *s,
                              struct ir_expr *x)
{
    struct map vars = {.arena = p->scratch};
    struct affine failed = {.failed = true}, form = affine_of(p->scratch, x);
    struct ir_block loops = sched_loops(p, s);
    for (size_t i = 0; i < loops.n; i++) {
        const struct ir_for *l = &loops.at[i]->u.loop;
        if (ir_for_counts(l))
            map_set(&vars, l->var,
                    ir_sub(p->scratch, l->to, ir_int(p->scratch, 1)));
    }
    vec_foreach(t, &form.terms)
        if (t->factor < 0 || t->n != 1 || t->atoms[0]->op != OP_var ||
            !map_has(&vars, t->atoms[0]->u.var))
            return failed;
    x = ir_substitute(p->scratch, x, &vars, NULL);
    return form.failed || form.constant ? failed : affine_of(p->scratch, x);
}

// Return whether the loops around a stage reach the end of each of its
// iteration variables: it was not cut into parts.
static bool is_whole(struct pass *p, const struct ir_stmt *s)
{
    struct facts f;
    facts_start(&f, p->scratch, p->kernel);
    vec_foreach(it, &s->u.stage.iters) {
        struct affine most = greatest(p, s, it->binding);
        struct affine extent = affine_of(p->scratch, it->extent);
        struct affine rest = affine_add(p->scratch, &most, -1, &extent);
        affine_offset(&rest, 1);
        if (rest.failed || !facts_nonnegative(&f, &rest))
            return false;
    }
    return true;
}

// Check who writes the arrays: nothing behind the loop; before it only where
// all elements are computed again in the loop.
static bool check_writers(const struct sched_call *c, struct move *m)
{
    struct pass *p = c->pass;
    size_t from = sched_order_of(p, m->loop);
    m->region.n = m->arrays.at[0]->rank;
    vec_foreach_value(s, &m->uses.writers)
        if (sched_is_below(p, s, m->loop) && computes_all(c, m, s))
            m->main = s;
    vec_foreach_value(s, &m->uses.writers) {
        bool is_behind = sched_order_of(p, s) > from;
        bool is_part =
            m->main && !sched_is_below(p, s, m->loop) && !is_whole(p, m->main);
        if ((is_behind || is_part || !m->main) &&
            !sched_check_below(c, m->loop, m->arrays.at[0], "also written", &s,
                               1, NULL))
            return false;
    }
    return m->main || depend_is_filled(p, m->stage, m->arrays.at[0]) ||
           sched_refuse_shape(c, m->stage, "reads more than the loop computes");
}

// Report that an iteration does not finish elements.
static bool refuse_partial(const struct sched_call *c, const struct move *m,
                           struct ir_stmt *loop, const char *note)
{
    struct ir_stmt *both[] = {loop, m->stage};
    struct depend_conflict conflict;
    struct depend_flow flow = {.rewrites = true};
    diag_error(c->pass->diags, c->span, D_move_partial, m->arrays.at[0]->name,
               m->loop->u.loop.var->name);
    flow.written = flow.used = m->arrays.at[0];
    if (depend_flows(c->pass, loop, &flow, &conflict))
        sched_note_conflict(c, &conflict);
    return sched_blame(c, both, 2, note);
}

// Check that no loop, this one or around it, counts a reduction of what writes
// the arrays in it.
static bool check_final(const struct sched_call *c, const struct move *m)
{
    struct pass *p = c->pass;
    struct ir_block loops = sched_loops(p, m->loop);
    vec_foreach_value(s, &m->uses.writers)
        for (size_t i = 0; i < loops.n && sched_is_below(p, s, m->loop); i++)
            if (s->kind == STMT_stage &&
                (ir_stage_role(&s->u.stage, loops.at[i]->u.loop.var) &
                 STAGE_REDUCES))
                return refuse_partial(c, m, loops.at[i],
                                      "counts the reduction");
    return true;
}

// Report that an iteration does not write a rectangular region.
static bool refuse_gaps(const struct sched_call *c, const struct move *m,
                        uint32_t i)
{
    const struct ir_buffer *b = m->arrays.at[0];
    refuse_partial(c, m, m->loop, "writes no rectangular region");
    diag_note(c->pass->diags, b->span,
              "the indices that one iteration writes in dimension %u of `%s` "
              "have gaps, or no bounds over loops and sizes",
              i, b->name);
    return false;
}

// Check that an iteration of the loop finishes a rectangular region.
static bool check_region(const struct sched_call *c, struct move *m)
{
    struct sched_region_query q = {.pass = c->pass,
                                   .loop = m->loop,
                                   .buffer = m->arrays.at[0],
                                   .more = m->arrays.at,
                                   .n_more = m->arrays.n,
                                   .access = REGION_stores};
    if (!check_final(c, m))
        return false;
    m->region = sched_region_find(&q);
    for (uint32_t i = 0; i < m->region.n; i++)
        if (m->region.dims[i].is_whole || !m->region.dims[i].is_dense)
            return refuse_gaps(c, m, i);
    return sched_fills_region(&q, &m->uses) ||
           refuse_partial(c, m, m->loop, "leaves elements out");
}

// Check that an iteration of the loop writes all that a reduction of the stage
// reads for an element.
static bool check_reductions(const struct sched_call *c, const struct move *m)
{
    struct facts f;
    const struct ir_stage *stage = &m->stage->u.stage;
    facts_start(&f, c->pass->scratch, c->pass->kernel);
    for (uint32_t i = 0; i < m->region.n; i++) {
        const struct ir_iter *it =
            &stage->iters.at[ir_stage_iter(stage, m->index[i])];
        const struct sched_region_dim *dim = &m->region.dims[i];
        bool is_whole = (!dim->base || ir_is_int_const(dim->base, 0)) &&
                        facts_at_most(&f, it->extent, dim->extent);
        if (it->is_reduce && !is_whole)
            return sched_refuse_shape(
                c, m->stage, "reduces over more than one iteration writes");
    }
    return true;
}

// Report what lies in the way.
static bool refuse_order(const struct sched_call *c, const struct move *m,
                         struct ir_stmt *s, const struct ir_buffer *b,
                         bool is_input)
{
    struct sched_obstacle o = {
        .stage = m->stage,
        .loop = m->loop,
        .other = s,
        .buffer = b,
        .writes = !is_input,
        .fault = is_input ? "run before what it reads is computed"
                          : "change what is read there",
        .note = "the loop, and what is in the way"};
    return sched_refuse_order(c, &o);
}

// Check one array that the stage reads (or writes): that nothing from the
// loop's nest to the old place writes (or uses) it.
static bool check_array(const struct sched_call *c, const struct move *m,
                        const struct ir_buffer *b, bool is_input)
{
    struct pass *p = c->pass;
    struct sched_uses uses = sched_uses_of(p, b);
    size_t from = sched_order_of(p, sched_path(p, m->loop).stmts[0]);
    size_t to = sched_order_of(p, m->stage);
    size_t n = is_input ? uses.writers.n : uses.readers.n;
    if (!sched_check_scope(c, m->loop, b))
        return false;
    for (size_t k = 0; k < n; k++) {
        struct ir_stmt *s = is_input ? uses.writers.at[k] : uses.readers.at[k];
        size_t order = sched_order_of(p, s);
        if (s != m->stage && order >= from && order < to)
            return refuse_order(c, m, s, b, is_input);
    }
    return true;
}

// Check that nothing from the loop's nest to the old place is in the way.
static bool check_between(const struct sched_call *c, const struct move *m)
{
    struct sched_buffers inputs = sched_inputs_of(c->pass, m->stage);
    for (size_t i = 0; i < inputs.n; i++) {
        if (sched_has_buffer(&m->arrays, inputs.at[i])) {
            if (!sched_check_scope(c, m->loop, inputs.at[i]))
                return false;
        } else if (!check_array(c, m, inputs.at[i], true)) {
            return false;
        }
    }
    for (size_t i = 0; i < m->stores.arrays.n; i++)
        if (!check_array(c, m, m->stores.arrays.at[i], false))
            return false;
    return true;
}

// Check that the stage is behind the place to which it would move.
static bool check_behind(const struct sched_call *c, const struct move *m)
{
    struct pass *p = c->pass;
    if (!sched_is_below(p, m->stage, m->back) &&
        sched_order_of(p, m->stage) > sched_order_of(p, m->back))
        return true;
    return sched_refuse_two(c, m->loop, m->stage,
                            "the loop, and what is not behind it", D_move_order,
                            sched_name_of(m->stage), "run later than it does");
}

// Check that a stage that changes elements in place does so once.
static bool check_once(const struct sched_call *c, const struct move *m)
{
    struct pass *p = c->pass;
    struct depend_conflict conflict;
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    struct ir_block loops = sched_loops(p, m->loop);
    const struct ir_buffer *from = m->arrays.at[0];
    struct depend_flow flow = {from, from, true, NULL};
    bool in_place = false;
    for (size_t i = 0; i < inputs.n; i++)
        in_place |= sched_has_buffer(&m->stores.arrays, inputs.at[i]);
    for (size_t i = 0; i < loops.n && in_place; i++) {
        if (!depend_flows(p, loops.at[i], &flow, &conflict))
            continue;
        struct ir_stmt *both[] = {loops.at[i], m->stage};
        diag_error(p->diags, c->span, D_move_order, sched_name_of(m->stage),
                   "change an element in place more than once");
        sched_note_conflict(c, &conflict);
        return sched_blame(c, both, 2, "the loop, and what would run again");
    }
    return true;
}

// Check everything and fill `m` in.
static bool check(const struct sched_call *c, struct ir_stmt *loop,
                  struct move *m)
{
    size_t at;
    *m = (struct move){.stage = sched_arg(c, 0), .loop = loop};
    if (!sched_check_apart(c, m->stage, loop, &m->stores))
        return false;
    struct sched_uses uses = sched_uses_of_all(c->pass, &m->stores.arrays);
    if (!sched_check_alone(c, m->stage, &uses))
        return false;
    if (!find_arrays(c, m) || !check_writers(c, m) || !check_region(c, m) ||
        !check_reductions(c, m) || !check_between(c, m))
        return false;
    vec_foreach_value(s, &m->uses.writers)
        if (sched_is_below(c->pass, s, loop))
            m->back = sched_child_with(c->pass, loop, s, &at);
    return check_behind(c, m) && check_once(c, m);
}

// Return whether the stage may be moved to a loop.
static bool accepts(const struct sched_call *c, struct ir_stmt *loop)
{
    struct move ignored;
    return check(c, loop, &ignored);
}

// Say which loops around what computes the stage's operands are legal.
static void offer(const struct sched_call *c, const struct move *m)
{
    if (!m->stores.n && !m->stores.arrays.n)
        return;
    struct sched_buffers inputs = sched_inputs_of(c->pass, m->stage);
    struct sched_uses uses = sched_uses_of_all(c->pass, &inputs);
    if (!sched_offer_loops(c, uses.writers.at, uses.writers.n, accepts) &&
        sched_is_newest(c, D_move_partial))
        diag_help(c->pass->diags,
                  "no loop here is legal: reorder, so that the loops of the "
                  "reduction are inside of those over elements");
}

bool sched_reverse_compute_at(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct move m;
    if (!check(c, sched_arg(c, 1), &m)) {
        offer(c, &m);
        return false;
    }
    if (!sched_check_moved(c, m.stage))
        return false;
    const struct ir_stage *stage = &m.stage->u.stage;
    struct sched_region_dim *region = stage_nest_region(p, stage);
    for (uint32_t i = 0; i < m.region.n; i++)
        region[ir_stage_iter(stage, m.index[i])] = m.region.dims[i];
    sched_hoist_arrays(p);
    sched_remove(p, m.stage);
    struct sched_place place = sched_place_of(p, m.back, true);
    stage_nest_put(p, m.stage, &place, region);
    return true;
}
