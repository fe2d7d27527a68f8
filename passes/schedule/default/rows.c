// What threads can share of a reduction.
//
//   for i { for j { stage S { S[i] += X[i, j] } } }    along j
//
// Threads that share what a stage reduces combine parts in any order, and read
// without gaps if neighbours of what is reduced lie along the loop that they
// share.

#include "passes/schedule/default/rows.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "passes/analysis/reducer.h"

// A nest that no schedule has changed: a reduction in loops over the elements
// of its result, then loops over what each of them reduces.
struct row_reduction {
    struct ir_stmt **loops; // outermost first
    size_t elements, n;     // loops over elements, loops in all
    struct ir_stmt *stage;  // in the innermost loop
};

// Return whether a loop is serial, counts from 0 in steps of 1, and ends at
// what the parameters say.
static bool is_plain_loop(const struct ir_for *f)
{
    return ir_is_pure(f->to, true) && ir_is_of_params(f->to) &&
           f->axis == AXIS_serial && !ir_loop_is_marked(f) && ir_for_counts(f);
}

// Find the loops and the stage of a nest of nothing else.
static bool find_loops(struct pass *p, struct ir_stmt *nest,
                       struct row_reduction *r)
{
    struct VEC(struct ir_stmt *) loops = {0};
    for (; nest->kind == STMT_for; nest = nest->u.loop.body.at[0]) {
        if (nest->u.loop.body.n != 1 || !is_plain_loop(&nest->u.loop))
            return false;
        vec_push(p->scratch, &loops, nest);
    }
    r->loops = loops.at;
    r->n = loops.n;
    r->stage = nest;
    if (nest->kind != STMT_stage || nest->u.stage.attrs.n ||
        !sched_is_unscheduled(&nest->u.stage, loops.at, loops.n))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        bool reduces = nest->u.stage.iters.at[i].is_reduce;
        if (!reduces && r->elements != i)
            return false;
        r->elements += !reduces;
    }
    return r->elements < r->n;
}

// What a stage adds to an element, and a loop of it.
struct operand {
    const struct row_reduction *reduction;
    struct pass *pass;
    size_t loop;
    bool along; // some load is contiguous in the loop
};

// Return whether the indices of a load mention what the stage reduces.
static bool is_reduced(const struct row_reduction *r,
                       const struct ir_expr *load)
{
    for (size_t i = r->elements; i < r->n; i++)
        if (ir_mentions(load, r->stage->u.stage.iters.at[i].var))
            return true;
    return false;
}

// Return whether the next number of the loop is the next element of a load.
static bool is_next(const struct operand *o, const struct ir_expr *load)
{
    const struct ir_buffer *b = load->u.buffer;
    struct arena *a = o->pass->scratch;
    uint32_t last = load->n - 1;
    struct affine form = affine_of(a, load->args[last]), rest;
    int64_t factor;
    return (!b->strides || ir_is_int_const(b->strides[last], 1)) &&
           affine_linear(a, &form,
                         o->reduction->stage->u.stage.iters.at[o->loop].var,
                         &factor, &rest) &&
           factor == 1;
}

// Check a load of what the stage adds.
static void note_read(struct operand *o, const struct ir_expr *x)
{
    if (x->op == OP_load && x->n && is_reduced(o->reduction, x))
        o->along |= is_next(o, x);
}

// Look at what is combined with the values of a reduction.
static void note_operands(const struct reducer *r, struct operand *o)
{
    for (size_t v = 0; v < r->n; v++) {
        const struct ir_stmt *own = r->values[v].store;
        size_t k = r->values[v].operand;
        struct ir_expr *x = NULL;
        switch (r->kind) {
        case REDUCER_operation: x = own->u.store.value->args[k]; break;
        case REDUCER_declared: x = r->block->at[k]->u.let.value; break;
        case REDUCER_position:
            x = r->block->at[0]->u.branch.cond->args[0];
            break;
        }
        ir_foreach_expr(e, x)
            note_read(o, e);
    }
}

// Return whether a stage is in a nest of nothing else that no schedule has
// changed, and combines its elements, at its own index, in any order.
static bool find(struct pass *p, struct ir_stmt *stage, struct row_reduction *r,
                 struct reducer *reducer)
{
    struct ir_block loops = sched_loops(p, stage);
    *r = (struct row_reduction){0};
    if (!find_loops(p, loops.n ? loops.at[0] : stage, r) || r->stage != stage ||
        !reducer_find(p, &stage->u.stage, reducer))
        return false;
    for (size_t v = 0; v < reducer->n; v++) {
        const struct ir_stmt *s = reducer->values[v].store;
        if (s->u.store.buffer->strides ||
            s->u.store.buffer->space != SPACE_global ||
            s->u.store.n != r->elements ||
            !sched_is_own_index(&stage->u.stage, s->u.store.n,
                                s->u.store.index))
            return false;
    }
    return true;
}

bool rows_can_share(struct pass *p, struct ir_stmt *stage)
{
    struct row_reduction r;
    struct reducer reducer;
    return find(p, stage, &r, &reducer);
}

bool rows_lie_along(struct pass *p, struct ir_stmt *stage,
                    const struct ir_stmt *loop)
{
    struct row_reduction r;
    struct reducer reducer;
    struct operand o = {.reduction = &r, .pass = p};
    if (!find(p, stage, &r, &reducer))
        return false;
    while (o.loop < r.n && r.loops[o.loop] != loop)
        o.loop++;
    if (o.loop < r.n)
        note_operands(&reducer, &o);
    return o.along;
}
