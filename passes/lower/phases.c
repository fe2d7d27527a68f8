// Barriers between the phases of a block.
//
//   for t in 0..128 @thread.x {
//     for ax in 0..128 @thread.x { S[ax] = A[ax] }
//                                                    => barrier
//     B[t] = S[127 - t]
//   }
//
// Two accesses to memory that the threads of a block share, one of which
// writes, conflict if different threads may touch the same element (meet.h).
// A walk keeps what was touched since the last barrier; where the next
// statement of a block conflicts with it, a barrier goes in front.  What is
// inside a statement comes first, so a barrier is never deeper than the
// innermost block around both places.  If the end of a loop's body conflicts
// with its beginning, one more goes to one of them.  Copies that a thread has
// waited for are complete to it alone, so where all threads of a block wait,
// they meet behind that, unless no thread ever touches what others copy: a
// first walk, which only looks, finds that out.

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/lower/mapping.h"
#include "passes/lower/touches.h"

// What a statement or a block does to the memory that threads share.
struct flow {
    struct touches entry; // with no barrier between the start and them
    struct touches exit;  // with no barrier between them and the end
    bool clears;          // there is a barrier on every way
};

// The walk over a launch.
struct walk {
    struct mapping *m;
    struct arena *arena; // of what the pass forgets
    struct meet *meet;
    axis_set threads;  // axes on which the block has several
    struct map values; // what lets and bound loops stand for
    const struct meet_scope *scope;
    const struct ir_stmt *parts; // what keeps threads apart here, or NULL
    struct ir_block *may_split;  // the branch there, if it can be cut in two
    size_t split;                // where it has to be; 0: nowhere
    struct touches *seen;        // by the walk that only looks; NULL later
    bool meets_after_waits;
};

static struct flow walk_block(struct walk *w, struct ir_block *block,
                              const struct touches *before);

// Add a scope; returns it to be filled in.
static struct meet_scope *add_scope(struct walk *w)
{
    struct meet_scope *s = arena_new(w->arena, struct meet_scope);
    s->up = w->scope;
    w->scope = s;
    return s;
}

// Return whether two sets of accesses conflict, and which of them.
static bool conflict(struct walk *w, const struct touches *first,
                     const struct touches *second,
                     const struct meet_place *place, struct conflict *out)
{
    return !w->seen &&
           touches_conflict(w->meet, w->threads, first, second, place, out);
}

