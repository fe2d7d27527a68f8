// tma_copies: lowers copies marked @via(tma) to TMA tile copies, and copies
// marked @via(bulk) to bulk copies.
//
//   for k in 0..n {                         alloc S_full: u64[1] in shared
//     alloc S: f16[64, 64] in shared        mbarrier_init(S_full[0], 1)
//     for i in 0..64 { for j in 0..64 {     fence_mbarrier_init
//       stage S(...) if ... @via(tma) {     for k in 0..n {
//         S[i, j] = A[m + i, k * 64 + j]      alloc S ... align 1024
//       }                             =>      mbarrier_expect(S_full[0], 8192)
//     } }                                     tma_load S[0, 0] =
//     use S                                     A_map[m, k * 64] signals S_full[0]
//   }                                         mbarrier_wait(S_full[0], k % 2)
//                                             use S
//                                           }
//
// and stores
//
//   fence_async
//   tma_store C_map[m, n] = S[0, 0]
//   bulk_commit
//   bulk_wait_read(0)                    here or later (tma_store_wait.c)
//
// Bulk copies need no tensor map. Each is a `bulk_load` or `bulk_store`, under
// a branch if it may not exist; the mbarrier then expects no bytes.
//
// One thread does all of this, the wait included. Below loops over threads it
// stands in loops of one iteration on their axes; elsewhere the pass `mapped`
// leaves it to one thread. If each warpgroup or warp stores its own TMA tiles,
// it is one thread of each. The barriers of the block around it are derived as
// for any other write by one thread (barrier_insertion.c), so the mark alone is
// complete. The phase of the mbarrier is the number of times that the copy has
// run, counted by the loops around. Loads that follow one another signal one
// mbarrier.

#include "passes/lower/tma_copies.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/layout.h"
#include "ir/ring.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/analysis/ring.h"
#include "passes/lower/bulk_copy.h"
#include "passes/lower/tma_store_wait.h"
#include "passes/opt/fold.h"

#include <string.h>

// A step of the way down to a nest.
struct step {
    struct ir_stmt *stmt;   // holds the next one
    struct ir_block *block; // that holds it
};

// What is to be put beside a statement, once the walk is done.
struct insertion {
    struct ir_block *block;
    struct ir_stmt *at;
    bool is_behind; // else in front
    struct ir_block stmts;
};

// The walk.
struct walk {
    struct pass *p;
    struct facts facts;
    struct VEC(struct step) path;
    struct VEC(struct insertion) insertions;
    struct map rings; // arrays with slots that are stored -> their rings
    bool changed, failed;
};

struct ir_stmt *tma_copies_stage(struct arena *a, struct ir_stmt *s,
                                 struct tma_tile *box)
{
    while (s->kind == STMT_for && s->u.loop.body.n == 1 &&
           (axis_kind(s->u.loop.axis) == AXIS_SERIAL ||
            axis_kind(s->u.loop.axis) == AXIS_UNROLL)) {
        vec_push(a, &box->nest, &s->u.loop);
        s = s->u.loop.body.at[0];
    }
    return s->kind == STMT_stage && tma_copy_marked(&s->u.stage) ? s : NULL;
}

void tma_copies_report(struct pass *p, const struct ir_stmt *stage,
                       const char *fault)
{
    diag_error(p->diags, stage->span,
               tma_copy_is_bulk(&stage->u.stage) ? D_bulk_nest : D_tensor_nest,
               stage->u.stage.name, fault);
}

// Report that a nest cannot be lowered.
static void report(struct walk *w, const struct ir_stmt *stage,
                   const char *fault)
{
    tma_copies_report(w->p, stage, fault);
    w->failed = true;
}

// Put the iteration variables of a stage in terms of loops.
static void bind_copy(struct arena *a, const struct ir_stage *stage,
                      struct tma_tile *box)
{
    struct tma_copy *copy = &box->copy;
    struct map vars = ir_stage_bindings(a, stage);
    copy->far_index =
        ir_substitute_all(a, copy->far->rank, copy->far_index, &vars, NULL);
    copy->near_index =
        ir_substitute_all(a, copy->near->rank, copy->near_index, &vars, NULL);
    if (copy->condition)
        copy->condition = ir_substitute(a, copy->condition, &vars, NULL);
    box->predicate = stage->predicate;
}

