// scans: lowers scans over loops bound to blocks, threads and lanes of vectors.
//
//   for i0 in 0..ceildiv(n, 1024) { for i1 in 0..256 @thread.x {
//     for i2 in 0..4 @vector {
//       stage Y(reduce vi in n = i0 * 1024 + i1 * 4 + i2) if ... {
//         init { Y_run[] = 0.0 }
//         Y_run[] = Y_run[] + X[vi]  Y[vi] = Y_run[] }
//   } } }
//     =>
//   for i1 in 0..256 @thread.x @collective(1) {
//     var carry = 0.0
//     for i0 in 0..ceildiv(n, 1024) {
//       own[i2] = X[...]                          // each thread: its elements
//       total = own[0] + .. own[3]
//       lane = total + shuffle_up(total, 1)       // ... 2, 4, 8, 16
//       part[i1 / 32] = ...  barrier              // warps, the same with parts
//       run = carry + what is in front of this warp + ... of this lane
//       own[i2] = run = run + own[i2]
//       Y[...] = own[i2]
//       carry = carry + the total of all
//     }
//   }
//
// The nest of the scan's loops says which thread has which elements: the order
// of loops is that of the elements. Serial loops outside of those over threads
// carry what they have from one iteration to the next. In those inside, and
// unrolled ones right outside, a thread holds the elements of all iterations,
// so they are numbers; such loops may be vectors. Lanes exchange by shuffles,
// warps through shared memory, blocks by looking back (scans_lookback.c).
// Everything is combined in the order of the elements.

#include "passes/lower/scans.h"

#include "ir/build.h"
#include "ir/gpu.h"
#include "ir/marks.h"
#include "ir/stage.h"
#include "passes/lower/crossthread.h"
#include "passes/lower/launch_extents.h"

// Return what a loop does for the stage.
static unsigned role_of(const struct scanning *c, const struct ir_stmt *loop)
{
    return ir_stage_role(&c->stage->u.stage, loop->u.loop.var);
}

// Return whether iterations of a loop run at once.
static bool is_shared(const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_THREAD) || ir_is_over(s, AXIS_BLOCK) ||
           ir_is_over(s, AXIS_VECTOR);
}

// Find the place of a stage, and the outermost loop of its reduction; false if
// no iterations of these loops run at once.
static bool find_loops(struct scanning *c)
{
    bool found = false;
    ir_find(c->pass->scratch, &c->pass->kernel->body, c->stage, &c->path);
    c->first = c->path.n - 1;
    for (uint32_t i = c->path.n - 1; i-- > 0;) {
        struct ir_stmt *s = c->path.stmts[i];
        if (s->kind != STMT_for || !(role_of(c, s) & STAGE_REDUCES))
            continue;
        c->first = i;
        found |= is_shared(s);
    }
    return found;
}

// Report a loop of the scan.
static bool refuse(const struct scanning *c, enum diag_code code,
                   const struct ir_stmt *loop)
{
    return diag_error(c->pass->diags, loop->span, code, loop->u.loop.var->name,
                      c->stage->u.stage.name);
}

// Return whether a loop on the path is one over lanes that have a scan each,
// inside of the scan's loop over blocks.
static bool is_own_lanes(const struct scanning *c, uint32_t i)
{
    const struct ir_stmt *s = c->path.stmts[i];
    return i == c->first + 1 && s->kind == STMT_for &&
           s->u.loop.axis == AXIS_lane && role_of(c, s) == STAGE_SELECTS &&
           ir_is_over(c->path.stmts[c->first], AXIS_BLOCK);
}