// Report a conflict where no barrier can stand.
static void report(struct walk *w, const struct conflict *both)
{
    const struct ir_stmt *s = w->parts;
    if (w->m->failed)
        return;
    w->m->failed = true;
    diag_error(w->m->p->diags, both->second->stmt->span, D_phases_divergent,
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

// Put a barrier in front of statement `at` of a block, between two accesses.
static void put_barrier(struct walk *w, struct ir_block *block, size_t at,
                        const struct conflict *both)
{
    struct ir_stmt *s = ir_stmt_barrier(w->m->p->arena);
    ir_stmt_from(s, both->second->stmt);
    if (!s->by.source)
        s->by = both->first->stmt->by;
    ir_insert(w->m->p->arena, block, at, s);
}

// Return whether a loop has an iteration, asked from outside of it.
static bool runs(struct walk *w, const struct ir_for *loop)
{
    struct affine from = affine_of(w->arena, loop->from);
    struct affine to = affine_of(w->arena, loop->to);
    struct affine room = affine_add(w->arena, &to, -1, &from);
    struct affine one = affine_number(1);
    room = affine_add(w->arena, &room, -1, &one);
    return !room.failed && facts_nonnegative(&w->m->facts, &room);
}

// Return whether a loop has at most one iteration.
static bool runs_once(struct walk *w, const struct ir_for *loop)
{
    struct affine from = affine_of(w->arena, loop->from);
    struct affine to = affine_of(w->arena, loop->to);
    struct affine room = affine_add(w->arena, &from, -1, &to);
    struct affine step = affine_of(w->arena, loop->step);
    room = affine_add(w->arena, &room, 1, &step);
    return !room.failed && facts_nonnegative(&w->m->facts, &room);
}

// Part the end of a loop's body from the beginning of its next iteration.
static void part_iterations(struct walk *w, struct ir_for *loop,
                            struct flow *body, const struct touches *before,
                            const struct meet_scope *around)
{
    struct conflict both;
    struct meet_place place = {w->scope, w->scope, body->clears};
    if (!conflict(w, &body->exit, &body->entry, &place, &both))
        return;
    if (w->parts) {
        report(w, &both);
        return;
    }
    struct meet_place outside = {around, NULL, false};
    struct conflict unused;
    bool is_start = conflict(w, before, &body->entry, &outside, &unused);
    put_barrier(w, &loop->body, is_start ? 0 : loop->body.n, &both);
    if (is_start)
        body->entry = (struct touches){0};
    else
        body->exit = (struct touches){0};
    body->clears = true;
}

// Walk a serial loop.
static struct flow walk_serial(struct walk *w, struct ir_stmt *s,
                               const struct touches *before,
                               const struct touches *own)
{
    struct ir_for *loop = &s->u.loop;
    const struct meet_scope *around = w->scope;
    struct affine first = affine_of(w->arena, loop->from);
    struct meet_scope *scope = add_scope(w);
    scope->var = loop->var;
    scope->is_natural = facts_nonnegative(&w->m->facts, &first);
    scope->from = ir_substitute(w->arena, loop->from, &w->values, NULL);
    scope->to = ir_substitute(w->arena, loop->to, &w->values, NULL);
    scope->step = 1;
    ir_int_value(loop->step, &scope->step);
    scope->is_common = !divergence_of_control(&w->m->divergence, s);
    bool always = runs(w, loop), once = runs_once(w, loop);
    facts_enter(&w->m->facts, s);
    struct flow body = walk_block(w, &loop->body, own);
    w->scope = scope;
    if (!once)
        part_iterations(w, loop, &body, before, around);
    body.clears &= always;
    w->scope = around;
    return body;
}

// Walk a loop over threads or blocks.
static struct flow walk_bound(struct walk *w, struct ir_stmt *s, bool is_whole,
                              const struct touches *own)
{
    struct arena *a = w->arena;
    struct ir_for *loop = &s->u.loop;
    struct ir_expr *index = mapping_position(w->m, loop->axis);
    struct ir_expr *value = ir_add(a, loop->from, ir_mul(a, index, loop->step));
    struct ir_expr *extent = map_get(&w->m->loop_extents, s);
    struct meet_scope *scope = add_scope(w);
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
    return body;
}

// Walk a loop.
static struct flow walk_loop(struct walk *w, struct ir_stmt *s,
                             const struct touches *before,
                             const struct touches *own)
{
    struct ir_for *loop = &s->u.loop;
    const struct meet_scope *outside = w->scope;
    struct facts_mark mark = facts_mark(&w->m->facts);
    bool bound = is_bound(loop), is_whole = true;
    struct ir_expr *extent = map_get(&w->m->loop_extents, s);
    if (bound)
        is_whole = ir_expr_equal(extent, w->m->extent[loop->axis]);
    if (axis_kind(loop->axis) != AXIS_BLOCK &&
        (!is_whole || divergence_of_control(&w->m->divergence, s)))
        w->parts = s;
    struct flow r = bound ? walk_bound(w, s, is_whole, own)
                          : walk_serial(w, s, before, own);
    facts_leave(&w->m->facts, mark);
    w->scope = outside;
    return r;
}

// Walk one side of a branch.
static struct flow walk_side(struct walk *w, struct ir_stmt *s, bool holds,
                             struct ir_block *block, const struct touches *own)
{
    const struct meet_scope *outside = w->scope;
    struct facts_mark mark = facts_mark(&w->m->facts);
    struct ir_expr *cond =
        ir_substitute(w->arena, s->u.branch.cond, &w->values, NULL);
    struct meet_scope *scope = add_scope(w);
    if (ir_is_stable(cond)) {
        scope->condition = cond;
        scope->holds = holds;
        scope->is_single = map_has(&w->m->made, s);
        facts_assume(&w->m->facts, cond, holds);
    }
    struct flow r = walk_block(w, block, own);
    facts_leave(&w->m->facts, mark);
    w->scope = outside;
    return r;
}

// Walk a branch.  No barrier can stand between its sides.
static struct flow walk_branch(struct walk *w, struct ir_stmt *s,
                               const struct touches *own)
{
    struct flow r = walk_side(w, s, true, &s->u.branch.then, own);
    struct flow other = walk_side(w, s, false, &s->u.branch.otherwise, own);
    struct meet_place place = {w->scope, NULL, false};
    struct conflict both;
    if (w->parts == s && conflict(w, &r.exit, &other.exit, &place, &both))
        report(w, &both);
    touches_add(w->arena, &r.entry, &other.entry);
    touches_add(w->arena, &r.exit, &other.exit);
    r.clears &= other.clears;
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
        struct meet_scope *scope = add_scope(w);
        struct ir_expr *var = ir_read(w->arena, s->u.let.var);
        scope->var = s->u.let.var;
        scope->is_common = !divergence_of(&w->m->divergence, var);
    }
    facts_enter(&w->m->facts, s);
}

// Return whether a branch may become two with the same condition.
static bool can_split(const struct walk *w, const struct ir_stmt *s)
{
    return s->kind == STMT_if && !w->parts && !s->u.branch.otherwise.n &&
           ir_is_stable(s->u.branch.cond);
}

// Walk a statement; `before` is what was touched before it.
static struct flow walk_stmt(struct walk *w, struct ir_stmt *s,
                             const struct touches *before)
{
    struct touches own = touches_of(w->arena, s, &w->values, w->scope);
    struct flow r = {own, own, false};
    if (w->seen)
        touches_add(w->arena, w->seen, &own);
    const struct ir_stmt *parts = w->parts;
    struct ir_block *may_split = w->may_split;
    w->may_split = can_split(w, s) ? &s->u.branch.then : NULL;
    if (s->kind == STMT_if && divergence_of_control(&w->m->divergence, s))
        w->parts = s;
    if (s->kind == STMT_for || s->kind == STMT_if) {
        r = s->kind == STMT_for ? walk_loop(w, s, before, &own)
                                : walk_branch(w, s, &own);
        touches_add(w->arena, &r.entry, &own);
        if (!r.clears)
            touches_add(w->arena, &r.exit, &own);
    } else if (s->kind == STMT_let || s->kind == STMT_var) {
        walk_let(w, s);
    }
    w->parts = parts;
    w->may_split = may_split;
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

// Part statement `at` of a block from what was touched before it, with a
// barrier, or by cutting the branch around here in two, between which one will
// stand.  Returns whether a barrier is here now.
static bool part(struct walk *w, struct ir_block *block, size_t at,
                 const struct conflict *both)
{
    if (!w->parts) {
        put_barrier(w, block, at, both);
        return true;
    }
    if (w->may_split == block && at > 0 && declares_nothing(block, at))
        w->split = at;
    else
        report(w, both);
    return false;
}

// Cut the branch `at` of a block in two; the second follows the first.
static void split_branch(struct walk *w, struct ir_block *block, size_t at)
{
    struct arena *a = w->m->p->arena;
    struct ir_stmt *s = block->at[at];
    struct ir_block *then = &s->u.branch.then;
    struct ir_stmt *rest = ir_stmt_if(a, s->u.branch.cond);
    ir_stmt_from(rest, s);
    for (size_t i = w->split; i < then->n; i++)
        ir_append(a, &rest->u.branch.then, then->at[i]);
    then->n = w->split;
    w->split = 0;
    if (map_has(&w->m->made, s))
        map_set(&w->m->made, rest, rest);
    ir_insert(a, block, at + 1, rest);
}

// Put a barrier behind statement `at` of a block if it waits for copies that
// others may use; returns whether one stands there now.
static bool meet_after(struct walk *w, struct ir_block *block, size_t at)
{
    struct ir_stmt *s = block->at[at];
    if (s->kind != STMT_sync || s->u.sync.kind != SYNC_async_wait || w->parts ||
        !w->meets_after_waits)
        return false;
    struct ir_stmt *barrier = ir_stmt_barrier(w->m->p->arena);
    ir_insert(w->m->p->arena, block, at + 1, ir_stmt_from(barrier, s));
    return true;
}

// Walk the statements of a block, behind what was touched before it.
static struct flow walk_block(struct walk *w, struct ir_block *block,
                              const struct touches *before)
{
    struct flow r = {0};
    struct conflict both;
    touches_add(w->arena, &r.exit, before);
    for (size_t i = 0; i < block->n && !w->m->failed && !w->split; i++) {
        struct flow f = walk_stmt(w, block->at[i], &r.exit);
        struct meet_place place = {w->scope, NULL, false};
        if (w->split) {
            split_branch(w, block, i--);
            continue;
        }
        if (conflict(w, &r.exit, &f.entry, &place, &both)) {
            if (!part(w, block, i, &both))
                return r;
            r.exit = (struct touches){0};
            r.clears = true;
            i++;
        }
        if (!r.clears)
            touches_add(w->arena, &r.entry, &f.entry);
        f.clears |= meet_after(w, block, i);
        if (f.clears)
            r.exit = (struct touches){0};
        touches_add(w->arena, &r.exit, &f.exit);
        r.clears |= f.clears;
    }
    return r;
}

// Set *(bool *)context at an asynchronous copy.
static void see_copy(struct ir_stmt *s, void *context)
{
    *(bool *)context |= s->kind == STMT_store && s->u.store.is_async;
}

// Return whether a thread may touch what another one copies asynchronously.
static bool share_copies(struct walk *w, struct ir_block *body)
{
    struct touches none = {0}, all = {0};
    struct meet_place place = {NULL, NULL, false};
    bool copies = false, found = false;
    ir_each_stmt(body, see_copy, &copies);
    if (!copies)
        return false;
    w->seen = &all;
    w->meet = meet_start(w->arena, w->m->launch);
    walk_block(w, body, &none);
    for (size_t i = 0; i < all.n && !found; i++) {
        const struct ir_stmt *s = all.at[i]->stmt;
        struct touches copy = {.at = &all.at[i], .n = 1};
        struct conflict unused;
        found =
            s->kind == STMT_store && s->u.store.is_async &&
            touches_conflict(w->meet, w->threads, &copy, &all, &place, &unused);
    }
    meet_end(w->meet);
    w->seen = NULL;
    return found;
}

void mapping_phases(struct mapping *m, struct ir_block *body)
{
    struct walk w = {.m = m, .arena = m->p->scratch};
    struct touches none = {0};
    w.threads = mapping_threads(m);
    if (!w.threads)
        return;
    w.values.arena = m->p->scratch;
    w.meets_after_waits = share_copies(&w, body);
    w.meet = meet_start(w.arena, m->launch);
    walk_block(&w, body, &none);
    meet_end(w.meet);
}
