// The accesses of one statement: loads, stores, atomics, operands of
// instructions on matrices, copies by TMA.

#include "passes/proof/touch.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/matrix.h"
#include "ir/walk.h"

#include <string.h>

// Add an access of `n` indices.
static struct access *add(struct touch *t, struct ir_buffer *b, uint32_t n,
                          struct ir_expr *const *index, struct span span)
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

// Enter the scope of an operand that another decides on.
static const struct scope *inside(struct touch *t, const struct ir_expr *x,
                                  uint32_t operand)
{
    struct scope *s = arena_new(t->arena, struct scope);
    s->up = t->scope;
    s->condition = ir_substitute(t->arena, x->args[0], t->values, NULL);
    s->holds = x->op == OP_select ? operand == 1 : x->op == OP_and;
    return s;
}

// Find the accesses of an expression.
static void see_expr(struct touch *t, struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct scope *outside = t->scope;
        if (info->flags & OP_LAZY && i > 0)
            t->scope = inside(t, x, i);
        see_expr(t, x->args[i]);
        t->scope = outside;
    }
    if (!(info->flags & (OP_READS | OP_WRITES)) || x->op == OP_place)
        return;
    struct access *a = add(t, x->u.buffer, x->u.buffer->rank, x->args, x->span);
    a->reads = true;
    a->writes = a->is_atomic = info->flags & OP_WRITES ? true : false;
    a->is_mbarrier = info->flags & OP_SYNCHRONISES ? true : false;
    a->is_arrival = x->op == OP_mbarrier_arrive_copied;
    a->atomic_scope = (enum ir_scope)x->scope;
}

// Find the accesses of the expression at a place.
static void see_place(struct ir_expr **place, void *context)
{
    see_expr(context, *place);
}

// ---- Matrices -------------------------------------------------------------

// Note the elements of an operand of an instruction on matrices.
static void note_tile(struct touch *t, const struct ir_stmt *s, int which)
{
    const struct ir_tile *tile = &s->u.matrix.tiles[which];
    enum matrix_kind kind = matrix_info(s->u.matrix.op).kind;
    if (!tile->at)
        return;
    struct ir_buffer *b = tile->at->u.buffer;
    struct access *x = add(t, b, b->rank, tile->at->args, tile->at->span);
    bool is_result =
        kind == MATRIX_STORE ? which != MATRIX_D : which == MATRIX_D;
    bool is_far = b->space == SPACE_shared || b->space == SPACE_global;
    if (kind == MATRIX_STORE)
        is_result = is_far;
    x->writes = is_result;
    x->reads = !is_result || kind == MATRIX_MMA || kind == MATRIX_WGMMA;
    x->is_proxy = x->is_product = is_far && kind == MATRIX_WGMMA;
    for (uint32_t d = 0; d < b->rank && d < IR_TILE_RANK; d++) {
        if (x->count[d] && tile->extent[d] > 1)
            x->count[d] = tile->extent[d];
    }
}

// ---- Copies by TMA --------------------------------------------------------

// Say how many elements from an access on are touched that lie one behind the
// other: of dimensions that are touched whole all, of the one before them some;
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

// Note both sides of a copy, and the mbarrier that its bytes count on.
static void note_copy(struct touch *t, const struct ir_stmt *s)
{
    const struct ir_tensor_copy *copy = &s->u.copy;
    bool is_load = ir_copy_is_load(s);
    struct ir_buffer *far = ir_copy_far(copy);
    struct access *x = add(t, far, copy->n_at, copy->at, s->span);
    x->reads = is_load;
    x->writes = !is_load;
    x->is_proxy = true;
    x->is_beyond = copy->map != NULL;
    for (uint32_t d = 0; copy->map && d < far->rank; d++)
        x->count[d] = x->count[d] ? copy->map->box[d] : 0;
    if (!copy->map)
        spread(x, ir_copy_elements(copy));
    x = add(t, copy->buffer, copy->n, copy->index, s->span);
    x->reads = !is_load;
    x->writes = is_load;
    x->is_proxy = true;
    spread(x, ir_copy_elements(copy));
    if (!copy->barrier)
        return;
    x = add(t, copy->barrier, copy->n_barrier, copy->barrier_index, s->span);
    x->reads = x->writes = x->is_atomic = true;
}

void touch_find(struct touch *t, struct ir_stmt *s)
{
    t->stmt = s;
    ir_stmt_exprs(s, see_place, t);
    for (int i = 0; s->kind == STMT_matrix && i < MATRIX_OPERANDS; i++)
        note_tile(t, s, i);
    if (ir_is_tensor_copy(s))
        note_copy(t, s);
    if (s->kind != STMT_store)
        return;
    for (size_t i = 0; i < t->out->n; i++)
        t->out->at[i]->is_async = s->u.store.is_async;
    struct access *x =
        add(t, s->u.store.buffer, s->u.store.n, s->u.store.index, s->span);
    x->writes = true;
    x->is_async = s->u.store.is_async;
}