// ---- The copies -----------------------------------------------------------

// Return the kernel's tensor map for a TMA tile; it is made if there is none.
static struct ir_map *map_for(struct pass *p, const struct tma_tile *box)
{
    struct ir_buffer *far = box->copy.far;
    vec_foreach_value(map, &p->kernel->maps)
        if (map->buffer == far && map->swizzle == box->swizzle &&
            map->rounds == box->copy.rounds &&
            memcmp(map->box, box->extent, far->rank * sizeof *map->box) == 0)
            return map;
    struct ir_map *map = arena_new(p->arena, struct ir_map);
    map->name =
        str_name(p->names, arena_printf(p->scratch, "%s_map", far->name));
    map->buffer = far;
    map->box = arena_array(p->arena, uint32_t, far->rank);
    memcpy(map->box, box->extent, far->rank * sizeof *map->box);
    map->swizzle = box->swizzle;
    map->rounds = box->copy.rounds;
    map->span = far->span;
    ir_add_map(p->arena, p->kernel, map);
    return map;
}

// Return the copy of a TMA tile or a bulk copy.
static struct ir_stmt *copy_of(struct pass *p, const struct tma_tile *box,
                               const struct ir_place *signal)
{
    struct arena *a = p->arena;
    const struct tma_copy *of = &box->copy;
    bool is_bulk = box->elements > 0;
    struct ir_copy copy = {.transport =
                               is_bulk ? TRANSPORT_bulk : TRANSPORT_tma,
                           .is_load = of->is_load,
                           .elements = box->elements,
                           .map = is_bulk ? NULL : map_for(p, box),
                           .far = {of->far, of->far->rank, NULL},
                           .near = {of->near, of->near->rank, box->near_at},
                           .multicast = box->multicast,
                           .hint = of->hint};
    copy.far.index = arena_array(a, struct ir_expr *, of->far->rank);
    memcpy(copy.far.index, box->far_at, of->far->rank * sizeof *copy.far.index);
    if (signal)
        copy.signal = *signal;
    return ir_stmt_copy(a, &copy);
}

// Let the arrays of a copy begin where TMA wants them to: those that
// have a map are seen to by the launch function.
static void align_arrays(const struct tma_tile *box)
{
    struct ir_buffer *far = box->copy.far, *near = box->copy.near;
    uint32_t period = tma_tile_period(box);
    near->align = near->align > period ? near->align : period;
    if (box->elements && far->align < TENSOR_GROUP_BYTES)
        far->align = TENSOR_GROUP_BYTES;
}

void tma_copies_append(struct pass *p, const struct tma_tile *box,
                       const struct ir_place *signal, struct ir_block *out)
{
    struct arena *a = p->arena;
    align_arrays(box);
    if (box->condition) {
        struct ir_stmt *branch = ir_stmt_if(a, box->condition);
        ir_append(a, out, branch);
        out = &branch->u.branch.then;
    }
    vec_foreach_value(kept, &box->around) {
        struct ir_stmt *loop = ir_stmt_for(a, kept->var, kept->from, kept->to,
                                           kept->step, AXIS_serial);
        ir_append(a, out, loop);
        out = &loop->u.loop.body;
    }
    ir_append(a, out, copy_of(p, box, signal));
}

struct ir_expr *tma_copies_bytes(struct arena *a, const struct tma_tile *box)
{
    struct ir_expr *bytes = ir_int(a, tma_tile_bytes(box));
    for (size_t i = 0; i < box->around.n; i++)
        bytes = ir_mul(a, bytes, ir_for_extent(a, box->around.at[i]));
    if (box->multicast)
        bytes = ir_mul(a, bytes, ir_int(a, box->parts));
    if (box->condition)
        bytes = ir_select(a, box->condition, bytes, ir_int(a, 0));
    return bytes;
}

// ---- One thread, and how often it has been here ----------------------------

// Append a loop of one iteration on an axis, and return its body.
static struct ir_block *append_one(struct pass *p, enum axis axis,
                                   struct span span, struct ir_block *out)
{
    struct arena *a = p->arena;
    struct ir_var *var = ir_var_new(a, str_name(p->names, "one"),
                                    type_scalar(TYPE_int), VAR_loop, span);
    struct ir_stmt *one =
        ir_stmt_for(a, var, ir_int(a, 0), ir_int(a, 1), ir_int(a, 1), axis);
    ir_append(a, out, one);
    return &one->u.loop.body;
}

