// Questions that need no isl, because the address determines enough loops.

#include "passes/schedule/depend/access.h"

#include "ir/build.h"

// Return the factor of a term that is a loop variable that counts from 0 on the
// path of an access; 0 if it is none.
static int64_t loop_factor(const struct affine_term *t,
                           const struct depend_access *x)
{
    for (size_t k = 0; k < x->path.n && t->n == 1; k++) {
        const struct domain_step *s = &x->path.at[k];
        if (depend_is_loop(s) && t->atoms[0]->op == OP_var &&
            t->atoms[0]->u.var == s->stmt->u.loop.var)
            return ir_is_int_const(s->stmt->u.loop.from, 0) ? t->factor : 0;
    }
    return 0;
}

// Return whether a loop variable is 0 where a binding is: the binding is a sum of
// loop variables with positive factors that count from 0, this one among them, and
// of a rest; the rest and a step of this one are more than 0.
//
//   a * 16 + b * 4 + c - s % 4      a and b are 0, c need not be
static bool is_zero(struct depend_nest *w, struct ir_expr *binding,
                    const struct depend_access *x, const struct ir_var *var)
{
    struct arena *a = w->pass->scratch;
    struct affine form = affine_of(a, binding), zero = affine_number(0);
    struct affine rest = affine_add(a, &form, 1, &zero), one = affine_number(1);
    int64_t step = 0;
    vec_foreach(t, &form.terms) {
        int64_t factor = loop_factor(t, x);
        if (factor <= 0)
            continue;
        struct affine loop = affine_scale(a, &one, t);
        rest = affine_add(a, &rest, -1, &loop);
        step = t->atoms[0]->u.var == var ? factor : step;
    }
    affine_offset(&rest, step - 1);
    return step && !form.failed &&
           facts_nonnegative(depend_facts_around(w, x), &rest);
}

// Return whether one of the accesses is by the init of the stage of both and
// the loop counts the stage's reduction: the init is in its first iteration.
static bool is_first(struct depend_nest *w, const struct depend_access *x,
                     const struct depend_access *y, const struct ir_var *loop)
{
    if (!x->stage || x->stage != y->stage || (!x->in_init && !y->in_init))
        return false;
    const struct ir_stage *stage = &x->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        struct ir_expr *binding =
            it->is_reduce ? map_get(&w->values, it->var) : NULL;
        if (binding && is_zero(w, binding, x, loop))
            return true;
    }
    return false;
}

// Return whether a question's new order puts loop `j` in front of loop `i`, which
// is in front of it in the old one.
static bool is_swapped(const struct depend_question *q, size_t i, size_t j)
{
    size_t at = 0;
    while (q->order[at] != q->loops[i] && q->order[at] != q->loops[j])
        at++;
    return q->order[at] == q->loops[j];
}

// Return whether loops that change places never decide which of two iterations
// comes first: the address determines one of them, or both are in their first
// iteration in the init, which then comes first in any order.
static bool keeps_order(struct depend_nest *w, const struct depend_question *q,
                        const struct depend_access *x,
                        const struct depend_access *y,
                        const struct depend_known *known)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct ir_var *outer = q->loops[i]->u.loop.var;
        for (size_t j = i + 1; j < q->n; j++) {
            const struct ir_var *inner = q->loops[j]->u.loop.var;
            if (is_swapped(q, i, j) && !depend_is_known(known, outer) &&
                !depend_is_known(known, inner) &&
                !(is_first(w, x, y, outer) && is_first(w, x, y, inner)))
                return false;
        }
    }
    return true;
}

bool depend_is_settled(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *x,
                       const struct depend_access *y,
                       const struct depend_known *known)
{
    if (!q->n)
        return false;
    if (!q->order)
        return depend_is_known(known, q->loops[0]->u.loop.var);
    return keeps_order(w, q, x, y, known);
}
