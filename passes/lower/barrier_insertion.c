// barrier_insertion: inserts the barriers of a block.
//
//   for t in 0..128 @thread.x {
//     for ax in 0..128 @thread.x { S[ax] = A[ax] }
//                                                    => barrier
//     B[t] = S[127 - t]
//   }
//
// Two accesses to shared or global memory conflict if different threads may
// access the same element and one of them writes (thread_conflicts.h). The walk
// keeps what was accessed since the last barrier. Statements inside others come
// first, so a barrier is never deeper than the innermost block around both
// accesses. If the end of a loop's body conflicts with its beginning, one more
// barrier goes to one of the two.
//
// Which threads come by a place together is a state of the walk:
//
//              a condition or the bounds of a loop differ between threads,
//              or a loop over threads has fewer iterations than there are
//   TOGETHER ----------------------------------------------------> APART (unit)
//   all threads <------------------------------------- 128: of a warpgroup
//   of the block       that branch or loop ends         32: of a warp
//                                                        0: each alone
//                                     a finer one inside of it: smaller unit
//
// It decides what becomes of a conflict:
//
//   TOGETHER                                BARRIER  nothing is left to conflict
//   APART, all that conflict are of one     MEETING  syncwarp, syncwarpgroup:
//     warp or warpgroup, no larger than              those have met
//     the unit
//   APART, in a branch without `else` that  CUT      the branch becomes two; in
//     stands TOGETHER, behind its first              front of the second all are
//     statement                                      TOGETHER: BARRIER
//   APART otherwise, and between the two    REFUSED  E0730
//     sides of a branch that keeps apart
//
// Arrays of a cluster are accessed by threads of all its blocks: between two
// such accesses of which one writes stands a barrier of the cluster, and that of
// a block does not part them. While others access a block's elements it has to be
// there (cluster_life.c).
//
// The launch is walked twice. The first walk looks, and changes nothing. It
// finds the copies that threads wait for: one that a thread has waited for is
// complete for that thread only, so a barrier follows a wait of all threads of
// a block, unless no thread accesses what others copy. It also finds the TMA
// stores out of shared memory: until the wait for them, TMA may read the tiles
// in shared memory, and write those in global memory. The second walk inserts.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "passes/lower/accesses.h"
#include "passes/lower/cluster_life.h"
#include "passes/lower/mapping.h"

// What a statement or a block does to the memory that threads share.
struct flow {
    struct accesses entry; // with no barrier between the start and them
    struct accesses exit;  // with no barrier between them and the end
    bool clears;           // there is a barrier on every way
    bool clears_cluster;   // ... of the cluster
    uint32_t meets;        // threads that meet on every way; 0: none do
};

// Which threads come by together.
struct together {
    const struct ir_stmt *apart; // what keeps threads apart; NULL: TOGETHER
    uint32_t unit;               // APART: how many come by together
    struct ir_block *branch;     // the block of a branch that can be cut
};

// What becomes of a conflict.
enum remedy { BARRIER, MEETING, CUT, REFUSED };

// What the first walk has found.
struct found {
    struct accesses all;     // if there are copies
    struct accesses stored;  // by TMA out of shared memory
    struct accesses arrived; // those, and where it stores them
    bool shares_copies;      // between threads
};

// The walk over a launch.
struct walk {
    struct mapping *m;
    struct arena *arena; // of what the pass forgets
    axis_set threads;    // axes on which the block has several
    struct thread_conflicts *meet;

    bool looks; // the first walk
    struct found found;

    struct map values; // at this place: what lets and bound loops stand for
    const struct conflict_scope *scope;
    struct together here;
    size_t cut;                  // of here.branch, the place; 0: nowhere
    struct cluster_life cluster; // of the arrays that blocks share
};

static struct flow walk_block(struct walk *w, struct ir_block *block,
                              const struct accesses *before);

// Add a scope; returns it to be filled in.
static struct conflict_scope *add_scope(struct walk *w)
{
    struct conflict_scope *s = arena_new(w->arena, struct conflict_scope);
    s->up = w->scope;
    w->scope = s;
    return s;
}

// Return whether two sets of accesses conflict, and which of them.
static bool conflict(struct walk *w, const struct accesses *first,
                     const struct accesses *second,
                     const struct conflict_place *place, struct conflict *out)
{
    return !w->looks &&
           accesses_conflict(w->meet, w->threads, first, second, place, out);
}

