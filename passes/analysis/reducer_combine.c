// Partial results of a reduction: computed in other places, and combined.

#include "passes/analysis/reducer_parts.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

struct ir_expr *reducer_read(struct arena *a, const struct reducer_place *at)
{
    return at->var ? ir_read(a, at->var)
                   : ir_load(a, at->buffer, at->n, at->index);
}

struct ir_stmt *reducer_write(struct arena *a, const struct reducer_place *at,
                              struct ir_expr *value)
{
    return at->var ? ir_stmt_assign(a, at->var, value)
                   : ir_stmt_store(a, at->buffer, at->n, at->index, value);
}

// A move of values to other places: the context of move_load.
struct move {
    struct arena *arena;
    const struct reducer *reducer;
    const struct reducer_place *places;
};

// Return where the value of an array lives, or NULL.
static const struct reducer_place *place_of(const struct move *m,
                                            const struct ir_buffer *buffer)
{
    for (size_t i = 0; i < m->reducer->n; i++)
        if (m->reducer->values[i].store->u.store.buffer == buffer)
            return &m->places[i];
    return NULL;
}

// Read the place where the element is loaded.
static struct ir_expr *move_load(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    const struct reducer_place *at =
        x->op == OP_load ? place_of(context, x->u.buffer) : NULL;
    return at ? ir_at(a, reducer_read(a, at), x->span) : x;
}

// Write to the place where the element is stored.
static void move_store(const struct move *m, struct ir_stmt *s)
{
    const struct reducer_place *at =
        s->kind == STMT_store ? place_of(m, s->u.store.buffer) : NULL;
    const struct ir_stmt was = *s;
    if (!at)
        return;
    *s = *reducer_write(m->arena, at, s->u.store.value);
    ir_stmt_from(s, &was);
}

void reducer_move(struct pass *p, const struct reducer *r,
                  const struct reducer_place *places, struct ir_block *block)
{
    struct move m = {p->arena, r, places};
    ir_rewrite_in(p->arena, block, move_load, &m);
    ir_foreach_stmt(s, block)
        move_store(&m, s);
}

struct ir_expr *reducer_operand(const struct reducer *r, size_t value)
{
    const struct reducer_value *v = &r->values[value];
    switch (r->kind) {
    case REDUCER_operation: return v->store->u.store.value->args[v->operand];
    case REDUCER_declared: return r->block->at[v->operand]->u.let.value;
    case REDUCER_position: return v->store->u.store.value;
    }
    return NULL;
}

// Return a copy of a body with another operand of each value.
static struct ir_block with_operands(struct pass *p, const struct reducer *r,
                                     struct ir_expr *const *right,
                                     const struct map *vars)
{
    struct ir_block block = ir_copy_block(p->arena, r->block, vars, NULL);
    for (size_t i = 0; i < r->n && r->kind == REDUCER_declared; i++)
        block.at[r->values[i].operand]->u.let.value = right[i];
    if (r->kind != REDUCER_operation)
        return block;
    struct ir_stmt *s = block.at[0];
    struct ir_expr *args[2] = {s->u.store.value->args[0],
                               s->u.store.value->args[1]};
    args[r->values[0].operand] = right[0];
    s->u.store.value = ir_with_args(p->arena, s->u.store.value, args);
    return block;
}

// Let an operation that may not evaluate its second operand have what is
// combined as its first, so that loads need not wait for one another.
static void evaluate_operand(struct arena *a, struct ir_stmt *s)
{
    if (s->kind != STMT_store)
        return;
    struct ir_expr *x = s->u.store.value;
    if (!(ir_op_info(x->op)->flags & OP_LAZY) || x->n != 2 ||
        !reducer_loads_own(s, x->args[0]))
        return;
    struct ir_expr *args[2] = {x->args[1], x->args[0]};
    s->u.store.value = ir_with_args(a, x, args);
}

struct ir_block reducer_body(struct pass *p, const struct reducer *r,
                             const struct reducer_place *places,
                             const struct map *vars)
{
    struct ir_block block =
        ir_copy_block(p->arena, &r->stage->body, vars, NULL);
    if (r->kind == REDUCER_operation)
        ir_foreach_stmt(s, &block)
            evaluate_operand(p->arena, s);
    reducer_move(p, r, places, &block);
    return block;
}

// Name a value.
static struct ir_var *name_value(struct pass *p, struct ir_block *block,
                                 const char *name, struct ir_expr *value,
                                 struct span span)
{
    struct ir_var *var = ir_var_new(p->arena, str_name(p->names, name),
                                    value->type, VAR_let, span);
    struct ir_stmt *s = ir_stmt_let(p->arena, var, value);
    s->span = span;
    ir_append(p->arena, block, s);
    return var;
}

// Return what a position is of: the compared expression at that position.
static struct ir_expr *at_position(struct pass *p, const struct reducer *r,
                                   struct ir_expr *position,
                                   const struct map *vars)
{
    struct arena *a = p->arena;
    struct ir_expr *x = r->block->at[0]->u.branch.cond->args[0];
    struct ir_expr *at = reducer_position(r->values[0].store->u.store.value);
    return ir_substitute(a, reducer_at(a, x, at, position), vars, NULL);
}

// Take another position if what it is of is more extreme, or as extreme and
// the position comes first.  Equal positions, which those of no elements are,
// are not looked at.
static struct ir_block combine_positions(struct pass *p,
                                         const struct reducer *r,
                                         const struct reducer_place *place,
                                         struct ir_expr *right,
                                         const struct map *vars)
{
    struct arena *a = p->arena;
    struct ir_block out = {0};
    const struct ir_stmt *own = r->block->at[0];
    struct ir_var *mine =
        name_value(p, &out, "mine", reducer_read(a, place), own->span);
    struct ir_var *other = name_value(p, &out, "other", right, own->span);
    struct ir_expr *x = ir_read(a, mine), *y = ir_read(a, other);
    struct ir_stmt *outer = ir_stmt_if(a, ir_binary(a, OP_ne, x, y));
    struct ir_block *then = &outer->u.branch.then;
    struct ir_var *best =
        name_value(p, then, "most", at_position(p, r, x, vars), own->span);
    struct ir_var *next =
        name_value(p, then, "next", at_position(p, r, y, vars), own->span);
    struct ir_expr *was = ir_read(a, best), *is = ir_read(a, next);
    struct ir_expr *first = ir_binary(a, OP_and, ir_binary(a, OP_eq, is, was),
                                      ir_binary(a, OP_lt, y, x));
    struct ir_stmt *inner = ir_stmt_if(
        a, ir_binary(a, OP_or, ir_binary(a, own->u.branch.cond->op, is, was),
                     first));
    ir_append(a, &inner->u.branch.then, reducer_write(a, place, y));
    ir_append(a, then, inner);
    ir_append(a, &out, outer);
    return out;
}

struct ir_block reducer_combine(struct pass *p, const struct reducer *r,
                                const struct reducer_place *places,
                                struct ir_expr *const *right,
                                const struct map *vars)
{
    if (r->kind == REDUCER_position)
        return combine_positions(p, r, places, right[0], vars);
    struct ir_block block = with_operands(p, r, right, vars);
    reducer_move(p, r, places, &block);
    return block;
}
