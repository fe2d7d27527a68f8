// bind -- run the iterations of a loop on blocks or threads.
//
//   for i in 0..128 { ... }   =>   bind(i, thread.x)
//   for i in 0..128 @thread.x { ... }
//
// Requires:
//  1. the loop is serial                                 E0607
//  2. the loop counts from 0 in steps of 1               E0623
//  3. no loop around or inside has the axis already      E0617
//  4. no grid loop is inside a thread loop               E0618
//  5. threads: a constant extent                         E0619
//     blocks: one that the sizes of the kernel decide    E0622
//  6. the extent is within the axis's limit ...          E0620
//  7. ... and the block has at most 1024 threads         E0621
//  8. the iterations are independent                     E0616
//
// One thread plays the virtual threads of vthread.x ... all at once, statement
// by statement: see lower/vthreads.c.  They have extents like threads.

#include "passes/schedule/prim.h"

#include "ir/build.h"

enum { THREADS_MOST = 1024 };

// What is bound around and inside a loop: the context of see_bound.
struct bound {
    enum axis axis;         // to be given to the loop
    struct ir_stmt *same;   // has the axis
    struct ir_stmt *thread; // around, bound to threads
    struct ir_stmt *block;  // inside, bound to blocks
    int64_t threads;        // of the loops around times the most inside
};

// Note a loop around or inside.
static void see_bound(struct ir_stmt *s, void *context)
{
    struct bound *b = context;
    if (s->kind == STMT_for && s->u.loop.axis == b->axis)
        b->same = s;
    if (s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_BLOCK)
        b->block = s;
}

// Return the most threads that the thread loops of a block multiply to.
static int64_t threads_below(const struct ir_block *block)
{
    int64_t most = 1;
    for (size_t i = 0; i < block->n; i++) {
        const struct ir_stmt *s = block->at[i];
        int64_t here = 1, own = 1;
        if (s->kind == STMT_if)
            here = threads_below(&s->u.branch.then);
        if (s->kind == STMT_for)
            here = threads_below(&s->u.loop.body);
        if (s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_THREAD &&
            ir_int_value(s->u.loop.to, &own))
            here *= own;
        most = here > most ? here : most;
    }
    return most;
}

// Look at the loops around and inside.
static struct bound look_around(struct pass *p, struct ir_stmt *loop,
                                enum axis axis)
{
    struct bound b = {.axis = axis};
    struct ir_path path = sched_path(p, loop);
    b.threads = threads_below(&loop->u.loop.body);
    ir_each_stmt(&loop->u.loop.body, see_bound, &b);
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        struct ir_stmt *s = path.stmts[i];
        int64_t own = 1;
        if (s->kind != STMT_for)
            continue;
        if (s->u.loop.axis == axis)
            b.same = s;
        if (axis_kind(s->u.loop.axis) != AXIS_THREAD)
            continue;
        b.thread = s;
        ir_int_value(s->u.loop.to, &own);
        b.threads *= own;
    }
    return b;
}

// Check what the loops around and inside forbid.
static bool check_around(const struct sched_call *c, struct ir_stmt *loop,
                         const struct bound *b)
{
    bool is_block = axis_kind(b->axis) == AXIS_BLOCK;
    struct ir_stmt *outer = is_block ? b->thread : loop;
    struct ir_stmt *inner = is_block ? loop : b->block;
    if (b->same) {
        struct ir_stmt *both[] = {b->same, loop};
        diag_error(c->pass->diags, c->span, D_bind_taken, axis_name(b->axis),
                   b->same->u.loop.var->name);
        return sched_blame(c, both, 2, axis_name(b->axis));
    }
    if (!outer || !inner || axis_kind(b->axis) == AXIS_VTHREAD)
        return true;
    struct ir_stmt *both[] = {outer, inner};
    diag_error(c->pass->diags, c->span, D_block_inside_thread,
               inner->u.loop.var->name, outer->u.loop.var->name);
    sched_blame(c, both, 2, "in the wrong order");
    diag_help(c->pass->diags, "reorder(%s, %s) before binding them",
              inner->u.loop.var->name, outer->u.loop.var->name);
    return false;
}

// Note a variable that a launch does not know.
static void see_inner_var(struct ir_expr *x, void *context)
{
    if ((x->op == OP_var && x->u.var->kind != VAR_param) || x->op == OP_load)
        *(bool *)context = true;
}

// Check that a grid's extent can be computed before the launch.
static bool check_grid(const struct sched_call *c, struct ir_stmt *loop)
{
    bool found = false;
    ir_each_expr(loop->u.loop.to, see_inner_var, &found);
    if (!found)
        return true;
    diag_error(c->pass->diags, c->span, D_bind_grid, loop->u.loop.var->name);
    return sched_blame_one(c, loop, "its extent varies");
}

// Check the extent against the axis and the size of a block.
static bool check_extent(const struct sched_call *c, struct ir_stmt *loop,
                         const struct bound *b)
{
    struct diag_list *diags = c->pass->diags;
    bool is_thread = axis_kind(b->axis) == AXIS_THREAD;
    const char *name = loop->u.loop.var->name;
    int64_t extent;
    if (!ir_int_value(loop->u.loop.to, &extent)) {
        if (axis_kind(b->axis) == AXIS_BLOCK)
            return check_grid(c, loop);
        diag_error(diags, c->span, D_bind_thread_extent, name);
        sched_blame_one(c, loop, "not a constant extent");
        diag_help(diags, "split it first: `i0, i1 = split(%s, _, 256)`", name);
        return false;
    }
    if (extent > axis_most(b->axis)) {
        diag_error(diags, c->span, D_bind_extent, name, (long long)extent,
                   axis_name(b->axis), (long long)axis_most(b->axis));
        return sched_blame_one(c, loop, "too large");
    }
    if (is_thread && b->threads * extent > THREADS_MOST) {
        diag_error(diags, c->span, D_bind_threads,
                   (long long)(b->threads * extent));
        return sched_blame_one(c, loop, "one too many");
    }
    return true;
}

bool sched_bind(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    enum axis axis = c->args.at[1].axis;
    if (!sched_check_serial(c, loop) || !sched_check_from_zero(c, loop))
        return false;
    struct bound b = look_around(c->pass, loop, axis);
    if (!check_around(c, loop, &b) || !check_extent(c, loop, &b) ||
        !sched_check_parallel(c, loop, axis))
        return false;
    loop->u.loop.axis = axis;
    return true;
}