// Report a conflict where no barrier can stand.
static void report(struct walk *w, const struct conflict *both)
{
    const struct ir_stmt *s = w->here.apart;
    if (w->m->failed)
        return;
    w->m->failed = true;
    diag_error(w->m->p->diags, both->second->stmt->span, D_access_divergent,
               both->first->buffer->name);
    diag_note(w->m->p->diags, both->first->stmt->span,
              "other threads %s it here",
              both->first->writes ? "write" : "read");
    diag_note(w->m->p->diags,
              s->kind == STMT_for ? s->u.loop.to->span : s->u.branch.cond->span,
              s->kind == STMT_for ? "threads leave the loop here at different "
                                    "times"
                                  : "threads part here");
}

// Return what a barrier, which may be one of the cluster, leaves of accesses
// before it or behind it.
static struct accesses left_by(struct walk *w, const struct accesses *set,
                               bool of_cluster)
{
    return of_cluster ? (struct accesses){0} : accesses_parted(w->arena, set);
}

// Return whether some of two sets of accesses that conflict need a barrier of
// the cluster.
static bool needs_cluster(struct walk *w, const struct accesses *first,
                          const struct accesses *second)
{
    struct conflict_place any = {w->scope, NULL, false, 0, 0};
    struct conflict unused;
    for (int i = 0; i < 2; i++) {
        struct accesses x = accesses_of_cluster(w->arena, first, i);
        struct accesses y = accesses_of_cluster(w->arena, second, !i);
        if (conflict(w, &x, &y, &any, &unused))
            return true;
    }
    return false;
}

// Put a barrier in front of statement `at` of a block, between two accesses.
static void put_barrier(struct walk *w, struct ir_block *block, size_t at,
                        const struct conflict *both, bool of_cluster)
{
    struct arena *a = w->m->p->arena;
    struct ir_stmt *s =
        of_cluster ? ir_stmt_cluster_barrier(a) : ir_stmt_barrier(a);
    ir_stmt_from(s, both->second->stmt);
    if (!s->by.source)
        s->by = both->first->stmt->by;
    ir_insert(a, block, at, s);
}

// ---- Threads of a warp or a warpgroup ---------------------------------------

// Groups of threads that can meet, the smallest first.
static const enum sync_kind groups[] = {SYNC_warp, SYNC_warpgroup};
enum { GROUPS = sizeof groups / sizeof *groups };

// Return how many threads next to each other have a position on one of the axes
// in common with no others: those of a warpgroup, of a warp; 0: no more than
// one.
static uint32_t unit_of(axis_set axes)
{
    if (!(axes & ~(1u << AXIS_warpgroup)))
        return sync_threads(SYNC_warpgroup);
    return axes & ~(1u << AXIS_warpgroup | 1u << AXIS_warp)
               ? 0
               : sync_threads(SYNC_warp);
}

// Note that a statement keeps threads of different positions apart.
static void part_threads(struct walk *w, const struct ir_stmt *s, axis_set axes)
{
    uint32_t unit = unit_of(axes);
    if (!w->here.apart || unit < w->here.unit)
        w->here.unit = unit;
    w->here.apart = s;
}

// Find the smallest group of threads that all of those that conflict are of,
// and that is together here; false if there is none.
static bool find_group(struct walk *w, const struct accesses *first,
                       const struct accesses *second,
                       struct conflict_place place, enum sync_kind *out)
{
    for (int i = 0; i < GROUPS; i++) {
        struct conflict unused;
        place.together = sync_threads(groups[i]);
        *out = groups[i];
        if (place.together <= w->here.unit &&
            !conflict(w, first, second, &place, &unused))
            return true;
    }
    return false;
}

// Return what becomes of a conflict, and of which group a meeting would be.
static enum remedy remedy_for(struct walk *w, const struct accesses *first,
                              const struct accesses *second,
                              struct conflict_place place, bool can_cut,
                              enum sync_kind *group)
{
    if (!w->here.apart)
        return BARRIER;
    if (find_group(w, first, second, place, group))
        return MEETING;
    return can_cut ? CUT : REFUSED;
}

// Put a meeting of a group of threads in front of statement `at` of a block.
static void put_meeting(struct walk *w, struct ir_block *block, size_t at,
                        enum sync_kind kind, const struct conflict *both)
{
    struct ir_stmt *s = ir_stmt_sync(w->m->p->arena, kind);
    ir_insert(w->m->p->arena, block, at, ir_stmt_from(s, both->second->stmt));
}

