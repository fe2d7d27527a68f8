// The rank of a block in its cluster, recognised by its terms.

#include "ir/cluster_rank.h"

#include "ir/build.h"

// How often an expression counts the position of the block on each axis.
struct terms {
    const struct ir_launch *launch;
    int64_t of[3];
};

// Add `times` the position that a remainder is; false if it is none.
static bool add_position(struct terms *t, const struct ir_expr *x,
                         int64_t times)
{
    const struct ir_expr *index = x->args[0];
    while (index->op == OP_cast)
        index = index->args[0];
    if (index->op != OP_index || axis_kind(index->u.axis) != AXIS_BLOCK)
        return false;
    int d = axis_dimension(index->u.axis);
    t->of[d] += times;
    return ir_is_int_const(x->args[1], t->launch->cluster[d]);
}

// Add `times` an expression; false if something else is in it.
static bool add_terms(struct terms *t, const struct ir_expr *x, int64_t times)
{
    int64_t n;
    switch ((int)x->op) {
    case OP_cast: return add_terms(t, x->args[0], times);
    case OP_add:
        return add_terms(t, x->args[0], times) &&
               add_terms(t, x->args[1], times);
    case OP_mul:
        return ir_int_value(x->args[1], &n) &&
               add_terms(t, x->args[0], times * n);
    case OP_mod: return add_position(t, x, times);
    default: return ir_is_int_const(x, 0);
    }
}

bool ir_is_own_rank(const struct ir_launch *launch, const struct ir_expr *x)
{
    struct terms t = {.launch = launch};
    int64_t stride = 1;
    if (!add_terms(&t, x, 1))
        return false;
    for (int d = 0; d < 3; d++) {
        if (t.of[d] != (launch->cluster[d] > 1 ? stride : 0))
            return false;
        stride *= launch->cluster[d];
    }
    return true;
}