// Check that from the outermost loop of the scan on there are only such loops,
// whose bounds do not depend on one another, and those of lanes.
static bool check_nest(const struct scanning *c)
{
    for (uint32_t i = c->first; i + 1 < c->path.n; i++) {
        struct ir_stmt *s = c->path.stmts[i];
        bool varies = false;
        for (uint32_t k = c->first; k < i && s->kind == STMT_for; k++)
            varies |= ir_for_mentions(&s->u.loop, c->path.stmts[k]->u.loop.var);
        if (s->kind != STMT_for || s->u.loop.body.n != 1 || varies ||
            (role_of(c, s) != STAGE_REDUCES && !is_own_lanes(c, i)))
            return refuse(c, D_scan_nest,
                          s->kind == STMT_for ? s : c->path.stmts[c->first]);
    }
    return true;
}

// Add a level.
static void add_level(struct scanning *c, enum scan_level_kind kind,
                      struct ir_stmt *loop, int64_t extent,
                      struct ir_expr *number)
{
    c->levels[c->n++] = (struct scan_level){
        .kind = kind, .loop = loop, .extent = extent, .number = number};
}

// Return whether a number of lanes can scan by shuffles.
static bool is_lanes(int64_t n)
{
    return n <= WARP_LANES && (n & (n - 1)) == 0;
}

// Add the levels of a loop over threads.
static bool add_threads(struct scanning *c, struct ir_stmt *s)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *var = ir_read(a, s->u.loop.var);
    struct ir_expr *lanes = ir_int(a, WARP_LANES);
    int64_t n = 0;
    enum axis axis = s->u.loop.axis;
    ir_int_value(s->u.loop.to, &n);
    vec_push(a, &c->threads, s);
    if (axis == AXIS_warp) {
        add_level(c, SCAN_WARPS, NULL, n, var);
    } else if ((axis == AXIS_lane || axis == AXIS_thread_x) && is_lanes(n)) {
        add_level(c, SCAN_LANES, NULL, n, var);
    } else if (axis == AXIS_thread_x && n % WARP_LANES == 0) {
        add_level(c, SCAN_WARPS, NULL, n / WARP_LANES,
                  ir_binary(a, OP_div, var, lanes));
        add_level(c, SCAN_LANES, NULL, WARP_LANES,
                  ir_binary(a, OP_mod, var, lanes));
    } else {
        return refuse(c, D_scan_threads, s);
    }
    return true;
}

// Return the place on the path of the scan's outermost loop over threads; of
// the innermost loop if there is none.
static uint32_t first_threads(const struct scanning *c)
{
    for (uint32_t i = c->first; i + 1 < c->path.n; i++)
        if (ir_is_over(c->path.stmts[i], AXIS_THREAD))
            return i;
    return c->path.n - 2;
}

// Add a loop over threads around the scan.
static bool add_outer(struct scanning *c, struct ir_stmt *s)
{
    vec_push(c->pass->arena, &c->outer, s);
    return launch_is_counted(s) || refuse(c, D_scan_threads, s);
}

// Return the place on the path of the outermost loop whose iterations a thread
// holds: unrolled loops right outside of those over threads are of these.
static uint32_t first_held(const struct scanning *c)
{
    uint32_t i = first_threads(c);
    while (i > c->first && c->path.stmts[i - 1]->u.loop.axis == AXIS_unroll)
        i--;
    return i;
}

// Put a loop of the scan where it belongs.
static bool sort_loop(struct scanning *c, uint32_t i)
{
    struct ir_stmt *s = c->path.stmts[i];
    int64_t n = 0;
    if (is_own_lanes(c, i))
        return add_outer(c, s);
    if (ir_is_over(s, AXIS_BLOCK)) {
        c->blocks = s;
        return (i == c->first && ir_for_counts(&s->u.loop)) ||
               refuse(c, D_scan_blocks, s);
    }
    if (!c->blocks && i < first_held(c)) {
        vec_push(c->pass->arena, &c->carried, s);
        return true;
    }
    if (c->n + 2 >= SCAN_LEVELS || !launch_is_counted(s))
        return refuse(c, D_scan_held, s);
    if (ir_is_over(s, AXIS_THREAD))
        return add_threads(c, s);
    ir_int_value(s->u.loop.to, &n);
    c->held = n > SCAN_HELD_MOST ? n : c->held * n;
    add_level(c, SCAN_SERIAL, s, n, NULL);
    return c->held <= SCAN_HELD_MOST || refuse(c, D_scan_held, s);
}