// ---- Loops ------------------------------------------------------------------

// Let the threads of a group meet behind accesses, or in front of them.
static void settle_flow(struct walk *w, struct flow *flow,
                        struct accesses *parted, enum sync_kind kind)
{
    uint32_t threads = sync_threads(kind);
    accesses_settle(w->arena, parted, threads);
    if (flow->meets < threads)
        flow->meets = threads;
}

// Return whether a loop has at most one iteration.
static bool runs_once(struct walk *w, const struct ir_for *loop)
{
    struct ir_expr *second = ir_add(w->arena, loop->from, loop->step);
    return facts_at_most(&w->m->facts, loop->to, second);
}

// Return whether the end of a loop's body conflicts with the beginning of a
// later iteration: of the next one, if all threads meet in between, and
// otherwise of any for threads that do not.
static bool iterations_conflict(struct walk *w, const struct flow *body,
                                struct conflict *both)
{
    bool meet = body->clears || body->meets;
    struct conflict_place next = {w->scope, w->scope, meet, 0, 0};
    struct conflict_place later = {w->scope, w->scope, false, body->meets, 0};
    return conflict(w, &body->exit, &body->entry, &next, both) ||
           (body->meets && !body->clears &&
            conflict(w, &body->exit, &body->entry, &later, both));
}

// Part the end of a loop's body from the beginning of its next iteration.
static void part_iterations(struct walk *w, struct ir_for *loop,
                            struct flow *body, const struct accesses *before,
                            const struct conflict_scope *around)
{
    struct conflict both, unused;
    struct conflict_place any = {w->scope, w->scope, false, 0, 0};
    struct conflict_place outside = {around, NULL, false, 0, 0};
    enum sync_kind kind = SYNC_warp;
    if (!iterations_conflict(w, body, &both))
        return;
    enum remedy remedy =
        remedy_for(w, &body->exit, &body->entry, any, false, &kind);
    if (remedy == REFUSED) {
        report(w, &both);
        return;
    }
    bool is_start = conflict(w, before, &body->entry, &outside, &unused);
    size_t at = is_start ? 0 : loop->body.n;
    struct accesses *parted = is_start ? &body->entry : &body->exit;
    if (remedy == MEETING) {
        put_meeting(w, &loop->body, at, kind, &both);
        settle_flow(w, body, parted, kind);
        return;
    }
    bool of_cluster = needs_cluster(w, &body->exit, &body->entry);
    put_barrier(w, &loop->body, at, &both, of_cluster);
    *parted = left_by(w, parted, of_cluster);
    body->clears = true;
    body->clears_cluster |= of_cluster;
}

// Walk a serial loop.
static struct flow walk_serial(struct walk *w, struct ir_stmt *s,
                               const struct accesses *before,
                               const struct accesses *own)
{
    struct ir_for *loop = &s->u.loop;
    const struct conflict_scope *around = w->scope;
    struct affine first = affine_of(w->arena, loop->from);
    struct conflict_scope *scope = add_scope(w);
    scope->var = loop->var;
    scope->is_natural = facts_nonnegative(&w->m->facts, &first);
    scope->from = ir_substitute(w->arena, loop->from, &w->values, NULL);
    scope->to = ir_substitute(w->arena, loop->to, &w->values, NULL);
    scope->step = 1;
    ir_int_value(loop->step, &scope->step);
    scope->is_common = !divergence_of_control(&w->m->divergence, s);
    bool always = facts_runs(&w->m->facts, loop), once = runs_once(w, loop);
    facts_enter(&w->m->facts, s);
    struct flow body = walk_block(w, &loop->body, own);
    w->scope = scope;
    if (!once)
        part_iterations(w, loop, &body, before, around);
    body.clears &= always;
    body.clears_cluster &= always;
    body.meets = always ? body.meets : 0;
    w->scope = around;
    return body;
}

// Walk a loop over threads or blocks.
static struct flow walk_bound(struct walk *w, struct ir_stmt *s, bool is_whole,
                              const struct accesses *own)
{
    struct arena *a = w->arena;
    struct ir_for *loop = &s->u.loop;
    struct ir_expr *index = mapping_position(w->m, loop->axis);
    struct ir_expr *value = ir_add(a, loop->from, ir_mul(a, index, loop->step));
    struct ir_expr *extent = map_get(&w->m->loop_extents, s);
    struct conflict_scope *scope = add_scope(w);
    if (axis_kind(loop->axis) == AXIS_THREAD)
        scope->loop = s;
    value = ir_substitute(a, value, &w->values, NULL);
    extent = ir_substitute(a, extent, &w->values, NULL);
    map_set(&w->values, loop->var, value);
    scope->condition = ir_binary(a, OP_lt, index, extent);
    scope->holds = true;
    facts_enter(&w->m->facts, s);
    struct flow body = walk_block(w, &loop->body, own);
    body.clears &= is_whole;
    body.clears_cluster &= is_whole;
    body.meets = is_whole ? body.meets : 0;
    return body;
}

