// Loops that have been proved independent, and what is made of them.
//
// What `independent_loops` has found, and the parts and the fusion of such loops,
// are not asked about again where they are bound to block.x and thread.x: a fused
// loop is harder to decide about than those that it is made of.  A primitive
// that may change what they hold ends that.

#include "passes/schedule/interpret/interpret.h"

// Return whether a primitive leaves the iterations of loops as they are.
static bool keeps_iterations(enum sched_prim prim)
{
    return prim == PRIM_split || prim == PRIM_fuse || prim == PRIM_reorder ||
           prim == PRIM_unroll || prim == PRIM_vectorize || prim == PRIM_bind;
}

// Return whether a loop is among those that are proved.
static bool is_proven(const struct interp *in, const struct ir_stmt *loop)
{
    return sched_is_among(loop, in->proven.at, in->proven.n);
}

void interp_proven_add(struct interp *in, const struct ir_block *loops)
{
    vec_foreach_value(loop, loops)
        if (!is_proven(in, loop))
            vec_push(in->pass->scratch, &in->proven, loop);
}

bool interp_proven_call(const struct interp *in, const struct sched_call *c)
{
    vec_foreach(v, &c->args) {
        bool is_other = v->kind == VALUE_loop && !is_proven(in, v->stmt);
        bool is_other_axis = v->kind == VALUE_axis && v->axis != AXIS_block_x &&
                             v->axis != AXIS_thread_x;
        if (is_other || is_other_axis)
            return false;
    }
    return in->proven.n && keeps_iterations(c->prim);
}

void interp_proven_after(struct interp *in, const struct sched_call *c)
{
    if (!keeps_iterations(c->prim))
        in->proven.n = 0;
    else if (c->is_independent)
        vec_foreach(v, &c->results)
            vec_push(in->pass->scratch, &in->proven, v->stmt);
}