// Return whether each lane of a warp has a scan of its own.
static bool has_own_lanes(const struct scanning *c)
{
    int64_t n = 0;
    return c->outer.n == 1 && c->outer.at[0]->u.loop.axis == AXIS_lane &&
           ir_int_value(c->outer.at[0]->u.loop.to, &n) && n == WARP_LANES;
}

// Check that the levels have an order in which lanes and warps can exchange.
static bool check_levels(const struct scanning *c)
{
    uint32_t lanes = c->n, warps = c->n;
    for (uint32_t k = c->n; k-- > 0;) {
        bool twice = (c->levels[k].kind == SCAN_LANES && lanes < c->n) ||
                     (c->levels[k].kind == SCAN_WARPS && warps < c->n);
        if (twice)
            return refuse(c, D_scan_threads, c->threads.at[0]);
        if (c->levels[k].kind == SCAN_LANES)
            lanes = k;
        if (c->levels[k].kind == SCAN_WARPS)
            warps = k;
    }
    if (c->blocks && c->outer.n && lanes < c->n)
        return refuse(c, D_scan_threads, c->threads.at[0]);
    bool is_block = warps < c->n || c->blocks;
    bool is_whole =
        lanes < c->n ? c->levels[lanes].extent == WARP_LANES : has_own_lanes(c);
    if (is_block && !is_whole)
        return refuse(c, D_scan_threads,
                      c->threads.n ? c->threads.at[0] : c->blocks);
    return warps == c->n || (warps == 0 && lanes > warps) ||
           refuse(c, D_scan_threads, c->threads.at[0]);
}

// Check that the launch has the threads of the nest, and no others.
static bool check_launch(const struct scanning *c)
{
    struct launch_extents e = launch_extents_of(c->pass, c->path.stmts[0]);
    int64_t own[AXIS_COUNT] = {0};
    for (uint32_t i = 0; i + 1 < c->path.n; i++) {
        const struct ir_stmt *s = c->path.stmts[i];
        if (ir_is_over(s, AXIS_THREAD))
            ir_int_value(s->u.loop.to, &own[s->u.loop.axis]);
    }
    for (int i = 0; i < AXIS_COUNT; i++)
        if (c->threads.n && e.at[i] != own[i])
            return refuse(c, D_scan_threads, c->threads.at[0]);
    return !e.at[AXIS_warp] || e.at[AXIS_lane] == WARP_LANES ||
           refuse(c, D_scan_threads, c->threads.at[0]);
}

// Sort the loops around the scan.
static bool sort_outer(struct scanning *c)
{
    for (uint32_t i = 0; i < c->first; i++) {
        struct ir_stmt *s = c->path.stmts[i];
        bool is_thread =
            ir_is_over(s, AXIS_THREAD) || ir_is_over(s, AXIS_VTHREAD);
        if (c->blocks && !ir_is_over(s, AXIS_BLOCK))
            return refuse(c, D_scan_blocks, c->blocks);
        if (is_thread && !add_outer(c, s))
            return false;
    }
    return true;
}

// Check that the scan can be shared, and sort its loops.
static bool check(struct scanning *c)
{
    c->held = 1;
    if (!check_nest(c))
        return false;
    for (uint32_t i = c->first; i + 1 < c->path.n; i++)
        if (!sort_loop(c, i))
            return false;
    return sort_outer(c) && check_levels(c) && check_launch(c);
}

// Note what the iteration variables that select rows are.
static void note_rows(struct scanning *c)
{
    c->values.arena = c->pass->scratch;
    vec_foreach(it, &c->stage->u.stage.iters)
        if (!it->is_reduce)
            map_set(&c->values, it->var, it->binding);
}