// Walk a loop.
static struct flow walk_loop(struct walk *w, struct ir_stmt *s,
                             const struct accesses *before,
                             const struct accesses *own)
{
    struct ir_for *loop = &s->u.loop;
    const struct conflict_scope *outside = w->scope;
    struct facts_mark mark = facts_mark(&w->m->facts);
    bool bound = is_bound(loop), is_whole = true;
    struct ir_expr *extent = map_get(&w->m->loop_extents, s);
    axis_set axes = divergence_of_control(&w->m->divergence, s);
    if (bound)
        is_whole = ir_expr_equal(extent, w->m->extent[loop->axis]);
    if (!is_whole)
        axes |= 1u << loop->axis;
    if (axis_kind(loop->axis) != AXIS_BLOCK && axes)
        part_threads(w, s, axes);
    struct flow r = bound ? walk_bound(w, s, is_whole, own)
                          : walk_serial(w, s, before, own);
    facts_leave(&w->m->facts, mark);
    w->scope = outside;
    return r;
}

// Walk one side of a branch.
static struct flow walk_side(struct walk *w, struct ir_stmt *s, bool holds,
                             struct ir_block *block, const struct accesses *own)
{
    const struct conflict_scope *outside = w->scope;
    struct facts_mark mark = facts_mark(&w->m->facts);
    struct ir_expr *cond =
        ir_substitute(w->arena, s->u.branch.cond, &w->values, NULL);
    struct conflict_scope *scope = add_scope(w);
    if (ir_is_stable(cond)) {
        scope->condition = cond;
        scope->holds = holds;
        scope->is_single = mapping_is_single(s);
        facts_assume(&w->m->facts, cond, holds);
    }
    struct flow r = walk_block(w, block, own);
    facts_leave(&w->m->facts, mark);
    w->scope = outside;
    return r;
}

// Walk a branch.  No barrier can stand between its sides.
static struct flow walk_branch(struct walk *w, struct ir_stmt *s,
                               const struct accesses *own)
{
    struct flow r = walk_side(w, s, true, &s->u.branch.then, own);
    struct flow other = walk_side(w, s, false, &s->u.branch.otherwise, own);
    struct conflict_place place = {w->scope, NULL, false, 0, 0};
    struct conflict both;
    if (w->here.apart == s && conflict(w, &r.exit, &other.exit, &place, &both))
        report(w, &both);
    accesses_add(w->arena, &r.entry, &other.entry);
    accesses_add(w->arena, &r.exit, &other.exit);
    r.clears &= other.clears;
    r.clears_cluster &= other.clears_cluster;
    r.meets = r.meets < other.meets ? r.meets : other.meets;
    return r;
}

// Walk a `let` or `var`: a name for a value that lasts, or a value of its own.
static void walk_let(struct walk *w, struct ir_stmt *s)
{
    if (s->kind == STMT_var)
        return;
    struct ir_expr *value =
        ir_substitute(w->arena, s->u.let.value, &w->values, NULL);
    if (ir_is_stable(value)) {
        map_set(&w->values, s->u.let.var, value);
    } else {
        struct conflict_scope *scope = add_scope(w);
        struct ir_expr *var = ir_read(w->arena, s->u.let.var);
        scope->var = s->u.let.var;
        scope->is_common = !divergence_of(&w->m->divergence, var);
    }
    facts_enter(&w->m->facts, s);
}

// Return whether a branch may become two with the same condition.
static bool can_cut(const struct walk *w, const struct ir_stmt *s)
{
    return s->kind == STMT_if && !w->here.apart && !s->u.branch.otherwise.n &&
           ir_is_stable(s->u.branch.cond);
}

// Return whether a statement waits until TMA has read shared memory.
static bool waits_for_stores(const struct ir_stmt *s)
{
    return s->kind == STMT_sync && (s->u.sync.kind == SYNC_bulk_wait_read ||
                                    s->u.sync.kind == SYNC_bulk_wait);
}

