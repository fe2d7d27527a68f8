// Launches run one after another, so a barrier of the grid is the end of one
// and the beginning of the next:
//
//   for b @block.x { for t @thread.x { let i = ...; A; grid_barrier; B } }  =>
//   for b @block.x { for t @thread.x { let i = ...; A } }
//   for b @block.x { for t @thread.x { let i = ...; B } }
//
// What was declared before the barrier is declared again if it follows from
// the loops alone; only global memory keeps its values.

#include "frontend/grids.h"

#include "ir/base/diag.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

// Return whether a statement is a barrier of the grid.
static bool is_barrier(const struct ir_stmt *s)
{
    return s->kind == STMT_sync && s->u.sync.kind == SYNC_grid;
}

// Return the first barrier of the grid in a statement, or NULL.
static struct ir_stmt *barrier_in(struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (is_barrier(t))
            return t;
    return NULL;
}

// Return whether a statement is a loop over blocks or threads.
static bool is_bound(const struct ir_stmt *s)
{
    enum axis_kind kind =
        s->kind == STMT_for ? axis_kind(s->u.loop.axis) : AXIS_SERIAL;
    return kind == AXIS_BLOCK || kind == AXIS_THREAD;
}

// Return whether a declaration can be made again behind the barrier.
static bool is_repeatable(const struct ir_stmt *s)
{
    return (s->kind == STMT_let && ir_is_stable(s->u.let.value)) ||
           (s->kind == STMT_alloc && s->u.buffer->values);
}

// Report a declaration whose value would have to cross the barrier.
static void check_crossing(struct parser *p, const struct ir_stmt *s,
                           struct ir_block *behind,
                           const struct ir_stmt *barrier)
{
    if (s->kind != STMT_alloc && s->kind != STMT_let && s->kind != STMT_var)
        return;
    if (!ir_uses_declared(behind, s))
        return;
    diag_error(p->diags, barrier->span, D_grid_barrier_crossed,
               s->kind == STMT_alloc ? s->u.buffer->name : s->u.let.var->name);
    diag_note(p->diags, s->span, "declared here");
}

// Cut a loop at a barrier of the grid in its body, or in a bound loop in it;
// returns a loop with what follows.
static struct ir_stmt *cut(struct parser *p, struct ir_stmt *s,
                           const struct ir_stmt *barrier)
{
    struct ir_block *body = &s->u.loop.body;
    struct ir_stmt *second = arena_new(p->arena, struct ir_stmt);
    size_t at = 0;
    *second = *s;
    struct ir_block behind = {0};
    while (!barrier_in(body->at[at]))
        at++;
    if (body->at[at] != barrier)
        ir_append(p->arena, &behind, cut(p, body->at[at], barrier));
    for (size_t i = at + 1; i < body->n; i++)
        ir_append(p->arena, &behind, body->at[i]);
    second->u.loop.body = (struct ir_block){0};
    for (size_t i = 0; i < at; i++) {
        if (is_repeatable(body->at[i]))
            ir_append(p->arena, &second->u.loop.body, body->at[i]);
        else
            check_crossing(p, body->at[i], &behind, barrier);
    }
    ir_append_all(p->arena, &second->u.loop.body, &behind);
    body->n = at + (body->at[at] != barrier);
    return second;
}

// Return whether a loop can be cut at a barrier: only bound loops are around.
static bool can_cut(struct ir_stmt *s, const struct ir_stmt *barrier)
{
    if (s == barrier)
        return true;
    if (!is_bound(s))
        return false;
    for (size_t i = 0; i < s->u.loop.body.n; i++) {
        if (barrier_in(s->u.loop.body.at[i]) == barrier)
            return can_cut(s->u.loop.body.at[i], barrier);
    }
    return false;
}

// Take a barrier on top of a kernel away.
static void drop(struct parser *p, struct ir_block *top, size_t at)
{
    const struct ir_stmt *barrier = top->at[at];
    struct ir_block behind = {0};
    for (size_t i = at + 1; i < top->n; i++)
        ir_append(p->arena, &behind, top->at[i]);
    for (size_t i = 0; i < at; i++) {
        const struct ir_stmt *s = top->at[i];
        bool is_global =
            s->kind == STMT_alloc && s->u.buffer->space == SPACE_global;
        if (!is_global && !is_repeatable(s))
            check_crossing(p, s, &behind, barrier);
    }
    ir_splice(p->arena, top, at, &(struct ir_block){0});
}

void grids_divide(struct parser *p, struct ir_kernel *k)
{
    struct ir_block *top = &k->body;
    for (size_t i = 0; i < top->n;) {
        struct ir_stmt *s = top->at[i], *barrier = barrier_in(s);
        if (barrier == s) {
            drop(p, top, i);
        } else if (barrier && !can_cut(s, barrier)) {
            diag_error(p->diags, barrier->span, D_grid_barrier_place);
            return;
        } else {
            i++;
            struct ir_stmt *second = barrier ? cut(p, s, barrier) : NULL;
            if (second)
                ir_insert(p->arena, top, i,
                          ir_copy_stmt(p->arena, second, NULL, NULL));
        }
    }
}
