// Loops that end before their last iteration: no statement says so, so every
// pass may treat them as any other.  The interpreter and the emitter leave
// them, and who counts iterations knows that there may be fewer.

#include "ir/leave.h"

#include "ir/walk.h"

// What more than the operands of an operation decides.
enum { EFFECTS = OP_READS | OP_WRITES | OP_TOGETHER };

// Return whether a variable differs between iterations whatever the branch at
// the end of a loop does.
static bool varies(const struct ir_for *loop, const struct ir_var *var)
{
    const struct ir_block *body = &loop->body;
    for (size_t i = 0; i + 1 < body->n; i++)
        if (body->at[i]->u.let.var == var)
            return true;
    return loop->var == var;
}

// Return whether a condition says the same again unless the branch of it, at
// the end of a loop, sets a variable.
static bool is_settled(const struct ir_for *loop, const struct ir_expr *cond)
{
    bool any = false;
    ir_foreach_expr(x, cond) {
        if (x->op == OP_var && varies(loop, x->u.var))
            return false;
        any |= x->op == OP_var && x->u.var->kind == VAR_mutable;
    }
    return any && !(ir_flags(cond) & EFFECTS);
}

// Return whether all statements of a block but the last name values that cost
// nothing to leave out.
static bool begins_with_lets(const struct ir_block *body)
{
    for (size_t i = 0; i + 1 < body->n; i++)
        if (body->at[i]->kind != STMT_let ||
            ir_flags(body->at[i]->u.let.value) & EFFECTS)
            return false;
    return true;
}

struct ir_stmt *ir_loop_leaves(const struct ir_for *loop)
{
    const struct ir_block *body = &loop->body;
    enum axis_kind kind = axis_kind(loop->axis);
    if ((kind != AXIS_SERIAL && kind != AXIS_UNROLL) || !body->n)
        return NULL;
    struct ir_stmt *s = body->at[body->n - 1];
    bool leaves = s->kind == STMT_if && !s->u.branch.otherwise.n &&
                  begins_with_lets(body) && is_settled(loop, s->u.branch.cond);
    return leaves ? s : NULL;
}