// Walk a statement; `before` is what was accessed before it.
static struct flow walk_stmt(struct walk *w, struct ir_stmt *s,
                             const struct accesses *before)
{
    struct accesses own =
        accesses_of(w->arena, s, &w->values, w->scope, w->m->launch);
    if (waits_for_stores(s))
        own = accesses_until(w->arena, &w->found.stored, s, w->scope);
    cluster_life_note(&w->cluster, s, &own);
    bool is_barrier = s->kind == STMT_barrier;
    struct flow r = {own, own, is_barrier, is_barrier && s->u.of_cluster, 0};
    if (s->kind == STMT_sync)
        r.meets = sync_threads(s->u.sync.kind);
    if (s->kind == STMT_sync && s->u.sync.kind == SYNC_bulk_wait)
        r.exit = accesses_until(w->arena, &w->found.arrived, s, w->scope);
    if (w->looks)
        accesses_add(w->arena, &w->found.all, &own);
    const struct together outside = w->here;
    w->here.branch = can_cut(w, s) ? &s->u.branch.then : NULL;
    axis_set axes = divergence_of_control(&w->m->divergence, s);
    if (s->kind == STMT_if && axes)
        part_threads(w, s, axes);
    if (s->kind == STMT_for || s->kind == STMT_if) {
        r = s->kind == STMT_for ? walk_loop(w, s, before, &own)
                                : walk_branch(w, s, &own);
        accesses_add(w->arena, &r.entry, &own);
        if (r.clears)
            own = left_by(w, &own, r.clears_cluster);
        accesses_add(w->arena, &r.exit, &own);
    } else if (s->kind == STMT_let || s->kind == STMT_var) {
        walk_let(w, s);
    }
    w->here = outside;
    return r;
}

// Return whether the names that the first statements of a block declare end
// with them.
static bool declares_nothing(const struct ir_block *block, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum ir_stmt_kind kind = block->at[i]->kind;
        if (kind == STMT_let || kind == STMT_var || kind == STMT_alloc)
            return false;
    }
    return true;
}

// Separate statement `at` of a block, which begins with `next`, from what was
// accessed before it: with a barrier, a barrier of fewer threads, or by cutting
// the branch around here in two, between which a barrier will stand. Returns
// whether they are separated now.
static bool part(struct walk *w, struct ir_block *block, size_t at,
                 struct flow *flow, const struct accesses *next,
                 const struct conflict *both)
{
    struct conflict_place place = {w->scope, NULL, false, 0, 0};
    enum sync_kind kind = SYNC_warp;
    bool can = w->here.branch == block && at > 0 && declares_nothing(block, at);
    bool of_cluster;
    switch (remedy_for(w, &flow->exit, next, place, can, &kind)) {
    case BARRIER:
        of_cluster = needs_cluster(w, &flow->exit, next);
        put_barrier(w, block, at, both, of_cluster);
        flow->exit = left_by(w, &flow->exit, of_cluster);
        flow->clears = true;
        flow->clears_cluster |= of_cluster;
        return true;
    case MEETING:
        put_meeting(w, block, at, kind, both);
        settle_flow(w, flow, &flow->exit, kind);
        return true;
    case CUT: w->cut = at; return false;
    case REFUSED: report(w, both); return false;
    }
    return false;
}

// Cut the branch `at` of a block in two; the second follows the first.
static void cut_branch(struct walk *w, struct ir_block *block, size_t at)
{
    struct arena *a = w->m->p->arena;
    struct ir_stmt *s = block->at[at];
    struct ir_block *then = &s->u.branch.then;
    struct ir_stmt *rest = ir_stmt_if(a, s->u.branch.cond);
    ir_stmt_from(rest, s);
    for (size_t i = w->cut; i < then->n; i++)
        ir_append(a, &rest->u.branch.then, then->at[i]);
    then->n = w->cut;
    w->cut = 0;
    ir_insert(a, block, at + 1, rest);
}

// Put a barrier behind statement `at` of a block if it waits for copies that
// others may use; returns whether one stands there now.
static bool conflict_after(struct walk *w, struct ir_block *block, size_t at)
{
    struct ir_stmt *s = block->at[at];
    if (s->kind != STMT_sync || s->u.sync.kind != SYNC_async_wait ||
        w->here.apart || !w->found.shares_copies)
        return false;
    struct ir_stmt *barrier = ir_stmt_barrier(w->m->p->arena);
    ir_insert(w->m->p->arena, block, at + 1, ir_stmt_from(barrier, s));
    return true;
}