struct ir_block *tma_copies_one(struct pass *p, struct ir_stmt *const *stmts,
                                size_t n, struct ir_block *out)
{
    static const enum axis inside[] = {AXIS_warp, AXIS_lane};
    bool done[AXIS_COUNT] = {false};
    const struct ir_stmt *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct ir_for *loop = &stmts[i]->u.loop;
        bool is_thread =
            stmts[i]->kind == STMT_for && axis_kind(loop->axis) == AXIS_THREAD;
        enum axis axis = is_thread ? loop->axis : AXIS_serial;
        if (!is_thread || done[axis])
            continue;
        done[axis] = true;
        out = append_one(p, axis, loop->var->span, out);
        last = stmts[i];
    }
    bool is_group = done[AXIS_warpgroup];
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        is_group |= done[inside[i]];
        if (is_group && !done[inside[i]])
            out = append_one(p, inside[i], last->u.loop.var->span, out);
    }
    return out;
}

// Append loops of one iteration on the axes of the loops over threads around,
// and return the innermost block.
static struct ir_block *append_one_thread(struct walk *w, struct ir_block *out)
{
    struct ir_stmt **stmts =
        arena_array(w->p->scratch, struct ir_stmt *, w->path.n);
    for (size_t i = 0; i < w->path.n; i++)
        stmts[i] = w->path.at[i].stmt;
    return tma_copies_one(w->p, stmts, w->path.n, out);
}

// Return whether a TMA tile depends on a variable: its place, or whether it
// exists.
static bool box_mentions(const struct tma_tile *box, const struct ir_var *var)
{
    return ir_any_mentions(box->copy.far->rank, box->far_at, var) ||
           ir_any_mentions(box->copy.near->rank, box->near_at, var) ||
           (box->condition && ir_mentions(box->condition, var));
}

// Return whether only one of several iterations of a loop comes here.
static bool is_singled_out(struct walk *w, const struct ir_for *loop)
{
    struct arena *a = w->p->scratch;
    struct interval here = facts_range(&w->facts, ir_read(a, loop->var));
    return here.lo == here.hi && !ir_is_int_const(ir_for_extent(a, loop), 1);
}

// Append loops of one iteration on the thread axes on which no loop around
// decides which TMA tiles are copied, or limits the copy to one iteration: one
// thread of those that would copy the same.
static struct ir_block *append_one_of_each(struct walk *w,
                                           const struct tma_tile *box,
                                           struct ir_block *out)
{
    static const enum axis axes[] = {AXIS_thread_x, AXIS_thread_y,
                                     AXIS_thread_z, AXIS_warpgroup,
                                     AXIS_warp,     AXIS_lane};
    bool has[AXIS_COUNT] = {false}, decides[AXIS_COUNT] = {false}, any = false;
    for (size_t i = 0; i < w->path.n; i++) {
        const struct ir_for *loop = &w->path.at[i].stmt->u.loop;
        if (w->path.at[i].stmt->kind != STMT_for ||
            axis_kind(loop->axis) != AXIS_THREAD)
            continue;
        has[loop->axis] = true;
        decides[loop->axis] |=
            box_mentions(box, loop->var) || is_singled_out(w, loop);
        any |= decides[loop->axis];
    }
    if (!any)
        return append_one_thread(w, out);
    has[AXIS_warp] |= has[AXIS_warpgroup];
    has[AXIS_lane] |= has[AXIS_warp];
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (has[axes[i]] && !decides[axes[i]])
            out = append_one(w->p, axes[i], box->copy.near->span, out);
    return out;
}

// Return how many steps of the path are loops over blocks, from the top.
static size_t count_grid(const struct walk *w)
{
    size_t n = 0;
    while (n < w->path.n && ir_is_over(w->path.at[n].stmt, AXIS_BLOCK))
        n++;
    return n;
}

// Return whether an expression mentions a serial loop of the path's first
// steps.
static bool depends(const struct walk *w, size_t n, const struct ir_expr *x)
{
    for (size_t i = 0; i < n; i++)
        if (axis_kind(w->path.at[i].stmt->u.loop.axis) == AXIS_SERIAL &&
            ir_mentions(x, w->path.at[i].stmt->u.loop.var))
            return true;
    return false;
}

