// crossthread: lowers reductions over loops bound to threads. Each thread
// reduces its share; then warp shuffles, and shared memory between warps,
// combine the partial results.
//
//   for k0 in 0..ceildiv(n, 256) { for k1 in 0..256 @thread.x {
//     stage S(vi in m = i, reduce vk in n = k0 * 256 + k1) if ... {
//       init { S[vi] = 0.0 }  S[vi] = S[vi] + X[vi, vk] }
//   } }
//     =>
//   for k1 in 0..256 @thread.x {
//     var S_own: f32 = 0.0
//     for k0 in 0..ceildiv(n, 256) { stage S.part(...) if ... {
//       S_own = S_own + X[vi, vk] } }
//     S_own = S_own + shuffle_xor(S_own, 16)      // ... 8, 4, 2, 1
//     if k1 % 32 == 0 { S_part[k1 / 32] = S_own }
//   }
//   for k1 in 0..256 @thread.x {
//     var S_all: f32 = S_part[k1 % 8]
//     S_all = S_all + shuffle_xor(S_all, 4)       // ... 2, 1
//     stage S(vi in m = i) if k1 == 0 { S[vi] = S_all }
//   }
//
// Threads that take no part in an iteration keep the identity. Each position of
// the other loops over threads, real or virtual, has its own group of partial
// results. Loops over elements inside of the reduction's loops move out of
// them. A stage in front that only fills shared memory, or an array of the
// thread, in a loop of the reduction, stays there. If the result is an array in
// local memory, every thread gets it; otherwise one thread writes it.
//
// Shuffles combine 32, 16, .. 1 neighbours: the largest of these that divides
// the number of threads that share an element. They need threads that are
// neighbours in their warp, so the reduction must have the first thread axes of
// the block, and all of the block. If more partial results are left than one
// more round of shuffles can combine, half of the threads adds those of the
// other half until one is left.
//
// The blocks of a cluster share a reduction, too. The array of the parts is then
// one for the cluster, of which each block has a copy: a thread stores its part
// to all of them, and behind the barrier of the cluster each block combines all
// parts for itself.
//
//   for c in 0..2 @cluster.x { for k in 0..256 @thread.x { ...
//     if k % 32 == 0 { S_part[c * 8 + k / 32] = S_own }
//   } }
//   for c in 0..2 @cluster.x { for k in 0..256 @thread.x {
//     var S_all: f32 = k % 16 < 16 ? S_part[k % 16] : 0.0 ...

#include "passes/lower/crossthread.h"

#include "ir/build.h"
#include "ir/gpu.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/analysis/ring_fills.h"
#include "passes/lower/launch_extents.h"

unsigned crossthread_role(const struct crossing *c, const struct ir_stmt *loop)
{
    return ir_stage_role(&c->stage->u.stage, loop->u.loop.var);
}

int64_t crossthread_threads(const struct ir_stmt *loop)
{
    int64_t n = 1;
    ir_int_value(loop->u.loop.to, &n);
    return n;
}

// Find the loop of a stage's reduction that is bound to threads or blocks of a
// cluster, and the place of the outermost of its loops; NULL if none is bound.
static struct ir_stmt *find_loop(struct crossing *c)
{
    struct ir_stmt *found = NULL;
    ir_find(c->pass->scratch, &c->pass->kernel->body, c->stage, &c->path);
    c->first = c->path.n - 1;
    for (uint32_t i = c->path.n - 1; i-- > 0;) {
        struct ir_stmt *s = c->path.stmts[i];
        if (s->kind != STMT_for || !(crossthread_role(c, s) & STAGE_REDUCES))
            continue;
        c->first = i;
        if (ir_runs_together(s))
            found = s;
    }
    return found;
}

// Report a loop that the reduction cannot be bound with.
static bool refuse(const struct crossing *c, enum diag_code code,
                   const struct ir_stmt *loop)
{
    return diag_error(c->pass->diags, loop->span, code, loop->u.loop.var->name,
                      axis_name(loop->u.loop.axis), c->stage->u.stage.name);
}

// Return whether the bounds of a loop depend on one of the loops from `first`
// on.
static bool varies(const struct crossing *c, const struct ir_for *loop)
{
    for (uint32_t i = c->first; i + 1 < c->path.n; i++)
        if (ir_for_mentions(loop, c->path.stmts[i]->u.loop.var))
            return true;
    return false;
}

// Return whether a loop holds, but for the last one, only statements that fill
// shared memory, or arrays of the thread that nothing else uses; none if it is
// not a loop of the reduction in one thread.
static bool holds_fills(const struct crossing *c, struct ir_stmt *s)
{
    struct ir_block *body = &s->u.loop.body;
    bool may_hold =
        (s->u.loop.axis == AXIS_serial || s->u.loop.axis == AXIS_unroll) &&
        crossthread_role(c, s) == STAGE_REDUCES;
    const struct ring_fills ask = {.arena = c->pass->scratch,
                                   .kernel = c->pass->kernel,
                                   .body = body,
                                   .fills_own = true};
    for (size_t i = 0; i + 1 < body->n; i++)
        if (!may_hold || !ring_fills(&ask, body->at[i]))
            return false;
    return true;
}

