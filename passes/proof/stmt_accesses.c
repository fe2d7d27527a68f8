// The accesses of one statement: loads, stores, atomics, operands of
// instructions on matrices, copies by TMA.

#include "passes/proof/stmt_accesses.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

#include <string.h>

// Add an access of `n` indices.
static struct access *add(struct stmt_accesses *t, struct ir_buffer *b,
                          uint32_t n, struct ir_expr *const *index,
                          struct span span)
{
    struct access *x = arena_new(t->arena, struct access);
    *x = (struct access){.stmt = t->stmt,
                         .span = span.source ? span : t->stmt->span,
                         .buffer = b,
                         .scope = t->scope};
    x->index = arena_array(t->arena, struct ir_expr *, b->rank + 1);
    x->count = arena_array(t->arena, uint32_t, b->rank + 1);
    for (uint32_t d = 0; d < n && d < b->rank; d++) {
        struct ir_expr *i = ir_substitute(t->arena, index[d], t->values, NULL);
        bool is_ramp = i->op == OP_ramp;
        bool is_open = !is_ramp && i->type.lanes > 1;
        x->index[d] = is_ramp ? i->args[0] : i;
        x->count[d] = is_open ? 0 : i->type.lanes;
    }
    vec_push(t->arena, t->out, x);
    return x;
}

// ---- Expressions ----------------------------------------------------------

// Return the scope of what happens only if a condition holds, or does not.
static const struct scope *under(struct stmt_accesses *t,
                                 struct ir_expr *condition, bool holds)
{
    struct scope *s = arena_new(t->arena, struct scope);
    s->up = t->scope;
    s->condition = ir_substitute(t->arena, condition, t->values, NULL);
    s->holds = holds;
    return s;
}

// Return the scope of an operand that another decides on.
static const struct scope *inside(struct stmt_accesses *t,
                                  const struct ir_expr *x, uint32_t operand)
{
    bool holds = x->op == OP_select ? operand == 1 : x->op == OP_and;
    return under(t, x->args[0], holds);
}

// Find the accesses of an expression.
static void add_expr(struct stmt_accesses *t, struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct scope *outside = t->scope;
        if (info->flags & OP_LAZY && i > 0)
            t->scope = inside(t, x, i);
        add_expr(t, x->args[i]);
        t->scope = outside;
    }
    if (!ir_access_flags(x))
        return;
    struct access *a = add(t, x->u.buffer, x->u.buffer->rank, x->args, x->span);
    a->reads = true;
    a->writes = a->is_atomic = info->flags & OP_WRITES ? true : false;
    a->is_mbarrier = info->flags & OP_SYNCHRONISES ? true : false;
    a->is_arrival = x->op == OP_mbarrier_arrive_copied;
    a->atomic_scope = (enum ir_scope)x->scope;
}

// ---- What a statement itself accesses ---------------------------------------

// Say how many elements from an access on belong to it that lie one behind the
// other: of dimensions that it spans whole all, of the one before them some;
// anything if they lie otherwise.
static void spread(struct access *x, int64_t elements)
{
    const struct ir_buffer *b = x->buffer;
    int64_t behind = 1, extent;
    uint32_t d = b->rank;
    while (d > 0 && behind < elements && x->count[d - 1] == 1 &&
           ir_int_value(b->shape[d - 1], &extent) &&
           behind * extent <= elements && ir_is_int_const(x->index[d - 1], 0)) {
        behind *= extent;
        x->count[--d] = (uint32_t)extent;
    }
    if (elements == behind)
        return;
    if (d > 0 && elements % behind == 0 && x->count[d - 1] == 1)
        x->count[d - 1] = (uint32_t)(elements / behind);
    else
        memset(x->count, 0, b->rank * sizeof *x->count);
}

// Note an access of the statement itself.
static void note_own(struct stmt_accesses *t, const struct ir_access *own)
{
    const struct scope *outside = t->scope;
    struct span span = own->expr ? own->expr->span : own->span;
    if (own->where)
        t->scope = under(t, own->where, true);
    struct access *x = add(t, own->buffer, own->n, own->index, span);
    t->scope = outside;
    x->reads = own->flags & ACCESS_reads ? true : false;
    x->writes = own->flags & ACCESS_writes ? true : false;
    x->is_atomic = own->flags & ACCESS_atomic ? true : false;
    x->is_proxy = own->flags & ACCESS_proxy ? true : false;
    x->is_product = x->is_proxy && own->expr;
    x->is_beyond = own->flags & ACCESS_clipped ? true : false;
    x->is_async = own->flags & ACCESS_async ? true : false;
    if (!own->extent)
        spread(x, own->run);
    for (uint32_t d = 0; own->extent && d < own->n; d++) {
        if (x->count[d] && own->extent[d] > 1)
            x->count[d] = own->extent[d];
    }
}

void stmt_accesses_find(struct stmt_accesses *t, struct ir_stmt *s)
{
    struct ir_access own[IR_ACCESSES_MOST];
    uint32_t n = ir_accesses(s, own);
    t->stmt = s;
    ir_foreach_place(place, s)
        add_expr(t, *place);
    for (uint32_t i = 0; i < n; i++)
        note_own(t, &own[i]);
}
