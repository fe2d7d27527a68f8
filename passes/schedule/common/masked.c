// Loops whose last iterations a mask leaves nothing.
//
//   for i_0 { for j_0 in 0..n {
//     for i_1 in 0..64 { for j_1 in 0..32 {
//       M[i] = max(M[i], j <= i ? X[i, j] : -inf)      i = i_0 * 64 + i_1, j = j_0 * 32 + j_1
//     } } } }
//
// The greatest i of an iteration of i_0 is i_0 * 64 + 63, the least j of one of j_0 is
// j_0 * 32: where that is greater, which is from max(i_0 * 64 + 63 + 32, 0) / 32 on, no
// element counts.

#include "passes/schedule/common/masked.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

#include <math.h>

// Return a comparison as a sum that is at least 0 where it holds; it has failed if it is
// none of indices.
static struct affine room_of(struct arena *a, const struct ir_expr *x)
{
    bool is_less = x->op == OP_le || x->op == OP_lt;
    struct affine none = {.failed = true};
    if ((!is_less && x->op != OP_ge && x->op != OP_gt) ||
        !type_is_index(x->args[0]->type))
        return none;
    struct affine low = affine_of(a, x->args[!is_less]);
    struct affine high = affine_of(a, x->args[is_less]);
    struct affine room = affine_add(a, &high, -1, &low);
    affine_offset(&room, x->op == OP_lt || x->op == OP_gt ? -1 : 0);
    return room;
}

// Replace the variable of a loop in a sum so that it is greatest; false if it is not
// linear in it.
static bool maximise(struct arena *a, struct affine *room,
                     const struct ir_for *loop)
{
    int64_t factor;
    struct affine rest;
    if (!affine_linear(a, room, loop->var, &factor, &rest))
        return false;
    *room = rest;
    if (factor <= 0)
        return factor == 0 || ir_for_counts(loop);
    struct affine last = affine_of(a, loop->to);
    affine_offset(&last, -1);
    *room = affine_add(a, room, factor, &last);
    return ir_for_counts(loop);
}

// Return where a comparison has no chance any more, or NULL.
static struct ir_expr *end_of(struct pass *p, struct ir_stmt *loop,
                              struct ir_stmt *stage, struct ir_expr *x)
{
    struct arena *a = p->arena;
    struct affine rest,
        room = room_of(a, ir_stage_over_loops(a, &stage->u.stage, x));
    struct ir_block loops = sched_loops(p, stage);
    bool is_inside = true;
    int64_t factor;
    for (size_t i = loops.n; !room.failed && i-- > 0;) {
        struct ir_stmt *s = loops.at[i];
        is_inside &= s != loop;
        if ((is_inside || (s != loop && ir_runs_together(s))) &&
            !maximise(a, &room, &s->u.loop))
            return NULL;
    }
    if (room.failed ||
        !affine_linear(a, &room, loop->u.loop.var, &factor, &rest) ||
        factor >= 0)
        return NULL;
    affine_offset(&rest, -factor);
    struct ir_expr *all = affine_expr(a, &rest, type_scalar(TYPE_int));
    struct facts facts = facts_around(p->scratch, p->kernel, loop);
    return fold_expr(a, &facts,
                     ir_binary(a, OP_div,
                               ir_binary(a, OP_max, all, ir_int(a, 0)),
                               ir_int(a, -factor)));
}

// Return where a condition has no chance any more, or NULL.
static struct ir_expr *end_of_all(struct pass *p, struct ir_stmt *loop,
                                  struct ir_stmt *stage, struct ir_expr *x)
{
    if (x->op != OP_and)
        return end_of(p, loop, stage, x);
    struct ir_expr *left = end_of_all(p, loop, stage, x->args[0]);
    struct ir_expr *right = end_of_all(p, loop, stage, x->args[1]);
    if (!left || !right)
        return left ? left : right;
    return ir_binary(p->arena, OP_min, left, right);
}

struct ir_expr *sched_masked_end(struct pass *p, struct ir_stmt *loop,
                                 struct ir_stmt *stage,
                                 const struct ir_expr *element)
{
    const struct ir_expr *other =
        element->op == OP_select ? element->args[2] : NULL;
    if (!other || other->op != OP_const || !type_is_float(other->type) ||
        other->u.f != -INFINITY || !ir_for_counts(&loop->u.loop))
        return NULL;
    return end_of_all(p, loop, stage, element->args[0]);
}