// Return how often a nest at the end of the path has run before, in the block
// of threads; NULL if loops do not say so.
static struct ir_expr *runs_before(struct walk *w)
{
    struct arena *a = w->p->arena;
    struct ir_expr *n = ir_int(a, 0);
    for (size_t i = count_grid(w); i < w->path.n; i++) {
        const struct ir_stmt *s = w->path.at[i].stmt;
        const struct ir_for *loop = &s->u.loop;
        if (s->kind != STMT_for)
            return NULL;
        enum axis_kind kind = axis_kind(loop->axis);
        if (kind == AXIS_THREAD)
            continue;
        if (kind != AXIS_SERIAL && kind != AXIS_UNROLL)
            return NULL;
        struct ir_expr *extent = ir_for_extent(a, loop);
        if (depends(w, i, extent))
            return NULL;
        struct ir_expr *at = ir_sub(a, ir_read(a, loop->var), loop->from);
        at = ir_binary(a, OP_div, at, loop->step);
        n = ir_add(a, ir_mul(a, n, extent), at);
    }
    return n;
}

// ---- Loads ------------------------------------------------------------------

// Return an operation on the mbarrier of a signal.
static struct ir_stmt *on_barrier(struct arena *a, enum ir_op op,
                                  const struct ir_place *s,
                                  struct ir_expr *number)
{
    struct ir_expr *operand = ir_cast(a, type_scalar(TYPE_u64), number);
    return ir_stmt_eval(
        a, ir_atomic(a, op, s->buffer, s->n, s->index, 1, &operand));
}

// Declare an mbarrier for one thread to wait at, and what sets it up.
static struct ir_place
declare_signal(struct walk *w, const struct tma_tile *box, struct ir_block *out)
{
    struct arena *a = w->p->arena;
    struct ir_expr **shape = arena_new(a, struct ir_expr *);
    shape[0] = ir_int(a, 1);
    const char *name =
        str_name(w->p->names,
                 arena_printf(w->p->scratch, "%s_full", box->copy.near->name));
    struct ir_place s = {.n = 1};
    s.buffer = ir_buffer_new(a, name, type_scalar(TYPE_u64), 1, shape);
    s.buffer->space = SPACE_shared;
    s.buffer->span = box->copy.near->span;
    s.index = arena_new(a, struct ir_expr *);
    s.index[0] = ir_int(a, 0);
    ir_append(a, out, ir_stmt_alloc(a, s.buffer));
    ir_append(a, out, on_barrier(a, OP_mbarrier_init, &s, ir_int(a, 1)));
    ir_append(a, out, ir_stmt_sync(a, SYNC_fence_mbarrier_init));
    return s;
}

// Have statements put behind the loops over blocks: in front of what holds the
// nest there, or of `first`, the first statement that it becomes in `block`.
static void insert_later(struct walk *w, struct ir_block stmts,
                         struct ir_block *block, struct ir_stmt *first)
{
    size_t grid = count_grid(w);
    struct insertion i = {block, first, false, stmts};
    if (grid < w->path.n) {
        i.block = w->path.at[grid].block;
        i.at = w->path.at[grid].stmt;
    }
    vec_push(w->p->scratch, &w->insertions, i);
}

// Loads that stand one after another, of which one thread makes all and waits
// for them together.
struct load {
    struct ir_stmt *stage;
    struct tma_tile box;
};
struct loads VEC(struct load);

// Let all statements of a block come from where a stage does.
static void note_places(struct ir_block *block, const struct ir_stmt *stage)
{
    ir_foreach_stmt(s, block)
        ir_stmt_from(s, stage);
}