// Append a loop of the nest again, empty.
static struct ir_block *reopen(const struct scanning *c, struct ir_block *to,
                               struct ir_stmt *s)
{
    s->u.loop.body = (struct ir_block){0};
    ir_append(c->pass->arena, to, s);
    return &s->u.loop.body;
}

// Return whether threads exchange through memory.
static bool exchanges(const struct scanning *c)
{
    return c->blocks || (c->n && c->levels[0].kind == SCAN_WARPS);
}

// Append the loops over threads.
static struct ir_block *open_threads(struct scanning *c, struct ir_block *to)
{
    vec_foreach_value(s, &c->threads) {
        to = reopen(c, to, s);
        if (exchanges(c))
            ir_attr_set(c->pass->arena, s, MARK_collective, 1);
    }
    return to;
}

// Append the loop over blocks, and inside of it the lanes around the scan.
static struct ir_block *open_blocks(struct scanning *c, struct ir_block *to)
{
    to = reopen(c, to, c->blocks);
    vec_foreach_value(s, &c->outer) {
        to = reopen(c, to, s);
        ir_attr_set(c->pass->arena, s, MARK_collective, 1);
    }
    return to;
}

// Append the scan of tile after tile, which carries what it has.
static void add_tiles(struct scanning *c, struct ir_block *to)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    bool needs_total = c->carried.n || c->blocks;
    struct scan_values carry = {0}, front;
    scan_identity(c, x);
    if (c->blocks)
        lookback_take(c, to);
    else
        carry = scan_declare_values(c, to, "carry", x);
    vec_foreach_value(s, &c->carried)
        to = reopen(c, to, s);
    scan_up(c, to, needs_total);
    front = c->blocks ? lookback_find(c, to) : carry;
    scan_read(c, &front, x);
    struct scan_values run = scan_declare_values(c, to, "all", x);
    scan_down(c, to, &run);
    if (!c->carried.n)
        return;
    struct scan_values total = scan_total(c);
    scan_read(c, &total, x);
    scan_combine(c, to, &carry, x);
}

// Drop the declarations of the arrays that the stage ran in.
static void drop_running(struct scanning *c)
{
    struct ir_block *body = &c->pass->kernel->body;
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        const struct ir_buffer *b =
            c->scan.reducer.values[v].store->u.store.buffer;
        for (size_t i = 0; i < body->n; i++)
            if (body->at[i]->kind == STMT_alloc && body->at[i]->u.buffer == b) {
                ir_splice(c->pass->arena, body, i, &(struct ir_block){0});
                c->path.index[0] -= i < c->path.index[0];
            }
    }
}

// Put the shared scan in place of the nest.
static void rewrite(struct scanning *c)
{
    struct ir_block out = {0}, *to = &out;
    note_rows(c);
    kept_find(c);
    drop_running(c);
    if (c->blocks) {
        lookback_declare(c);
        to = open_blocks(c, to);
    }
    add_tiles(c, open_threads(c, to));
    crossthread_share(c->pass, &c->path, c->first + (c->blocks != NULL),
                      &c->shared);
    ir_splice(c->pass->arena, c->path.blocks[c->first], c->path.index[c->first],
              &out);
}

enum pass_result pass_scans(struct pass *p)
{
    struct ir_block stages = ir_stages_of(p->scratch, &p->kernel->body);
    enum pass_result result = PASS_SAME;
    for (size_t i = 0; i < stages.n; i++) {
        struct scanning c = {.pass = p, .stage = stages.at[i]};
        if (!ir_stage_scans(&c.stage->u.stage) || !find_loops(&c) ||
            !scan_find(p, &c.stage->u.stage, &c.scan))
            continue;
        if (!check(&c))
            return PASS_FAILED;
        rewrite(&c);
        result = PASS_CHANGED;
    }
    return result;
}
