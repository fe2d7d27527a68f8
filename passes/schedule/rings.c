// Loops with a ring may have it, whatever directives do to them.
//
//   pipeline(k, 2)        k has a ring, as what fills it comes first in its body
//   bind(k, thread.x)     its iterations run at once: refused
//   bind(C.j, thread.x)   another loop: nothing to look at
//
// A directive changes a ring by what it is given or makes: a loop around or
// inside, a stage there, or one that has to do with arrays there.  What it would
// do to others is found once the schedule has run.

#include "passes/schedule/rings.h"

#include "ir/accesses.h"
#include "ir/foreach.h"
#include "passes/analysis/ring_ahead.h"

// Report why a loop cannot keep its ring.  Returns false.
static bool refuse_ring(struct sched_call *c, const struct ring *ring)
{
    struct ir_stmt *both[] = {ring->loop, ring->at};
    diag_error(c->pass->diags, c->span, D_pipeline_lost,
               ring->loop->u.loop.var->name, ring->fault);
    return sched_blame(c, both, ring->at == ring->loop || !ring->at ? 1 : 2,
                       "looked at");
}

bool schedule_verify_rings(struct sched_call *c)
{
    struct pass *p = c->pass;
    ir_foreach_stmt(s, &p->kernel->body) {
        if (!ir_rings_of(s).n)
            continue;
        struct arena_mark here = arena_mark(p->scratch);
        struct ring ring = ring_find_all(p->scratch, p->kernel, s);
        if (ring.fault)
            return refuse_ring(c, &ring);
        arena_release(p->scratch, here);
    }
    return true;
}

// Return whether a statement is another one, or is below it.
static bool is_below(const struct ir_stmt *s, struct ir_stmt *around)
{
    ir_foreach_stmt_from(t, around)
        if (t == s)
            return true;
    return false;
}

// Return whether a stage elsewhere stores what a loop uses, or reads what it writes.
static bool shares_array(const struct ir_stmt *loop, struct ir_stmt *stage)
{
    const struct ir_buffer *stored = sched_stored(stage);
    if (stored && ir_stmt_uses(loop, stored))
        return true;
    ir_foreach_expr_from(x, stage)
        if (ir_op_info(x->op)->flags & OP_READS &&
            ir_stmt_writes(loop, x->u.buffer))
            return true;
    return false;
}

// Return whether a value has to do with a loop.
static bool concerns(struct ir_stmt *loop, const struct sched_value *v)
{
    switch ((int)v->kind) {
    case VALUE_array: return ir_stmt_uses(loop, v->buffer);
    case VALUE_stage:
        return is_below(v->stmt, loop) || shares_array(loop, v->stmt);
    case VALUE_loop: return is_below(v->stmt, loop) || is_below(loop, v->stmt);
    default: return false;
    }
}

bool schedule_keeps_rings(enum sched_prim prim)
{
    switch ((int)prim) {
    case PRIM_specialize:
    case PRIM_persistent:
    case PRIM_pingpong:
    case PRIM_raster:
    case PRIM_tensorize: return true;
    default: return false;
    }
}

bool schedule_has_rings(const struct pass *p)
{
    ir_foreach_stmt(s, &p->kernel->body)
        if (ir_rings_of(s).n)
            return true;
    return false;
}

bool schedule_rings_concern(const struct sched_call *c,
                            const struct sched_values *values)
{
    struct ir_block *body = &c->pass->kernel->body;
    if (c->prim == PRIM_pipeline || schedule_keeps_rings(c->prim))
        return false;
    ir_foreach_stmt(s, body) {
        if (!ir_rings_of(s).n)
            continue;
        vec_foreach(v, values)
            if (concerns(s, v))
                return true;
    }
    return false;
}