// Append loads of TMA tiles, which signal one mbarrier; false after reporting.
static bool append_loads(struct walk *w, const struct loads *loads,
                         struct ir_block *block, struct ir_block *out)
{
    struct arena *a = w->p->arena;
    struct ir_expr *runs = runs_before(w), *bytes = ir_int(a, 0);
    if (!runs) {
        report(w, loads->at[0].stage,
               "it is not known how often it has run: branches, "
               "virtual threads or varying loops are around it");
        return false;
    }
    struct ir_block set_up = {0};
    struct ir_place s = declare_signal(w, &loads->at[0].box, &set_up);
    struct ir_expr *parity =
        fold_expr(a, &w->facts, ir_binary(a, OP_mod, runs, ir_int(a, 2)));
    for (size_t i = 0; i < loads->n; i++)
        bytes = ir_add(a, bytes, tma_copies_bytes(a, &loads->at[i].box));
    struct ir_block *inner = append_one_thread(w, out);
    ir_append(a, inner, on_barrier(a, OP_mbarrier_expect, &s, bytes));
    for (size_t i = 0; i < loads->n; i++)
        tma_copies_append(w->p, &loads->at[i].box, &s, inner);
    ir_append(a, inner, on_barrier(a, OP_mbarrier_wait, &s, parity));
    note_places(out, loads->at[0].stage);
    for (size_t i = 0; i < loads->n; i++) {
        size_t behind = loads->n + 1 - i;
        note_places(ir_alone(inner->at[inner->n - behind]), loads->at[i].stage);
    }
    insert_later(w, set_up, block, out->at[0]);
    return true;
}

// ---- Stores -----------------------------------------------------------------

// Append a statement about groups of copies.
static void append_sync(struct arena *a, struct ir_block *out,
                        enum sync_kind kind)
{
    ir_append(a, out, ir_stmt_sync(a, kind));
}

// Make the thread that stores TMA tiles wait for them later.
static void wait_later(struct walk *w, const struct tma_tile *box,
                       const struct ir_stmt *stage,
                       const struct tma_store_wait *store_wait)
{
    struct arena *a = w->p->arena;
    vec_foreach(wait, &store_wait->waits) {
        struct insertion later = {wait->block, wait->at, wait->is_behind, {0}};
        struct ir_block *inner = append_one_of_each(w, box, &later.stmts);
        ir_append(a, inner, ir_stmt_sync(a, SYNC_bulk_wait_read));
        note_places(&later.stmts, stage);
        vec_push(w->p->scratch, &w->insertions, later);
    }
}

// Append a store of the TMA tiles: every thread makes what it wrote visible to
// TMA. If the kernel does not read the result, the wait is only until TMA has
// read shared memory.
static void append_store(struct walk *w, const struct tma_tile *box,
                         struct ir_stmt *stage,
                         const struct tma_store_wait *store_wait,
                         struct ir_block *out)
{
    struct arena *a = w->p->arena;
    append_sync(a, out, SYNC_fence_async);
    struct ir_block *inner = append_one_of_each(w, box, out);
    bool is_read = ir_block_reads(&w->p->kernel->body, box->copy.far);
    tma_copies_append(w->p, box, NULL, inner);
    append_sync(a, inner, SYNC_bulk_commit);
    enum sync_kind wait = is_read ? SYNC_bulk_wait : SYNC_bulk_wait_read;
    if (store_wait->most != TMA_STORE_NO_WAIT)
        ir_append(a, inner, ir_stmt_wait(a, wait, store_wait->most));
    wait_later(w, box, stage, store_wait);
}

// ---- The walk ---------------------------------------------------------------

// Find the TMA tiles or bulk copies of a stage whose loops are known.  Returns
// why there are none, or NULL.
static const char *find_box(struct pass *p, struct facts *facts,
                            const struct ir_stmt *stage, struct tma_tile *box)
{
    struct ir_conditions open = {0};
    const char *fault = tma_copy_find(&stage->u.stage, &box->copy);
    if (fault)
        return fault;
    bind_copy(p->arena, &stage->u.stage, box);
    if (box->copy.is_bulk)
        return bulk_copy_find(p->arena, facts, box);
    fault = tma_tile_find(p->arena, facts, box);
    if (!fault)
        fault = tma_copy_conditions(p->arena, facts, box->copy.far, &open);
    if (!fault && open.n)
        fault = "the sizes that its tensor map needs are no longer known";
    return fault;
}

const char *tma_copies_tile(struct pass *p, struct facts *facts,
                            struct ir_stmt *nest, struct tma_tile *box)
{
    struct ir_stmt *stage = tma_copies_stage(p->arena, nest, box);
    return stage ? find_box(p, facts, stage, box)
                 : "a nest of it does more than copy";
}

