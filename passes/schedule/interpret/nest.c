// Lists of loops that stand for one loop:
//
//   split([C.n, C.h, C.w], _, 256)   =   split(fuse(C.n, C.h, C.w), _, 256)
//
// The list stands for that loop wherever it is used again, as in a def that
// takes a loop and names it twice.

#include "passes/schedule/interpret/interpret.h"

// Return whether a value is a list of several loops, and nothing else.
static bool is_nest(const struct sched_value *v)
{
    if (v->kind != VALUE_list || v->list.n < 2)
        return false;
    vec_foreach(one, &v->list)
        if (one->kind != VALUE_loop)
            return false;
    return true;
}

// Return whether two lists hold the same loops.
static bool is_same(const struct sched_values *a, const struct sched_values *b)
{
    for (size_t i = 0; i < a->n && a->n == b->n; i++)
        if (a->at[i].stmt != b->at[i].stmt)
            return false;
    return a->n == b->n;
}

// Return the loop that was made of a list before, or NULL.
static struct ir_stmt *find_fused(const struct interp *in,
                                  const struct sched_values *list)
{
    vec_foreach(nest, &in->nests)
        if (is_same(&nest->loops, list))
            return nest->fused;
    return NULL;
}

// Fuse the loops of a list; returns the loop, NULL after an error.
static struct ir_stmt *fuse(struct interp *in, const struct sched_value *v)
{
    struct sched_call c = {
        .pass = in->pass, .prim = PRIM_fuse, .span = v->span, .args = v->list};
    vec_foreach(loop, &v->list)
        if (!interp_check_alive(in, loop, v->span))
            return NULL;
    if (!interp_run(in, &c, v->span)) {
        diag_note(in->pass->diags, v->span,
                  "a list of loops stands for the one that `fuse` makes of "
                  "them");
        return NULL;
    }
    return c.results.at[0].stmt;
}

bool interp_nest(struct interp *in, bool wants_loop, struct sched_value *v)
{
    if (!is_nest(v))
        return true;
    struct ir_stmt *loop = find_fused(in, &v->list);
    if (!loop && !wants_loop)
        return true;
    if (!loop) {
        loop = fuse(in, v);
        if (!loop)
            return false;
        vec_push(in->pass->scratch, &in->nests,
                 (struct sched_nest){v->list, loop});
    }
    *v =
        (struct sched_value){.kind = VALUE_loop, .span = v->span, .stmt = loop};
    return true;
}