// Put what a statement does behind what a block does before it.
static void join(struct walk *w, struct flow *r, struct flow *next)
{
    if (r->clears)
        next->entry = left_by(w, &next->entry, r->clears_cluster);
    else
        accesses_settle(w->arena, &next->entry, r->meets);
    accesses_add(w->arena, &r->entry, &next->entry);
    if (next->clears)
        r->exit = left_by(w, &r->exit, next->clears_cluster);
    accesses_settle(w->arena, &r->exit, next->meets);
    accesses_add(w->arena, &r->exit, &next->exit);
    r->clears |= next->clears;
    r->clears_cluster |= next->clears_cluster;
    r->meets = r->meets > next->meets ? r->meets : next->meets;
}

// Walk the statements of a block, behind what was accessed before it.
static struct flow walk_block(struct walk *w, struct ir_block *block,
                              const struct accesses *before)
{
    struct flow r = {0};
    struct conflict both;
    accesses_add(w->arena, &r.exit, before);
    for (size_t i = 0; i < block->n && !w->m->failed && !w->cut; i++) {
        struct flow f = walk_stmt(w, block->at[i], &r.exit);
        struct conflict_place place = {w->scope, NULL, false, 0, 0};
        if (w->cut) {
            cut_branch(w, block, i--);
            continue;
        }
        if (conflict(w, &r.exit, &f.entry, &place, &both)) {
            if (!part(w, block, i, &r, &f.entry, &both))
                return r;
            i++;
        }
        f.clears |= conflict_after(w, block, i);
        join(w, &r, &f);
    }
    return r;
}

// Return whether a block has an asynchronous copy, or a wait for stores of TMA
// tiles.
static bool has_copies(const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (ir_is_thread_copy(s) || waits_for_stores(s))
            return true;
    return false;
}

// Walk a launch; the first walk finds what it accesses.  Returns what it does
// behind its last barrier.
static struct accesses walk_launch(struct walk *w)
{
    struct accesses none = {0};
    w->meet = conflict_start(w->arena, w->m->launch);
    struct flow all = walk_block(w, &w->m->launch->body, &none);
    conflict_end(w->meet);
    return all.exit;
}

// Return whether a thread may access what another one copies asynchronously.
static bool shares_copies(struct walk *w, const struct accesses *all)
{
    struct conflict_place place = {NULL, NULL, false, 0, 0};
    bool found = false;
    w->meet = conflict_start(w->arena, w->m->launch);
    for (size_t i = 0; i < all->n && !found; i++) {
        const struct ir_stmt *s = all->at[i]->stmt;
        struct accesses copy = {.at = &all->at[i], .n = 1};
        struct conflict unused;
        found =
            ir_is_thread_copy(s) &&
            accesses_conflict(w->meet, w->threads, &copy, all, &place, &unused);
    }
    conflict_end(w->meet);
    return found;
}

// Note what TMA stores out of shared memory, and where.
static void find_stored(struct arena *a, struct found *found)
{
    vec_foreach_value(x, &found->all) {
        if (x->stmt->kind != STMT_copy || x->stmt->u.copy.is_load)
            continue;
        vec_push(a, &found->arrived, x);
        if (!x->writes)
            vec_push(a, &found->stored, x);
    }
}

// Look at a launch, if some of its statements copy, or wait for copies.
static void look(struct walk *w)
{
    if (!has_copies(&w->m->launch->body))
        return;
    w->looks = true;
    walk_launch(w);
    w->looks = false;
    w->found.shares_copies = shares_copies(w, &w->found.all);
    find_stored(w->arena, &w->found);
}

// Insert the barriers of a launch.
static void insert_barriers(struct mapping *m)
{
    struct walk w = {.m = m,
                     .arena = m->p->scratch,
                     .threads = mapping_threads(m),
                     .values = {.arena = m->p->scratch},
                     .cluster = cluster_life_of(m)};
    if (!m->launch->derives_barriers ||
        (!w.threads && !cluster_life_matters(m->launch)))
        return;
    mapping_diverge(m);
    look(&w);
    struct accesses last = walk_launch(&w);
    if (!m->failed)
        cluster_life_keep(&w.cluster, &last);
}

enum pass_result pass_barrier_insertion(struct pass *p)
{
    return mapping_each(p, insert_barriers) ? PASS_CHANGED : PASS_FAILED;
}