// Return whether TMA tiles still begin at legal places when the array gets one
// more dimension, with a part for each virtual thread.
static bool parts_are_aligned(const struct walk *w, const struct tma_tile *box)
{
    struct ir_buffer *near = box->copy.near;
    bool has_parts = false;
    int64_t n = 0;
    for (size_t i = 0; i < w->path.n; i++) {
        struct ir_stmt *s = w->path.at[i].stmt;
        bool gives = ir_is_over(s, AXIS_VTHREAD);
        has_parts |= gives && ir_block_writes(&s->u.loop.body, near);
    }
    return !has_parts ||
           (ir_int_value(layout_elements(w->p->scratch, near), &n) &&
            n * (int64_t)type_bytes(near->elem) % tma_tile_period(box) == 0);
}

// Return why a marked stage cannot be copied in TMA tiles, or NULL.
static const char *fault_of(struct walk *w, const struct ir_stmt *stage,
                            struct tma_tile *box)
{
    const char *fault = find_box(w->p, &w->facts, stage, box);
    if (!fault && !parts_are_aligned(w, box))
        fault = "the part of a virtual thread is no multiple of 128 bytes, or "
                "of a period of the swizzle";
    return fault;
}

// Add the loads behind statement `at` of a block.
static void find_loads(struct walk *w, const struct ir_block *block, size_t at,
                       struct loads *out)
{
    for (size_t i = at + 1; i < block->n; i++) {
        struct load l = {NULL, {.predicate = NULL}};
        l.stage = tma_copies_stage(w->p->arena, block->at[i], &l.box);
        if (!l.stage || fault_of(w, l.stage, &l.box) || !l.box.copy.is_load)
            return;
        vec_push(w->p->scratch, out, l);
    }
}

// Replace a nest, whose stage is marked, by TMA tile copies, together with the
// loads behind it that share the wait; returns how many statements stand there
// then.
static size_t lower_nest(struct walk *w, struct ir_block *block, size_t at,
                         struct ir_stmt *stage, struct tma_tile *box)
{
    struct arena *a = w->p->arena;
    struct ir_block made = {0};
    struct loads loads = {0};
    struct tma_store_wait store_wait =
        tma_store_wait_find(w->p, block->at[at], &stage->u.stage, &w->rings);
    const char *fault =
        store_wait.fault ? store_wait.fault : fault_of(w, stage, box);
    if (fault) {
        report(w, stage, fault);
        return 1;
    }
    vec_push(w->p->scratch, &loads, ((struct load){stage, *box}));
    if (!box->copy.is_load) {
        append_store(w, box, stage, &store_wait, &made);
        note_places(&made, stage);
    } else {
        find_loads(w, block, at, &loads);
        if (!append_loads(w, &loads, block, &made))
            return 1;
    }
    for (size_t i = 1; i < loads.n; i++)
        ir_splice(a, block, at + 1, &(struct ir_block){0});
    ir_splice(a, block, at, &made);
    w->changed = true;
    return made.n;
}

// Walk the statements of a block.
static void walk_block(struct walk *w, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&w->facts);
    for (size_t i = 0; i < block->n && !w->failed;) {
        struct ir_stmt *s = block->at[i];
        struct tma_tile box = {0};
        struct ir_stmt *stage = tma_copies_stage(w->p->arena, s, &box);
        if (stage) {
            i += lower_nest(w, block, i, stage, &box);
            continue;
        }
        vec_push(w->p->scratch, &w->path, (struct step){s, block});
        facts_foreach_inside(inner, &w->facts, s)
            walk_block(w, inner);
        w->path.n--;
        i++;
    }
    facts_leave(&w->facts, here);
}

// Put what belongs beside a statement there.
static void insert(struct arena *a, const struct insertion *i)
{
    size_t at = i->is_behind ? 1 : 0;
    while (i->block->at[at - (i->is_behind ? 1 : 0)] != i->at)
        at++;
    for (size_t k = 0; k < i->stmts.n; k++)
        ir_insert(a, i->block, at + k, i->stmts.at[k]);
}

enum pass_result pass_tma_copies(struct pass *p)
{
    struct walk w = {.p = p};
    w.rings.arena = p->scratch;
    w.changed = tma_store_wait_take_rings(p, &w.rings);
    facts_start(&w.facts, p->scratch, p->kernel);
    walk_block(&w, &p->kernel->body);
    for (size_t i = 0; i < w.insertions.n; i++)
        insert(p->arena, &w.insertions.at[i]);
    if (w.failed)
        return PASS_FAILED;
    return w.changed ? PASS_CHANGED : PASS_SAME;
}
