// What an expression is in one thread.

#include "passes/analysis/lane_value.h"

#include "ir/arith.h"

uint32_t lane_threads(const struct ir_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

void lane_go_to(struct lane_place *p, const struct ir_launch *launch,
                uint32_t i)
{
    p->thread[0] = i % launch->block[0];
    p->thread[1] = i / launch->block[0] % launch->block[1];
    p->thread[2] = i / launch->block[0] / launch->block[1];
}

// Return the position on an axis.
static int64_t position(const struct lane_place *p, enum axis axis)
{
    int d = axis_dimension(axis);
    if (axis == AXIS_warpgroup)
        return p->thread[0] / 128;
    if (axis == AXIS_warp)
        return p->thread[0] / 32;
    if (axis == AXIS_lane)
        return p->thread[0] % 32;
    return axis_kind(axis) == AXIS_BLOCK ? p->block[d] : p->thread[d];
}

// Find the value of a variable.
static bool value_of_var(const struct lane_place *p, const struct ir_var *var,
                         int64_t *out)
{
    for (size_t i = p->vars.n; i-- > 0;) {
        if (p->vars.at[i].var == var) {
            *out = p->vars.at[i].value;
            return true;
        }
    }
    return false;
}

// Compute `&&`, `||` or `?`, whose first operand decides which one counts.
static bool lazy_value(const struct lane_place *p, const struct ir_expr *x,
                       int64_t *out)
{
    int64_t first;
    if (!lane_value(p, x->args[0], &first))
        return false;
    if (x->op == OP_select)
        return lane_value(p, x->args[first ? 1 : 2], out);
    if ((x->op == OP_and) != (first != 0)) {
        *out = first;
        return true;
    }
    return lane_value(p, x->args[1], out);
}

// Compute an operation on integers.
static bool apply(const struct lane_place *p, const struct ir_expr *x,
                  int64_t *out)
{
    union number args[3] = {{0}, {0}, {0}};
    const char *fault = NULL;
    struct type t = x->args[0]->type;
    if (x->n > 3 || (x->op != OP_cast && !ir_arith(x->op)->on_int))
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!lane_value(p, x->args[i], &args[i].i))
            return false;
    *out = x->op == OP_cast ? ir_convert(x->type, t, args[0], &fault).i
                            : ir_apply(x->op, t, args, &fault).i;
    return !fault;
}

bool lane_value(const struct lane_place *p, const struct ir_expr *x,
                int64_t *out)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->type.lanes != 1 || type_is_float(x->type) || !(flags & OP_PURE))
        return false;
    if (x->op == OP_const || x->op == OP_index) {
        *out = x->op == OP_const ? x->u.i : position(p, x->u.axis);
        return true;
    }
    if (x->op == OP_var)
        return value_of_var(p, x->u.var, out);
    if (flags & OP_LAZY)
        return lazy_value(p, x, out);
    return x->n > 0 && apply(p, x, out);
}
