// The guard on sizes under which bulk copies are whole.
//
//   for i @block.x { for r in 0..4 { for k in 0..64 {
//     stage S(...) if i * 4 + r < M && k0 * 64 + k < K { S[r, k] = A[...] }
//   } } }                                    =>    M % 4 == 0, K % 64 == 0
//
// A condition that depends on loops of the nest must not leave out a part of a
// bulk copy. So the size that it compares with has to be a multiple of their
// iterations, or the condition is true at the last iteration of all loops, and
// so always.

#include "passes/analysis/bulk_guard.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "passes/analysis/tma_copy.h"
#include "passes/opt/fold.h"

// Return the loops directly around the stage at the end of a path, with nothing
// else in them: from which step on they stand.
static uint32_t nest_of(const struct ir_path *path)
{
    uint32_t at = path->n - 1;
    for (; at > 0; at--) {
        const struct ir_stmt *s = path->stmts[at - 1];
        if (s->kind != STMT_for || s->u.loop.body.n > 1 ||
            (axis_kind(s->u.loop.axis) != AXIS_SERIAL &&
             axis_kind(s->u.loop.axis) != AXIS_UNROLL))
            break;
    }
    return at;
}

// Return how many iterations of the loops of the nest decide on a condition: 1
// for none, 0 if that is open.
static int64_t deciding(const struct ir_path *path, struct ir_expr *condition)
{
    int64_t all = 1, n;
    for (uint32_t i = nest_of(path); i + 1 < path->n; i++) {
        const struct ir_for *loop = &path->stmts[i]->u.loop;
        if (!ir_mentions(condition, loop->var))
            continue;
        if (!ir_int_value(loop->to, &n) || !num_mul(all, n, &all))
            return 0;
    }
    return all;
}

// Return what a condition folds to if another one holds.
static struct ir_expr *folded_under(struct arena *a, struct facts *f,
                                    struct ir_expr *holds,
                                    struct ir_expr *condition)
{
    struct facts_mark here = facts_mark(f);
    facts_assume(f, holds, true);
    struct ir_expr *folded = fold_expr(a, f, condition);
    facts_leave(f, here);
    return folded;
}

// Return the condition that `x` is a multiple of `n`.
static struct ir_expr *is_multiple(struct arena *a, struct ir_expr *x,
                                   struct ir_expr *n)
{
    return ir_binary(a, OP_eq, ir_binary(a, OP_mod, x, n), ir_int(a, 0));
}

// Return the condition on a size under which `x < size` holds in all iterations
// of the nest or in none, or NULL.
static struct ir_expr *for_tiles(struct arena *a, struct facts *f,
                                 const struct ir_path *path,
                                 struct ir_expr *condition)
{
    int64_t n = deciding(path, condition);
    if (condition->op != OP_lt || n < 2 || !ir_is_of_params(condition->args[1]))
        return NULL;
    struct ir_expr *multiple = is_multiple(a, condition->args[1], ir_int(a, n));
    struct ir_expr *rest = folded_under(a, f, multiple, condition);
    return deciding(path, rest) == 1 ? multiple : NULL;
}

// Put the iteration of a loop in which a form is least in the place of the
// loop's variable; false if there is none.
static bool lower_over(struct arena *a, const struct ir_for *loop,
                       struct affine *form)
{
    int64_t factor;
    struct affine rest;
    if (!affine_linear(a, form, loop->var, &factor, &rest))
        return false;
    struct ir_expr *before = ir_sub(a, ir_for_extent(a, loop), ir_int(a, 1));
    struct ir_expr *last = ir_add(a, loop->from, ir_mul(a, before, loop->step));
    struct affine at = affine_of(a, factor > 0 ? loop->from : last);
    *form = affine_add(a, &rest, factor, &at);
    return !form->failed;
}

// Return the condition that n is a multiple of c where that is what another one
// comes to, ceildiv(n, c) * c <= n; else that one.
static struct ir_expr *as_multiple(struct arena *a, struct facts *f,
                                   struct ir_expr *condition)
{
    const struct ir_expr *quotient = NULL;
    int64_t by;
    ir_foreach_expr(x, condition)
        if (x->op == OP_ceildiv && ir_int_value(x->args[1], &by))
            quotient = x;
    if (!quotient)
        return condition;
    struct ir_expr *multiple =
        is_multiple(a, quotient->args[0], quotient->args[1]);
    return ir_is_true(folded_under(a, f, multiple, condition)) ? multiple
                                                               : condition;
}

// Return the condition on sizes under which another one holds in all iterations
// of the loops of a path, or NULL.
static struct ir_expr *for_all(struct arena *a, struct facts *f,
                               const struct ir_path *path,
                               struct ir_expr *condition)
{
    struct affine form;
    if (!facts_form(a, condition, &form))
        return NULL;
    for (uint32_t i = path->n; i-- > 0;)
        if (path->stmts[i]->kind == STMT_for &&
            !lower_over(a, &path->stmts[i]->u.loop, &form))
            return NULL;
    struct ir_expr *all = fold_condition(a, &form);
    return !ir_is_of_params(all) || !facts_is_total(f, all)
               ? NULL
               : as_multiple(a, f, all);
}

// Append that the conditions which `x` joins leave out no part of what a nest
// copies, or hold always; false if one cannot.
static bool demand_whole(struct arena *a, struct facts *f,
                         const struct ir_path *path, struct ir_expr *x,
                         bool always, struct ir_conditions *out)
{
    struct conditions all = fold_split(a, x);
    for (size_t i = 0; i < all.n; i++) {
        struct ir_expr *c = fold_expr(a, f, all.at[i]);
        if (ir_is_true(c) || (!always && deciding(path, c) == 1))
            continue;
        struct ir_expr *holds = always ? NULL : for_tiles(a, f, path, c);
        holds = holds ? holds : for_all(a, f, path, c);
        if (holds && !ir_is_true(fold_expr(a, f, holds)) &&
            !tma_copy_demand(a, f, holds, out))
            return false;
    }
    return true;
}

const char *bulk_guard(struct arena *a, struct facts *f,
                       const struct ir_path *path, struct ir_conditions *out)
{
    const struct ir_stage *stage = &path->stmts[path->n - 1]->u.stage;
    struct tma_copy copy;
    int64_t number;
    const char *fault = tma_copy_find(stage, &copy);
    if (fault)
        return fault;
    if (stage->predicate &&
        !demand_whole(a, f, path, stage->predicate, false, out))
        return "a condition leaves out a part of a bulk copy at every size";
    if (copy.condition &&
        !demand_whole(a, f, path, ir_stage_over_loops(a, stage, copy.condition),
                      true, out))
        return "it stores zeros at every size";
    for (uint32_t d = copy.far->rank - 1; d-- > 0;) {
        struct ir_expr *stride = tma_copy_stride(a, copy.far, d);
        if (!ir_int_value(stride, &number) &&
            !tma_copy_demand_stride(a, f, stride, type_bytes(copy.far->elem),
                                    out))
            return "rows in global memory are no multiple of 16 bytes apart";
    }
    return NULL;
}
