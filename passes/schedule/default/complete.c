// Binds what no schedule has bound.
//
//   for i { for j { C[i, j] = A[i, j] } }
//     =>
//   for i_j_fused_0 @block.x { for i_j_fused_1 in 0..256 @thread.x {
//     for i_j_fused_2 in 0..4 @vector { ... } } }
//
// The outermost loops that are independent are fused and spread over blocks
// of threads; neighbours in the innermost of them, the last dimension of the
// result, go to neighbouring threads, so their accesses coalesce.  Where
// every access is to consecutive elements, a thread takes 16 bytes of them.
// Loops inside stay serial, but a reduction of consecutive elements is shared
// by a block.  A nest that cannot be spread runs on one thread.

#include "passes/schedule/schedule.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "passes/schedule/default/directives.h"
#include "passes/schedule/default/lanes.h"
#include "passes/schedule/default/rows.h"
#include "passes/schedule/depend/depend.h"
#include "passes/schedule/prim.h"

enum {
    THREADS = 256,    // of a block
    ROW_THREADS = 32, // where a thread reduces a row: more blocks
    LANES_MOST = 16,
    EACH = 4,             // scalars of a thread in a large grid
    LARGE_GRID = 1 << 20, // elements that make a grid large
};

// Return whether iterations of a nest share more than memory.
static bool is_shared(struct ir_stmt *nest)
{
    ir_foreach_stmt_from(s, nest)
        if (s->kind == STMT_barrier ||
            (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared))
            return true;
    return false;
}

// Return whether a nest and statements beside it use an array that each block
// or thread has for itself.
static bool is_joined(struct pass *p, struct ir_stmt *nest)
{
    struct ir_block *body = &p->kernel->body;
    vec_foreach_value(s, body) {
        if (s->kind != STMT_alloc || (s->u.buffer->space != SPACE_shared &&
                                      s->u.buffer->space != SPACE_local))
            continue;
        size_t users = 0;
        for (size_t k = 0; k < body->n; k++)
            users += ir_stmt_uses_declared(body->at[k], s);
        if (users > 1 && ir_stmt_uses_declared(nest, s))
            return true;
    }
    return false;
}

// The loops that are going to be spread.
struct spread {
    struct sched_call *call; // who asks
    struct ir_stmt **loops;  // nested, outermost first
    size_t n;
    bool is_flat; // nothing but these loops around one stage
    int64_t threads, lanes;
    int64_t each; // elements that a thread takes apart from its neighbours'
};

// Return whether the bounds of a loop depend on one of the loops so far.
static bool depends(const struct spread *s, const struct ir_for *f)
{
    for (size_t i = 0; i < s->n; i++)
        if (ir_for_mentions(f, s->loops[i]->u.loop.var))
            return true;
    return false;
}

// Return whether a loop counts a reduction: if it has one iteration, or none,
// nothing is carried by it.
static bool counts_reduction(struct ir_stmt *loop)
{
    ir_foreach_stmt(s, &loop->u.loop.body)
        if (s->kind == STMT_stage &&
            ir_stage_role(&s->u.stage, loop->u.loop.var) & STAGE_REDUCES)
            return true;
    return false;
}

// Return whether a loop can be bound together with those before: to blocks, and
// the threads of a block, which share more.
static bool can_spread(const struct spread *s, struct ir_stmt *loop)
{
    struct depend_conflict conflict;
    if (loop->kind != STMT_for || loop->u.loop.axis != AXIS_serial ||
        ir_loop_is_marked(&loop->u.loop) || depends(s, &loop->u.loop) ||
        counts_reduction(loop))
        return false;
    return !depend_carried(s->call->pass, loop, AXIS_block_x, false,
                           &conflict) &&
           !depend_carried(s->call->pass, loop, AXIS_thread_x, false,
                           &conflict);
}

// Collect the loops to be spread, from `loop` inwards.
static void collect(struct spread *s, struct ir_stmt *loop)
{
    size_t most = 1;
    for (struct ir_stmt *l = loop; l->kind == STMT_for && l->u.loop.body.n == 1;
         l = l->u.loop.body.at[0])
        most++;
    s->loops = arena_array(s->call->pass->scratch, struct ir_stmt *, most);
    while (can_spread(s, loop)) {
        s->loops[s->n++] = loop;
        if (loop->u.loop.body.n != 1)
            break;
        loop = loop->u.loop.body.at[0];
    }
    s->is_flat = s->n && loop->kind == STMT_stage && !loop->u.stage.has_init;
}

// Return how many iterations the loops have, but no more than `most`, which
// stands for what is not known as well.
static int64_t count(const struct spread *s, int64_t most)
{
    int64_t total = 1, extent;
    for (size_t i = 0; i < s->n; i++) {
        struct ir_expr *x =
            ir_for_extent(s->call->pass->scratch, &s->loops[i]->u.loop);
        if (!ir_int_value(x, &extent) || extent > most)
            extent = most;
        total = extent && total > most / extent ? most : total * extent;
    }
    return total;
}

// Return how many neighbours a thread should take at once.
static int64_t choose_lanes(const struct spread *s)
{
    struct pass *p = s->call->pass;
    bool is_scalar = !s->is_flat || (p->shape && p->shape->lanes == 1);
    return is_scalar ? 1 : lanes_choose(p, s->loops, s->n);
}

