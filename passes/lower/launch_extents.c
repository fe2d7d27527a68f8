// How many threads a launch has on each axis, before there are launches.

#include "passes/lower/launch_extents.h"

#include "ir/build.h"
#include "ir/walk.h"

bool launch_is_counted(const struct ir_stmt *loop)
{
    int64_t n;
    return ir_for_counts(&loop->u.loop) && ir_int_value(loop->u.loop.to, &n) &&
           n > 0;
}

// Note the extent of a thread loop.
static void note_extent(struct launch_extents *e, struct ir_stmt *s)
{
    if (!ir_is_over(s, AXIS_THREAD))
        return;
    int64_t *at = &e->at[s->u.loop.axis], n = -1;
    if (launch_is_counted(s))
        ir_int_value(s->u.loop.to, &n);
    *at = *at < 0 || n < 0 ? -1 : *at < n ? n : *at;
}

// Return whether a statement at the top may bind others together in a launch:
// an array in global memory does not, nor does one that a single nest uses.
static bool may_bind(const struct ir_block *body, const struct ir_stmt *s)
{
    size_t users = 0;
    if (s->kind != STMT_alloc)
        return s->kind != STMT_for;
    if (s->u.buffer->space == SPACE_global)
        return false;
    for (size_t i = 0; i < body->n && users < 2; i++)
        users += ir_stmt_uses_declared(body->at[i], s);
    return users > 1;
}

struct launch_extents launch_extents_of(struct pass *p, struct ir_stmt *top)
{
    struct launch_extents e = {{0}};
    struct ir_block *body = &p->kernel->body;
    struct ir_block *in = ir_alone(top);
    for (size_t i = 0; i < body->n && in != body; i++)
        if (may_bind(body, body->at[i]))
            in = body;
    ir_foreach_stmt(t, in)
        note_extent(&e, t);
    return e;
}
