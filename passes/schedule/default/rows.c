// Shares each reduction among neighbouring threads.
//
//   for i in 0..m { for j in 0..n { stage S(vi = i, reduce vj = j) { ... } } }
//     =>
//   for i in 0..m @block.x { for j_0 in 0..ceildiv(n, 1024) {
//     for j_1 in 0..4 @unroll { for j_2 in 0..256 @thread.x { stage S } } } }
//
// This is for reductions along rows of memory, which a thread for each row
// would read with gaps: long rows get a block each, those known to be short a
// warp.  A single result gets a grid of blocks, each with a partial result, and
// one block that reduces these.  The operations may be done in any order, and
// their order does not depend on anything but the size.

#include "passes/schedule/default/rows.h"

#include "ir/affine.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "passes/analysis/reducer.h"
#include "passes/schedule/default/directives.h"

enum {
    THREADS = 256,        // of a block
    THREADS_ALONE = 1024, // of the only one
    WARP = 32,            // for a row, ROWS of them to a block
    ROWS = THREADS / WARP,
    THREADS_LEAST = 32,     // rows up to this length are left to one thread
    LONG_ROW = 128,         // and rows of unknown length up to this one
    WARP_ROW = 1024,        // up to this length a warp is enough
    EACH = 4,               // elements of a thread before the next iteration
    BLOCKS_ALONE = 1024,    // that share a single result ...
    GRID_ALONE = 16 * 1024, // of more elements than this
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

// What a stage adds to an element.
struct operand {
    const struct row_reduction *reduction;
    struct pass *pass;
    bool along;  // some load is contiguous in the innermost loop
    bool across; // some load is contiguous in a loop over elements
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

// Return whether the next number of a loop is the next element of a load.
static bool is_next(const struct operand *o, const struct ir_expr *load,
                    size_t loop)
{
    const struct ir_buffer *b = load->u.buffer;
    struct arena *a = o->pass->scratch;
    uint32_t last = load->n - 1;
    struct affine form = affine_of(a, load->args[last]), rest;
    int64_t factor;
    return (!b->strides || ir_is_int_const(b->strides[last], 1)) &&
           affine_linear(a, &form,
                         o->reduction->stage->u.stage.iters.at[loop].var,
                         &factor, &rest) &&
           factor == 1;
}

// Check a load of what the stage adds.
static void note_read(struct operand *o, struct ir_expr *x)
{
    const struct row_reduction *r = o->reduction;
    if (x->op != OP_load)
        return;
    if (x->n == 0 || !is_reduced(r, x))
        return;
    for (size_t i = 0; i < r->elements; i++)
        o->across |= is_next(o, x, i);
    o->along |= is_next(o, x, r->n - 1);
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

// Return whether the stage combines its elements, at its own index, with
// something that is contiguous in the innermost loop, in any order.
static bool is_reduction(struct pass *p, const struct row_reduction *r)
{
    const struct ir_stage *stage = &r->stage->u.stage;
    struct reducer reducer;
    struct operand o = {r, p, false, false};
    if (!reducer_find(p, stage, &reducer))
        return false;
    for (size_t v = 0; v < reducer.n; v++) {
        const struct ir_stmt *s = reducer.values[v].store;
        if (s->u.store.buffer->strides ||
            s->u.store.buffer->space != SPACE_global ||
            s->u.store.n != r->elements ||
            !sched_is_own_index(stage, s->u.store.n, s->u.store.index))
            return false;
    }
    note_operands(&reducer, &o);
    return o.along && !o.across;
}

// Return how many iterations loops have, or `unknown`.
static int64_t count(struct ir_stmt *const *loops, size_t n, int64_t unknown)
{
    int64_t total = 1, extent;
    for (size_t i = 0; i < n; i++)
        if (!ir_int_value(loops[i]->u.loop.to, &extent) ||
            !num_mul(total, extent, &total))
            return unknown;
    return total;
}

// Add to the kernel's guard, once, that there is much to reduce.
static void guard_length(struct pass *p, const struct row_reduction *r)
{
    struct ir_expr *length = ir_int(p->arena, 1);
    for (size_t i = r->elements; i < r->n; i++)
        length = ir_mul(p->arena, length, r->loops[i]->u.loop.to);
    struct ir_expr *is_long =
        ir_binary(p->arena, OP_gt, length, ir_int(p->arena, LONG_ROW));
    struct ir_conditions *guard = &p->kernel->guard;
    for (size_t i = 0; i < guard->n; i++)
        if (ir_expr_equal(guard->at[i], is_long))
            return;
    vec_push(p->arena, guard, is_long);
}

bool rows_find(struct pass *p, struct ir_stmt *nest, bool long_rows,
               struct row_reduction *out)
{
    struct row_reduction r = {0};
    if (!find_loops(p, nest, &r) || !is_reduction(p, &r) ||
        count(r.loops, r.elements, 1) > axis_most(AXIS_block_x))
        return false;
    bool alone = count(r.loops, r.elements, 2) <= 1;
    int64_t length = count(r.loops + r.elements, r.n - r.elements,
                           long_rows || alone ? INT64_MAX : 0);
    if (length == INT64_MAX && !alone)
        guard_length(p, &r);
    *out = r;
    return length > THREADS_LEAST;
}

// Fuse the innermost loop with the one around it as long as it is known to
// have too few iterations for the threads.
static bool fuse_short(struct sched_call *c, struct row_reduction *r,
                       int64_t threads)
{
    while (r->n - r->elements > 1 &&
           count(&r->loops[r->n - 1], 1, threads) < threads) {
        struct ir_stmt *loop = directive_fuse(c, &r->loops[r->n - 2], 2);
        if (!loop)
            return false;
        r->loops[--r->n - 1] = loop;
    }
    return true;
}

// Return how many threads share the innermost loop: no more than it has
// iterations.
static int64_t choose_threads(const struct row_reduction *r, int64_t most)
{
    int64_t extent = count(&r->loops[r->n - 1], 1, most);
    int64_t threads = THREADS_LEAST;
    while (threads < extent && threads < most)
        threads *= 2;
    return threads;
}

// Share the innermost loop among threads, each of which takes several
// elements before the next iteration.
static bool share_row(struct sched_call *c, const struct row_reduction *r,
                      int64_t threads)
{
    struct ir_stmt *loop = r->loops[r->n - 1];
    int64_t each = EACH, extent = count(&loop, 1, EACH * threads);
    while (each > 1 && each * threads > extent)
        each /= 2;
    const int64_t extents[] = {each, threads};
    size_t apart = each > 1 ? 2 : 1;
    const struct sched_value *loops =
        directive_split(c, loop, extents + 2 - apart, apart);
    return loops &&
           (each == 1 || directive_on(c, PRIM_unroll, &loops[1].stmt, 1)) &&
           directive_bind(c, loops[apart].stmt, AXIS_thread_x);
}

// Give each row a block, or the only one.
static bool spread_blocks(struct sched_call *c, struct ir_stmt *nest,
                          struct row_reduction *r, int64_t most)
{
    struct ir_stmt *rows =
        r->elements ? directive_fuse(c, r->loops, r->elements) : NULL;
    bool bound =
        rows ? directive_bind(c, rows, AXIS_block_x)
             : r->elements == 0 && directive_wrap(c, nest, AXIS_block_x);
    return bound && fuse_short(c, r, most) &&
           share_row(c, r, choose_threads(r, most));
}

// Give each row a warp, several of them to a block.
static bool spread_warps(struct sched_call *c, struct row_reduction *r)
{
    const int64_t rows = ROWS;
    struct ir_stmt *loop = directive_fuse(c, r->loops, r->elements);
    const struct sched_value *loops =
        loop ? directive_split(c, loop, &rows, 1) : NULL;
    return loops && directive_bind(c, loops[0].stmt, AXIS_block_x) &&
           directive_bind(c, loops[1].stmt, AXIS_thread_y) &&
           share_row(c, r, WARP);
}

// Bind the loops of the partial results: that over blocks goes outside.
static bool spread_parts(struct sched_call *c, struct ir_stmt *stage,
                         const struct row_reduction *r)
{
    struct ir_block loops = sched_loops(c->pass, stage);
    struct ir_stmt *blocks = loops.at[r->elements + 1];
    struct ir_block order = {0};
    ir_append(c->pass->scratch, &order, blocks);
    for (size_t i = 0; i <= r->elements; i++)
        ir_append(c->pass->scratch, &order, loops.at[i]);
    return directive_on(c, PRIM_reorder, order.at, order.n) &&
           directive_on(c, PRIM_unroll, &loops.at[loops.n - 2], 1) &&
           directive_bind(c, blocks, AXIS_block_x) &&
           directive_bind(c, loops.at[loops.n - 1], AXIS_thread_x);
}

// Give a single result a grid of blocks, then one block.
static bool spread_grid(struct sched_call *c, struct row_reduction *r)
{
    const int64_t extents[] = {BLOCKS_ALONE, EACH, THREADS};
    struct ir_stmt *loop =
        directive_fuse(c, r->loops + r->elements, r->n - r->elements);
    const struct sched_value *loops =
        loop ? directive_split(c, loop, extents, 3) : NULL;
    if (!loops)
        return false;
    struct sched_call f = sched_call_to(c, PRIM_rfactor);
    sched_add_stmt(&f, loops[1].stmt);
    if (!sched_run(&f))
        return false;
    struct ir_path path = sched_path(c->pass, f.results.at[0].stmt);
    struct ir_stmt *last = path.blocks[0]->at[path.index[0] + 1], *inner = last;
    while (inner->u.loop.body.at[0]->kind == STMT_for)
        inner = inner->u.loop.body.at[0];
    return spread_parts(c, f.results.at[0].stmt, r) &&
           directive_wrap(c, last, AXIS_block_x) &&
           directive_bind(c, inner, AXIS_thread_x);
}

bool rows_spread(struct sched_call *c, struct ir_stmt *nest,
                 const struct row_reduction *reduction)
{
    struct row_reduction r = *reduction;
    int64_t length = count(r.loops + r.elements, r.n - r.elements, INT64_MAX);
    if (count(r.loops, r.elements, 2) > 1)
        return length <= WARP_ROW && r.n - r.elements == 1
                   ? spread_warps(c, &r)
                   : spread_blocks(c, nest, &r, THREADS);
    return length > GRID_ALONE ? spread_grid(c, &r)
                               : spread_blocks(c, nest, &r, THREADS_ALONE);
}