// Return how many threads a block should have: no more than there is to do.
static int64_t choose_threads(const struct spread *s)
{
    const struct sched_shape *shape = s->call->pass->shape;
    struct ir_block *body = &s->loops[s->n - 1]->u.loop.body;
    int64_t threads = THREADS, total = count(s, THREADS * LANES_MOST);
    if (shape && shape->threads)
        return shape->threads;
    if (s->n == 1 && ir_has(body, STMT_for))
        threads = ROW_THREADS;
    while (threads > ROW_THREADS && threads * s->lanes >= total * 2)
        threads /= 2;
    return threads;
}

// Return how many elements, a block's width apart, a thread should take: one
// scalar each would leave a large grid waiting for its blocks to start.
static int64_t choose_each(const struct spread *s)
{
    struct ir_block *body = &s->loops[s->n - 1]->u.loop.body;
    bool is_short = count(s, LARGE_GRID) < LARGE_GRID;
    const struct sched_shape *shape = s->call->pass->shape;
    if (s->lanes > 1 || !s->is_flat || ir_has(body, STMT_for))
        return 1;
    if (shape && shape->each)
        return shape->each;
    return is_short ? 1 : EACH;
}

// Bind a loop to blocks and threads, `each` elements to a thread.
static bool spread_apart(const struct spread *s, struct ir_stmt *loop)
{
    const int64_t extents[] = {s->each, s->threads};
    const struct sched_value *loops =
        directive_split(s->call, loop, extents, 2);
    if (!loops)
        return false;
    struct ir_stmt *order[] = {loops[2].stmt, loops[1].stmt};
    return directive_on(s->call, PRIM_reorder, order, 2) &&
           directive_on(s->call, PRIM_unroll, &order[1], 1) &&
           directive_bind(s->call, loops[0].stmt, AXIS_block_x) &&
           directive_bind(s->call, loops[2].stmt, AXIS_thread_x);
}

// Fuse, split, bind and vectorize.
static bool spread_loops(const struct spread *s)
{
    const int64_t extents[] = {s->threads, s->lanes};
    struct ir_stmt *loop = directive_fuse(s->call, s->loops, s->n);
    if (!loop || s->each > 1)
        return loop && spread_apart(s, loop);
    const struct sched_value *loops =
        directive_split(s->call, loop, extents, s->lanes > 1 ? 2 : 1);
    return loops && directive_bind(s->call, loops[0].stmt, AXIS_block_x) &&
           directive_bind(s->call, loops[1].stmt, AXIS_thread_x) &&
           (s->lanes == 1 ||
            directive_on(s->call, PRIM_vectorize, &loops[2].stmt, 1));
}

// Bind a nest that has no bound loop.
static bool complete_nest(struct pass *p, struct ir_stmt *nest, bool long_rows)
{
    struct sched_call c = {.pass = p, .span = nest->span};
    struct spread s = {.call = &c};
    struct row_reduction reduction;
    if (rows_find(p, nest, long_rows, &reduction))
        return rows_spread(&c, nest, &reduction);
    if (!is_shared(nest) && !is_joined(p, nest))
        collect(&s, nest);
    if (count(&s, 2) <= 1)
        return directive_wrap(&c, nest, AXIS_block_x) &&
               directive_wrap(&c, nest, AXIS_thread_x);
    c.is_independent = true;
    s.lanes = choose_lanes(&s);
    s.threads = choose_threads(&s);
    s.each = choose_each(&s);
    return spread_loops(&s);
}

// Return whether a statement of the outermost block is used by those behind
// it, so that they cannot be grids of their own.
static bool is_prelude(const struct ir_stmt *s)
{
    return s->kind == STMT_let || s->kind == STMT_var ||
           s->kind == STMT_barrier ||
           (s->kind == STMT_alloc && s->u.buffer->space != SPACE_global &&
            s->u.buffer->space != SPACE_constant);
}

// Return whether a statement of the outermost block declares an array that
// lowering places: one of the workspace, or one that stages use.
static bool is_placed(struct pass *p, const struct ir_stmt *s)
{
    return s->kind == STMT_alloc &&
           (s->u.buffer->space == SPACE_global ||
            s->u.buffer->space == SPACE_constant ||
            ir_stages_use(&p->kernel->body, s->u.buffer));
}

// Put everything but arrays that lowering places into one nest if the
// statements of the outermost block depend on one another.
static void join_nests(struct pass *p)
{
    struct ir_block *body = &p->kernel->body;
    struct ir_block kept = {0}, inner = {0};
    bool joined = false;
    vec_foreach_value(s, body) {
        joined |= is_prelude(s);
        ir_append(p->arena, is_placed(p, s) ? &kept : &inner, s);
    }
    if (!joined)
        return;
    struct ir_var *var =
        ir_var_new(p->arena, str_name(p->names, "u"), type_scalar(TYPE_int),
                   VAR_loop, p->kernel->span);
    struct ir_stmt *loop =
        sched_new_loop(p, var, ir_int(p->arena, 1), inner.at[0]->span);
    loop->u.loop.body = inner;
    ir_append(p->arena, &kept, loop);
    *body = kept;
}

bool sched_complete(struct pass *p, bool long_rows)
{
    struct ir_block *body = &p->kernel->body;
    bool any_bound = sched_is_bound(body);
    if (!any_bound)
        join_nests(p);
    vec_foreach_value(s, body)
        if (s->kind != STMT_alloc && !sched_is_bound(ir_alone(s)) &&
            !(any_bound && is_prelude(s)) && !complete_nest(p, s, long_rows))
            return false;
    return true;
}

bool schedule_complete(struct pass *p)
{
    return sched_complete(p, false);
}
