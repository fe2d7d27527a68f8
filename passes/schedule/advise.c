// What a schedule leaves of the GPU, judged by the loops that it bound.
//
//   for i_0 { for i_1 @thread.x { ... } }            one block
//   for i_0 @block.x { for i_1 in 0..4 @thread.x }   4 threads of a warp's 32
//   for i { for j @block.x { ... } }                 who runs i?
//
// Nothing is said of loops whose iterations depend on each other.

#include "passes/schedule/advise.h"

#include "ir/build.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/schedule/depend/depend.h"

enum { WARP = 32 };

// How a nest is spread.
struct spread {
    bool has_blocks, has_threads;  // loops of several iterations
    bool has_warps;                // loops over whole warps, however many
    int64_t positions[AXIS_COUNT]; // of an axis; of an open extent WARP
    struct ir_stmt *block;         // the outermost loop over blocks
};

// Return how many iterations a loop has, or WARP if that is open.
static int64_t extent_of(const struct ir_stmt *loop)
{
    int64_t n;
    return ir_int_value(loop->u.loop.to, &n) ? n : WARP;
}

// Add what one loop is bound to.
static void add(struct spread *s, struct ir_stmt *loop)
{
    enum axis axis = loop->u.loop.axis;
    enum axis_kind kind = axis_kind(axis);
    int64_t n = extent_of(loop);
    s->has_warps |= axis == AXIS_warp || axis == AXIS_warpgroup ||
                    ir_attr_get(loop, MARK_tensorize);
    if (n == 1)
        return;
    s->has_blocks |= kind == AXIS_BLOCK;
    s->has_threads |= kind == AXIS_THREAD;
    if (n > s->positions[axis])
        s->positions[axis] = n;
    if (kind == AXIS_BLOCK && !s->block)
        s->block = loop;
}

// Return how the loops of a nest are spread.
static struct spread spread_of(struct ir_stmt *nest)
{
    struct spread s = {0};
    ir_foreach_stmt_from(t, nest)
        if (t->kind == STMT_for)
            add(&s, t);
    return s;
}

// Return how many positions the axes of a kind have together, WARP at most.
static int64_t positions(const struct spread *s, enum axis_kind kind)
{
    int64_t all = 1;
    for (int i = 0; i < AXIS_COUNT; i++) {
        if (axis_kind((enum axis)i) == kind && s->positions[i])
            all *= s->positions[i] < WARP ? s->positions[i] : WARP;
        all = all < WARP ? all : WARP;
    }
    return all;
}

// Return whether the outermost loop of a nest could be blocks and is not.
static bool is_left_out(struct pass *p, struct ir_stmt *nest)
{
    struct depend_conflict conflict;
    return nest->kind == STMT_for && nest->u.loop.axis == AXIS_serial &&
           !ir_is_int_const(nest->u.loop.to, 1) &&
           !depend_carried(p, nest, AXIS_block_x, false, &conflict);
}

// Warn of the outermost loop of a nest.
static void warn_loop(struct pass *p, const struct sched_item *schedule,
                      struct ir_stmt *nest, enum diag_code code,
                      const char *axis)
{
    const char *name = nest->u.loop.var->name;
    if (diag_was_said(p->diags, schedule->name.span, code))
        return;
    diag_warning(p->diags, schedule->name.span, code, name);
    diag_note(p->diags, nest->span, "`%s` is here", name);
    diag_help(p->diags, "spread it over blocks: `bind(%s, %s)`", name, axis);
}

// Return a loop inside the blocks of a nest that threads could share, or NULL.
static struct ir_stmt *shareable(struct pass *p, struct ir_stmt *nest)
{
    enum { THREADS_MOST = 1024 };
    struct depend_conflict conflict;
    ir_foreach_stmt_from(t, nest) {
        int64_t n;
        if (t->kind == STMT_for && t->u.loop.axis == AXIS_serial &&
            ir_int_value(t->u.loop.to, &n) && n > 1 && n <= THREADS_MOST &&
            !depend_carried(p, t, AXIS_thread_x, false, &conflict))
            return t;
    }
    return NULL;
}

// Say how blocks get more threads: from a loop inside, from that over threads, or
// from that over blocks.
static void help_threads(struct pass *p, struct ir_stmt *nest,
                         const struct spread *s)
{
    struct ir_stmt *inside = shareable(p, nest);
    if (inside)
        diag_help(p->diags,
                  "let threads share a loop inside: `bind(%s, thread.x)`",
                  inside->u.loop.var->name);
    else if (s->has_threads)
        diag_help(p->diags, "let the loop over threads have more iterations: "
                            "`i0, i1 = split(C.i, _, 256)`");
    else
        diag_help(p->diags,
                  "cut the loop before it is bound: `i0, i1 = split(%s, _, "
                  "256)`, `bind(i0, block.x)`, `bind(i1, thread.x)`",
                  s->block->u.loop.var->name);
}

// Warn of blocks that have less threads than a warp, where there are as many
// iterations to share.
static void warn_tiny(struct pass *p, const struct sched_item *schedule,
                      struct ir_stmt *nest, const struct spread *s)
{
    int64_t threads = positions(s, AXIS_THREAD);
    if (s->has_warps || threads >= WARP ||
        threads * positions(s, AXIS_BLOCK) < WARP ||
        diag_was_said(p->diags, schedule->name.span, D_tiny_block))
        return;
    const char *name = s->block->u.loop.var->name;
    diag_warning(p->diags, schedule->name.span, D_tiny_block,
                 (long long)threads, threads == 1 ? "thread" : "threads");
    diag_note(p->diags, s->block->span, "`%s`, bound to %s, is here", name,
              axis_name(s->block->u.loop.axis));
    help_threads(p, nest, s);
}

void schedule_advise(struct pass *p, const struct sched_item *schedule,
                     struct ir_stmt *nest)
{
    struct spread s = spread_of(nest);
    if (s.has_threads && !s.has_blocks && is_left_out(p, nest))
        warn_loop(p, schedule, nest, D_one_block, "block.x");
    if (s.has_blocks && is_left_out(p, nest))
        warn_loop(p, schedule, nest, D_outer_loop,
                  s.positions[AXIS_block_y] ? "block.z" : "block.y");
    if (s.has_blocks)
        warn_tiny(p, schedule, nest, &s);
}
