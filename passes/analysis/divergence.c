// On which axes a value depends.

#include "passes/analysis/divergence.h"

#include "ir/walk.h"

struct divergence divergence_start(struct arena *a, axis_set of_index)
{
    return (struct divergence){
        .axes = {.arena = a}, .of_index = of_index, .any = of_index};
}

// Return the axes of a variable or an array.
static axis_set axes_of(const struct divergence *d, const void *what)
{
    return (axis_set)(uintptr_t)map_get(&d->axes, what);
}

// Let a variable or an array depend on axes, too.
static void spread(struct divergence *d, const void *what, axis_set axes)
{
    axis_set old = axes_of(d, what);
    if ((old | axes) == old)
        return;
    map_set(&d->axes, what, (void *)(uintptr_t)(old | axes));
    d->changed = true;
}

void divergence_seed(struct divergence *d, const struct ir_var *var,
                     axis_set axes)
{
    spread(d, var, axes);
    d->any |= axes;
}

axis_set divergence_of(const struct divergence *d, const struct ir_expr *x)
{
    axis_set axes = 0;
    ir_foreach_expr(e, x) {
        unsigned flags = ir_op_info(e->op)->flags;
        if (e->op == OP_index)
            axes |= d->of_index & 1u << e->u.axis;
        if (e->op == OP_var)
            axes |= axes_of(d, e->u.var);
        if (flags & OP_READS)
            axes |= axes_of(d, e->u.buffer);
        if (flags & (OP_WRITES | OP_TOGETHER))
            axes |= d->any;
    }
    return axes;
}

axis_set divergence_of_array(const struct divergence *d,
                             const struct ir_buffer *buffer)
{
    return axes_of(d, buffer);
}

axis_set divergence_of_control(const struct divergence *d,
                               const struct ir_stmt *s)
{
    if (s->kind == STMT_if)
        return divergence_of(d, s->u.branch.cond);
    if (s->kind == STMT_stage && s->u.stage.predicate)
        return divergence_of(d, s->u.stage.predicate);
    if (s->kind != STMT_for)
        return 0;
    return divergence_of(d, s->u.loop.from) | divergence_of(d, s->u.loop.to) |
           divergence_of(d, s->u.loop.step);
}

// Look at a store to a local array.
static void spread_store(struct divergence *d, const struct ir_stmt *s)
{
    axis_set axes = d->around | divergence_of(d, s->u.store.value);
    for (uint32_t i = 0; i < s->u.store.n; i++)
        axes |= divergence_of(d, s->u.store.index[i]);
    if (space_is_own(s->u.store.buffer->space))
        spread(d, s->u.store.buffer, axes);
}

// Look at what a statement declares or assigns, if it does; `control` is its own.
static void spread_stmt(struct divergence *d, struct ir_stmt *s,
                        axis_set control)
{
    switch ((int)s->kind) {
    case STMT_for:
        spread(d, s->u.loop.var,
               control | (d->of_index & 1u << s->u.loop.axis));
        break;
    case STMT_let:
        spread(d, s->u.let.var, divergence_of(d, s->u.let.value));
        break;
    case STMT_var:
    case STMT_assign:
        spread(d, s->u.let.var, d->around | divergence_of(d, s->u.let.value));
        break;
    case STMT_store: spread_store(d, s); break;
    case STMT_stage:
        for (size_t i = 0; i < s->u.stage.iters.n; i++)
            spread(d, s->u.stage.iters.at[i].var,
                   divergence_of(d, s->u.stage.iters.at[i].binding));
        break;
    }
}

// Walk a block once.
static void walk(struct divergence *d, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        axis_set outer = d->around;
        axis_set control = divergence_of_control(d, s);
        spread_stmt(d, s, control);
        d->around |= control;
        ir_foreach_block(inner, s)
            walk(d, inner);
        d->around = outer;
    }
}

void divergence_find(struct divergence *d, struct ir_block *block)
{
    do {
        d->changed = false;
        walk(d, block);
    } while (d->changed);
}
