// Questions that need no isl, because the address determines enough loops.

#include "passes/schedule/depend/access.h"

#include "ir/build.h"

// Return whether a binding is a sum of loop variables with positive factors
// that count from 0, this one among them: where it is 0, all of them are.
static bool counts_up(struct arena *a, struct ir_expr *binding,
                      const struct depend_access *x, const struct ir_var *var)
{
    bool found = false;
    struct affine form = affine_of(a, binding);
    vec_foreach(t, &form.terms) {
        bool from_zero = false;
        for (size_t k = 0; k < x->path.n && t->n == 1; k++) {
            const struct domain_step *s = &x->path.at[k];
            if (depend_is_loop(s) && t->atoms[0]->op == OP_var &&
                t->atoms[0]->u.var == s->stmt->u.loop.var)
                from_zero = ir_is_int_const(s->stmt->u.loop.from, 0);
        }
        if (!from_zero || t->factor < 0)
            return false;
        found |= t->atoms[0]->u.var == var;
    }
    return found && !form.failed && form.constant >= 0;
}

// Return whether one of the accesses is by the init of the stage of both and
// the loop counts the stage's reduction: the init is in its first iteration.
static bool is_first(const struct depend_nest *w, const struct depend_access *x,
                     const struct depend_access *y, const struct ir_var *loop)
{
    if (!x->stage || x->stage != y->stage || (!x->in_init && !y->in_init))
        return false;
    const struct ir_stage *stage = &x->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++)
        if (stage->iters.at[i].is_reduce &&
            counts_up(w->pass->scratch, stage->iters.at[i].binding, x, loop))
            return true;
    return false;
}

// Return whether all loops that the address does not determine are in their
// first iteration in the init, which then comes first in any order.
static bool begins(const struct depend_nest *w, const struct depend_question *q,
                   const struct depend_access *x, const struct depend_access *y,
                   const struct depend_known *known)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct ir_var *var = q->loops[i]->u.loop.var;
        if (!depend_is_known(known, var) && !is_first(w, x, y, var))
            return false;
    }
    return true;
}

bool depend_is_settled(const struct depend_nest *w,
                       const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y,
                       const struct depend_known *known)
{
    size_t next = 0;
    if (!q->n)
        return false;
    if (!q->order)
        return depend_is_known(known, q->loops[0]->u.loop.var);
    if (begins(w, q, x, y, known))
        return true;
    for (size_t i = 0; i < q->n; i++) {
        size_t at = 0;
        while (q->loops[at] != q->order[i])
            at++;
        if (depend_is_known(known, q->order[i]->u.loop.var))
            continue;
        if (at < next)
            return false;
        next = at;
    }
    return true;
}