// Return whether there are only loops from `first` on, each doing one thing
// whatever the others do, and what fills shared memory in front.
static bool is_nest(const struct crossing *c)
{
    for (uint32_t i = c->first; i + 1 < c->path.n; i++) {
        struct ir_stmt *s = c->path.stmts[i];
        if (s->kind != STMT_for || !holds_fills(c, s) ||
            c->path.index[i + 1] + 1 != s->u.loop.body.n ||
            crossthread_role(c, s) == (STAGE_SELECTS | STAGE_REDUCES))
            return false;
    }
    for (uint32_t i = c->first; i + 1 < c->path.n; i++)
        if (varies(c, &c->path.stmts[i]->u.loop))
            return false;
    return true;
}

// Put each loop where it belongs.
static bool sort_loops(struct crossing *c)
{
    struct arena *a = c->pass->scratch;
    c->each = c->blocks = 1;
    for (uint32_t i = 0; i + 1 < c->path.n; i++) {
        struct ir_stmt *s = c->path.stmts[i];
        unsigned role = i < c->first ? 0 : crossthread_role(c, s);
        bool is_block = ir_is_over(s, AXIS_BLOCK) && (role & STAGE_REDUCES);
        bool is_thread = ir_is_over(s, AXIS_THREAD) || is_block;
        bool is_virtual =
            ir_is_over(s, AXIS_VTHREAD) && !(role & STAGE_REDUCES);
        if ((is_thread || is_virtual) && !launch_is_counted(s))
            return refuse(c, D_crossthread_extent, s);
        if (is_virtual || (is_thread && i < c->first))
            vec_push(a, &c->outer, s);
        if (i < c->first)
            continue;
        if (is_thread)
            vec_push(a, &c->threads, s);
        else if (role & STAGE_REDUCES)
            vec_push(a, &c->reductions, s);
        else
            vec_push(a, &c->elements, s);
        if (is_thread && (role & STAGE_REDUCES))
            *(is_block ? &c->blocks : &c->each) *= crossthread_threads(s);
    }
    return true;
}

// Check that all blocks of a cluster share an element, or none; reports E0763.
static bool check_cluster(const struct crossing *c)
{
    for (uint32_t i = 0; i + 1 < c->path.n && c->blocks > 1; i++) {
        const struct ir_stmt *s = c->path.stmts[i];
        if (s->kind == STMT_for && axis_is_cluster(s->u.loop.axis) &&
            !(i >= c->first && (crossthread_role(c, s) & STAGE_REDUCES)))
            return refuse(c, D_crossthread_cluster, s);
    }
    return true;
}

// Return how many neighbours in a warp reduce the same element: a power of
// two that divides the threads of an element.
static int64_t shuffle_width(const struct crossing *c)
{
    struct launch_extents e = launch_extents_of(c->pass, c->path.stmts[0]);
    int64_t each = 1, width = WARP_LANES;
    bool is_first = true;
    static const enum axis axes[] = {AXIS_lane,      AXIS_warp,
                                     AXIS_warpgroup, AXIS_thread_x,
                                     AXIS_thread_y,  AXIS_thread_z};
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        enum axis axis = axes[k];
        const struct ir_stmt *loop = NULL;
        for (uint32_t i = 0; i + 1 < c->path.n; i++) {
            struct ir_stmt *s = c->path.stmts[i];
            if (ir_is_over(s, AXIS_THREAD) && s->u.loop.axis == axis)
                loop = s;
        }
        if (e.at[axis] != (loop ? crossthread_threads(loop) : 0) ||
            (axis == AXIS_lane && e.at[AXIS_warp] && e.at[axis] != WARP_LANES))
            return 1;
        bool reduces = loop && (crossthread_role(c, loop) & STAGE_REDUCES);
        bool is_warps = axis == AXIS_warp || axis == AXIS_warpgroup;
        if (reduces && (!is_first || (is_warps && each % WARP_LANES)))
            return 1;
        is_first &= reduces || !loop || crossthread_threads(loop) == 1;
        if (reduces)
            each *= crossthread_threads(loop);
    }
    while (each % width)
        width /= 2;
    return width;
}

// Check that the reduction can be shared by threads.
static bool check(struct crossing *c, const struct ir_stmt *loop)
{
    if (!is_nest(c))
        return refuse(c, D_crossthread_nest, loop);
    if (!reducer_find(c->pass, &c->stage->u.stage, &c->reducer))
        return refuse(c, D_crossthread_reducer, loop);
    if (!sort_loops(c) || !check_cluster(c))
        return false;
    c->width = shuffle_width(c);
    c->parts = c->blocks * c->each / c->width;
    return true;
}

// Put the phases in place of the nest of a stage.
static void rewrite(struct crossing *c)
{
    struct arena *a = c->pass->arena;
    struct ir_block out = {0}, *into = &out;
    vec_foreach_value(s, &c->elements) {
        if (s->u.loop.axis == AXIS_vector)
            s->u.loop.axis = AXIS_serial;
        s->u.loop.body = (struct ir_block){0};
        ir_append(a, into, s);
        into = &s->u.loop.body;
    }
    crossthread_phases(c, into);
    ir_splice(a, c->path.blocks[c->first], c->path.index[c->first], &out);
}

enum pass_result pass_crossthread(struct pass *p)
{
    struct ir_block stages = ir_stages_of(p->scratch, &p->kernel->body);
    enum pass_result result = PASS_SAME;
    for (size_t i = 0; i < stages.n; i++) {
        struct crossing c = {.pass = p, .stage = stages.at[i]};
        struct ir_stmt *loop = find_loop(&c);
        if (!loop)
            continue;
        if (!check(&c, loop))
            return PASS_FAILED;
        rewrite(&c);
        result = PASS_CHANGED;
    }
    return result;
}
