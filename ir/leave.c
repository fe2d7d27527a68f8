// Loops that end before their last iteration: no statement says so, so every
// pass may treat them as any other.  The interpreter and the emitter leave
// them, and who counts iterations knows that there may be fewer.

#include "ir/leave.h"

#include "ir/walk.h"

// A look at what a condition depends on.
struct look {
    const struct ir_for *loop;
    size_t variables; // that may change
    bool varies;      // between iterations, whatever the branch does
};

// Note what a node of the condition depends on.
static void see_operand(struct ir_expr *x, void *context)
{
    struct look *l = context;
    const struct ir_block *body = &l->loop->body;
    const unsigned effects = OP_READS | OP_WRITES | OP_TOGETHER;
    l->varies |= (ir_op_info(x->op)->flags & effects) != 0;
    if (x->op != OP_var)
        return;
    l->variables += x->u.var->kind == VAR_mutable;
    l->varies |= x->u.var == l->loop->var;
    for (size_t i = 0; i + 1 < body->n; i++)
        l->varies |= body->at[i]->u.let.var == x->u.var;
}

// Note an operation that more than its operands decide.
static void see_effect(struct ir_expr *x, void *context)
{
    const unsigned effects = OP_READS | OP_WRITES | OP_TOGETHER;
    *(bool *)context |= (ir_op_info(x->op)->flags & effects) != 0;
}

// Return whether all statements of a block but the last name values that cost
// nothing to leave out.
static bool begins_with_lets(const struct ir_block *body)
{
    bool has_effects = false;
    for (size_t i = 0; i + 1 < body->n && !has_effects; i++) {
        if (body->at[i]->kind != STMT_let)
            return false;
        ir_each_expr(body->at[i]->u.let.value, see_effect, &has_effects);
    }
    return !has_effects;
}

struct ir_stmt *ir_loop_leaves(const struct ir_for *loop)
{
    const struct ir_block *body = &loop->body;
    enum axis_kind kind = axis_kind(loop->axis);
    struct look l = {loop, 0, false};
    if ((kind != AXIS_SERIAL && kind != AXIS_UNROLL) || !body->n)
        return NULL;
    struct ir_stmt *s = body->at[body->n - 1];
    if (s->kind != STMT_if || s->u.branch.otherwise.n ||
        !begins_with_lets(body))
        return NULL;
    ir_each_expr(s->u.branch.cond, see_operand, &l);
    return l.variables && !l.varies ? s : NULL;
}
