// What the index of an access depends on.

#include "passes/analysis/access_depends.h"

#include "passes/analysis/lane_value.h"

enum { COUNT_MOST = 1024 };

const struct access_counter *access_find_counter(const struct access_place *p,
                                                 const struct ir_var *var)
{
    for (size_t i = 0; i < p->counters.n; i++)
        if (p->counters.at[i].var == var)
            return &p->counters.at[i];
    return NULL;
}

unsigned access_var_depends(const struct access_place *p,
                            const struct ir_var *var)
{
    const struct access_counter *counter = access_find_counter(p, var);
    if (counter)
        return counter->most && counter->most <= COUNT_MOST ? ON_COUNTERS
                                                            : ON_OPEN;
    return var->kind == VAR_param ? ON_OPEN : ON_DATA;
}

unsigned access_depends(const struct access_place *p, const struct ir_expr *x)
{
    unsigned on = ir_op_info(x->op)->flags & OP_PURE ? 0 : ON_DATA;
    if (x->op == OP_var)
        on |= access_var_depends(p, x->u.var);
    if (x->op == OP_index)
        on |= axis_kind(x->u.axis) == AXIS_THREAD ? ON_THREADS : ON_OPEN;
    for (uint32_t i = 0; i < x->n; i++)
        on |= access_depends(p, x->args[i]);
    return on;
}

// Return whether an expression over positions is the same in all lanes of each
// warp.
static bool agrees(const struct access_place *p, const struct ir_expr *x)
{
    struct lane_place here = {.vars = {0}};
    int64_t first = 0, value;
    for (uint32_t i = 0; i < lane_threads(p->launch); i++) {
        lane_go_to(&here, p->launch, i);
        if (!lane_value(&here, x, &value))
            return false;
        first = i % WARP_LANES ? first : value;
        if (value != first)
            return false;
    }
    return true;
}

bool access_is_uniform(const struct access_place *p, const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (!divergence_of(&p->divergence, x))
        return true;
    if (access_depends(p, x) == ON_THREADS)
        return agrees(p, x);
    bool is_own = (flags & OP_READS) && space_is_own(x->u.buffer->space);
    if (x->n == 0 || is_own || (flags & (OP_WRITES | OP_TOGETHER)))
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!access_is_uniform(p, x->args[i]))
            return false;
    return true;
}
