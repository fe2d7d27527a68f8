// Makes nodes.  Every expression passes through `node`; what needs no node
// is decided in ir/fold.c before.

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/type.h"

#include <math.h>
#include <string.h>

// Make an expression; the operands are copied.
static struct ir_expr *node(struct arena *a, enum ir_op op, struct type type,
                            uint32_t n, struct ir_expr *const *args)
{
    struct ir_expr *x = arena_new(a, struct ir_expr);
    x->op = op;
    x->type = type;
    x->n = n;
    if (n)
        x->args = arena_array(a, struct ir_expr *, n);
    for (uint32_t i = 0; i < n; i++) {
        x->args[i] = args[i];
        if (!x->span.source)
            x->span = args[i]->span;
    }
    return x;
}

// Return a scalar, or the vector of a type with this scalar in every lane.
static struct ir_expr *spread(struct arena *a, struct type type,
                              struct ir_expr *x)
{
    return type.lanes > 1 ? ir_broadcast(a, x, type.lanes) : x;
}

struct ir_var *ir_var_new(struct arena *a, const char *name, struct type type,
                          enum var_kind kind, struct span span)
{
    struct ir_var *var = arena_new(a, struct ir_var);
    *var = (struct ir_var){name, type, kind, span};
    return var;
}

struct ir_buffer *ir_buffer_new(struct arena *a, const char *name,
                                struct type elem, uint32_t rank,
                                struct ir_expr **shape)
{
    struct ir_buffer *b = arena_new(a, struct ir_buffer);
    b->name = name;
    b->elem = elem;
    b->rank = rank;
    b->shape = shape;
    b->space = SPACE_global;
    b->role = ROLE_alloc;
    return b;
}

struct ir_expr *ir_const_int(struct arena *a, struct type type, int64_t value)
{
    struct ir_expr *x =
        node(a, OP_const, type_scalar((enum type_kind)type.kind), 0, NULL);
    x->u.i = ir_wrap_int(type, value);
    return spread(a, type, x);
}

struct ir_expr *ir_const_float(struct arena *a, struct type type, double value)
{
    struct ir_expr *x =
        node(a, OP_const, type_scalar((enum type_kind)type.kind), 0, NULL);
    x->u.f = isnan(value) ? NAN : ir_round_float(type, value);
    return spread(a, type, x);
}

struct ir_expr *ir_int(struct arena *a, int64_t value)
{
    return ir_const_int(a, type_scalar(TYPE_int), value);
}

struct ir_expr *ir_bool(struct arena *a, bool value)
{
    return ir_const_int(a, type_scalar(TYPE_bool), value);
}

struct ir_expr *ir_zero(struct arena *a, struct type type)
{
    return type_is_float(type) ? ir_const_float(a, type, 0)
                               : ir_const_int(a, type, 0);
}

struct ir_expr *ir_read(struct arena *a, struct ir_var *var)
{
    struct ir_expr *x = node(a, OP_var, var->type, 0, NULL);
    x->u.var = var;
    return x;
}

struct ir_expr *ir_index_value(struct arena *a, enum axis axis)
{
    struct ir_expr *x = node(a, OP_index, type_scalar(TYPE_int), 0, NULL);
    x->u.axis = axis;
    return x;
}

struct ir_expr *ir_load(struct arena *a, struct ir_buffer *buffer, uint32_t n,
                        struct ir_expr *const *index)
{
    unsigned lanes = 1;
    for (uint32_t i = 0; i < n; i++)
        if (index[i]->type.lanes > lanes)
            lanes = index[i]->type.lanes;
    struct ir_expr *x =
        node(a, OP_load, type_vector(buffer->elem, lanes), n, index);
    x->u.buffer = buffer;
    return x;
}

struct ir_expr *ir_unary(struct arena *a, enum ir_op op, struct ir_expr *x)
{
    return ir_call(a, op, 1, &x);
}

struct ir_expr *ir_binary(struct arena *a, enum ir_op op, struct ir_expr *x,
                          struct ir_expr *y)
{
    return ir_call(a, op, 2, (struct ir_expr *[]){x, y});
}

struct ir_expr *ir_select(struct arena *a, struct ir_expr *c, struct ir_expr *x,
                          struct ir_expr *y)
{
    return ir_call(a, OP_select, 3, (struct ir_expr *[]){c, x, y});
}

struct ir_expr *ir_call(struct arena *a, enum ir_op op, uint32_t n,
                        struct ir_expr *const *args)
{
    if (op == OP_lanes)
        return ir_lanes(a, n, args);
    struct ir_expr *folded = ir_fold(a, op, n, args);
    if (folded)
        return folded;
    struct type type = args[ir_result_operand(op, n)]->type;
    return node(a, op, ir_result_of(op, type), n, args);
}

struct ir_expr *ir_cast(struct arena *a, struct type type, struct ir_expr *x)
{
    type.lanes = x->type.lanes;
    struct ir_expr *folded = ir_fold_cast(a, type, x);
    return folded ? folded : node(a, OP_cast, type, 1, &x);
}

struct ir_expr *ir_atomic(struct arena *a, enum ir_op op,
                          struct ir_buffer *buffer, uint32_t n_index,
                          struct ir_expr *const *index, uint32_t n_operands,
                          struct ir_expr *const *operands)
{
    uint32_t n = n_index + n_operands;
    struct ir_expr **args = arena_array(a, struct ir_expr *, n);
    if (n_index)
        memcpy(args, index, n_index * sizeof *args);
    if (n_operands)
        memcpy(args + n_index, operands, n_operands * sizeof *args);
    struct ir_expr *x = node(a, op, buffer->elem, n, args);
    x->u.buffer = buffer;
    return x;
}

struct ir_expr *ir_place(struct arena *a, struct ir_buffer *buffer,
                         uint32_t n_index, struct ir_expr *const *index)
{
    return ir_atomic(a, OP_place, buffer, n_index, index, 0, NULL);
}

struct ir_expr *ir_scoped(struct ir_expr *atomic, enum ir_scope scope)
{
    atomic->scope = (uint8_t)scope;
    return atomic;
}

struct ir_expr *ir_ramp(struct arena *a, struct ir_expr *base, unsigned lanes)
{
    return node(a, OP_ramp, type_vector(base->type, lanes), 1, &base);
}

struct ir_expr *ir_broadcast(struct arena *a, struct ir_expr *x, unsigned lanes)
{
    return node(a, OP_broadcast, type_vector(x->type, lanes), 1, &x);
}

struct ir_expr *ir_lanes(struct arena *a, uint32_t n,
                         struct ir_expr *const *args)
{
    return node(a, OP_lanes, type_vector(args[0]->type, n), n, args);
}

struct ir_expr *ir_lane(struct arena *a, struct ir_expr *vector, unsigned k)
{
    struct ir_expr *folded = ir_fold_lane(a, vector, k);
    if (folded)
        return folded;
    struct ir_expr *x =
        node(a, OP_lane, type_vector(vector->type, 1), 1, &vector);
    x->u.lane = k;
    return x;
}

// Return a node like `x` with other operands, from its builder.
static struct ir_expr *rebuilt(struct arena *a, const struct ir_expr *x,
                               struct ir_expr *const *args)
{
    switch ((int)x->op) {
    case OP_load: return ir_load(a, x->u.buffer, x->n, args);
    case OP_cast: return ir_cast(a, x->type, args[0]);
    case OP_ramp: return ir_ramp(a, args[0], x->type.lanes);
    case OP_broadcast: return ir_broadcast(a, args[0], x->type.lanes);
    case OP_lane: return ir_lane(a, args[0], x->u.lane);
    }
    if (ir_op_info(x->op)->flags & OP_WRITES) {
        uint32_t n = ir_index_count(x);
        return ir_scoped(
            ir_atomic(a, x->op, x->u.buffer, n, args, x->n - n, args + n),
            (enum ir_scope)x->scope);
    }
    return ir_call(a, x->op, x->n, args);
}

// Return whether `x` is one of these.
static bool is_one_of(const struct ir_expr *x, uint32_t n,
                      struct ir_expr *const *args)
{
    for (uint32_t i = 0; i < n; i++)
        if (x == args[i])
            return true;
    return false;
}

struct ir_expr *ir_with_args(struct arena *a, const struct ir_expr *x,
                             struct ir_expr *const *args)
{
    if (ir_op_info(x->op)->form == FORM_LEAF) {
        struct ir_expr *leaf = arena_new(a, struct ir_expr);
        *leaf = *x;
        return leaf;
    }
    struct ir_expr *r = rebuilt(a, x, args);
    if (!x->span.source || is_one_of(r, x->n, args))
        return r;
    return ir_at(a, r, x->span);
}

struct ir_expr *ir_at(struct arena *a, struct ir_expr *x, struct span span)
{
    if (x->span.source == span.source && x->span.from == span.from &&
        x->span.to == span.to)
        return x;
    struct ir_expr *copy = arena_new(a, struct ir_expr);
    *copy = *x;
    copy->span = span;
    return copy;
}

bool ir_is_const(const struct ir_expr *x)
{
    while (x->op == OP_broadcast)
        x = x->args[0];
    return x->op == OP_const;
}

bool ir_is_int_const(const struct ir_expr *x, int64_t value)
{
    int64_t own;
    return ir_int_value(x, &own) && own == value;
}

bool ir_is_true(const struct ir_expr *x)
{
    return x->op == OP_const && x->type.kind == TYPE_bool && x->u.i;
}

bool ir_is_false(const struct ir_expr *x)
{
    return x->op == OP_const && x->type.kind == TYPE_bool && !x->u.i;
}

bool ir_int_value(const struct ir_expr *x, int64_t *value)
{
    if (x->op != OP_const || !type_is_integer(x->type))
        return false;
    *value = x->u.i;
    return true;
}

uint32_t ir_index_count(const struct ir_expr *x)
{
    const char *operands = ir_op_info(x->op)->operands;
    return x->op == OP_load ? x->n : x->n - (uint32_t)strlen(operands) + 1;
}

uint32_t ir_flat_rank(const struct ir_buffer *b)
{
    return b->of_cluster ? 2 : 1;
}

bool ir_is_pure(const struct ir_expr *x, bool reads)
{
    unsigned bad = OP_WRITES | OP_TOGETHER | (reads ? OP_READS : 0u);
    if (ir_op_info(x->op)->flags & bad)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!ir_is_pure(x->args[i], reads))
            return false;
    return true;
}

// Make a statement with the span of an expression, if there is one.
static struct ir_stmt *stmt(struct arena *a, enum ir_stmt_kind kind,
                            const struct ir_expr *x)
{
    struct ir_stmt *s = arena_new(a, struct ir_stmt);
    s->kind = kind;
    if (x)
        s->span = x->span;
    return s;
}

struct ir_stmt *ir_stmt_from(struct ir_stmt *s, const struct ir_stmt *from)
{
    s->span = from->span;
    s->by = from->by;
    return s;
}

struct ir_stmt *ir_stmt_for(struct arena *a, struct ir_var *var,
                            struct ir_expr *from, struct ir_expr *to,
                            struct ir_expr *step, enum axis axis)
{
    struct ir_stmt *s = stmt(a, STMT_for, from->span.source ? from : to);
    s->u.loop.var = var;
    s->u.loop.from = from;
    s->u.loop.to = to;
    s->u.loop.step = step;
    s->u.loop.axis = axis;
    return s;
}

struct ir_stmt *ir_stmt_if(struct arena *a, struct ir_expr *cond)
{
    struct ir_stmt *s = stmt(a, STMT_if, cond);
    s->u.branch.cond = cond;
    return s;
}

struct ir_stmt *ir_stmt_let(struct arena *a, struct ir_var *var,
                            struct ir_expr *value)
{
    bool is_mutable = var->kind == VAR_mutable;
    struct ir_stmt *s = stmt(a, is_mutable ? STMT_var : STMT_let, value);
    s->u.let.var = var;
    s->u.let.value = value;
    return s;
}

struct ir_stmt *ir_stmt_assign(struct arena *a, struct ir_var *var,
                               struct ir_expr *value)
{
    struct ir_stmt *s = stmt(a, STMT_assign, value);
    s->u.let.var = var;
    s->u.let.value = value;
    return s;
}

struct ir_stmt *ir_stmt_store(struct arena *a, struct ir_buffer *buffer,
                              uint32_t n, struct ir_expr *const *index,
                              struct ir_expr *value)
{
    struct ir_stmt *s = stmt(a, STMT_store, value);
    s->u.store.buffer = buffer;
    s->u.store.n = n;
    s->u.store.index = arena_array(a, struct ir_expr *, n);
    if (n)
        memcpy(s->u.store.index, index, n * sizeof *index);
    s->u.store.value = value;
    return s;
}

struct ir_stmt *ir_stmt_copy(struct arena *a, const struct ir_copy *copy)
{
    const struct ir_place *far = &copy->far;
    struct ir_stmt *s = stmt(a, STMT_copy, far->n ? far->index[0] : NULL);
    s->u.copy = *copy;
    return s;
}

// Return what a copy by each thread writes.
static struct ir_expr *copied_value(struct arena *a, const struct ir_copy *copy)
{
    const struct ir_place *far = &copy->far;
    struct ir_expr *x = ir_load(a, far->buffer, far->n, far->index);
    x = ir_at(a, x, copy->source);
    if (!copy->where)
        return x;
    struct ir_expr *zero = ir_zero(a, far->buffer->elem);
    if (x->type.lanes > 1)
        zero = ir_broadcast(a, zero, x->type.lanes);
    return ir_at(a, ir_select(a, copy->where, x, zero), copy->source);
}

struct ir_stmt *ir_at_once(struct arena *a, struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    if (s->kind != STMT_copy || !transport_is_of_threads(copy->transport))
        return s;
    struct ir_stmt *store =
        ir_stmt_store(a, copy->near.buffer, copy->near.n, copy->near.index,
                      copied_value(a, copy));
    store->u.store.hint = copy->hint;
    store->u.store.copied = copy->copied;
    store->u.store.hinted = copy->hinted;
    return ir_stmt_from(store, s);
}

struct ir_stmt *ir_stmt_eval(struct arena *a, struct ir_expr *value)
{
    struct ir_stmt *s = stmt(a, STMT_eval, value);
    s->u.value = value;
    return s;
}

struct ir_stmt *ir_stmt_print(struct arena *a, const char *text, uint32_t n,
                              struct ir_expr *const *values)
{
    struct ir_stmt *s = stmt(a, STMT_print, n ? values[0] : NULL);
    s->u.print.text = text;
    s->u.print.n = n;
    s->u.print.values = (void *)arena_copy(a, values, n * sizeof *values);
    return s;
}

struct ir_stmt *ir_stmt_alloc(struct arena *a, struct ir_buffer *buffer)
{
    struct ir_stmt *s = stmt(a, STMT_alloc, NULL);
    s->span = buffer->span;
    s->u.buffer = buffer;
    return s;
}

struct ir_stmt *ir_stmt_sync(struct arena *a, enum sync_kind kind)
{
    struct ir_stmt *s = stmt(a, STMT_sync, NULL);
    s->u.sync.kind = kind;
    return s;
}

struct ir_stmt *ir_stmt_wait(struct arena *a, enum sync_kind kind, uint32_t n)
{
    struct ir_stmt *s = ir_stmt_sync(a, kind);
    s->u.sync.n = n;
    return s;
}

struct ir_stmt *ir_stmt_matrix(struct arena *a, struct ir_matrix op)
{
    struct ir_stmt *s = stmt(a, STMT_matrix, NULL);
    s->u.matrix.op = op;
    return s;
}

struct ir_stmt *ir_stmt_barrier(struct arena *a)
{
    return stmt(a, STMT_barrier, NULL);
}

struct ir_stmt *ir_stmt_cluster_barrier(struct arena *a)
{
    struct ir_stmt *s = stmt(a, STMT_barrier, NULL);
    s->u.of_cluster = true;
    return s;
}

struct ir_stmt *ir_stmt_stage(struct arena *a, const char *name)
{
    struct ir_stmt *s = stmt(a, STMT_stage, NULL);
    s->u.stage.name = name;
    return s;
}

struct ir_stmt *ir_stmt_launch(struct arena *a, const char *name)
{
    struct ir_stmt *s = stmt(a, STMT_launch, NULL);
    s->u.launch.name = name;
    for (int d = 0; d < 3; d++) {
        s->u.launch.grid[d] = ir_int(a, 1);
        s->u.launch.cluster[d] = 1;
        s->u.launch.block[d] = 1;
    }
    return s;
}

void ir_append(struct arena *a, struct ir_block *block, struct ir_stmt *s)
{
    vec_push(a, block, s);
}

void ir_append_all(struct arena *a, struct ir_block *to,
                   const struct ir_block *from)
{
    for (size_t i = 0; i < from->n; i++)
        ir_append(a, to, from->at[i]);
}

void ir_enclose(struct arena *a, struct ir_block *block, struct ir_stmt *s,
                struct ir_block *inside)
{
    *inside = *block;
    *block = (struct ir_block){0};
    ir_append(a, block, s);
}

size_t ir_launch_parameter(const struct ir_kernel *kernel,
                           const struct ir_buffer *b)
{
    size_t n = 0;
    for (; n < kernel->params.n; n++)
        if (kernel->params.at[n].buffer == b)
            return n;
    for (size_t i = 0; i < kernel->body.n; i++) {
        const struct ir_stmt *s = kernel->body.at[i];
        if (s->kind == STMT_alloc && s->u.buffer == b)
            break;
        n += s->kind == STMT_alloc;
    }
    return n;
}

// Return which of the places among the tensor maps of a kernel one belongs to.
static size_t map_place(const struct ir_kernel *kernel,
                        const struct ir_map *map)
{
    size_t n = ir_launch_parameter(kernel, map->buffer);
    return n < kernel->params.n ? 0 : n;
}

void ir_add_map(struct arena *a, struct ir_kernel *kernel, struct ir_map *map)
{
    size_t place = map_place(kernel, map), i = kernel->maps.n;
    vec_push(a, &kernel->maps, map);
    for (; i && map_place(kernel, kernel->maps.at[i - 1]) > place; i--)
        kernel->maps.at[i] = kernel->maps.at[i - 1];
    kernel->maps.at[i] = map;
}

struct ir_expr *ir_buffer_stride(struct arena *a, const struct ir_buffer *b,
                                 uint32_t d)
{
    struct ir_expr *n = ir_int(a, 1);
    if (b->strides)
        return b->strides[d];
    for (uint32_t i = d + 1; i < b->rank; i++)
        n = ir_mul(a, n, b->shape[i]);
    return n;
}

struct ir_expr *ir_buffer_elements(struct arena *a, const struct ir_buffer *b)
{
    struct ir_expr *n = ir_int(a, 1);
    for (uint32_t i = 0; i < b->rank; i++)
        n = ir_mul(a, n, b->shape[i]);
    return n;
}

// Return whether an extent is seen at once not to be negative.
static bool is_not_negative(const struct ir_expr *x)
{
    switch ((int)x->op) {
    case OP_const: return x->u.i >= 0;
    case OP_var: return x->u.var->kind == VAR_param && type_is_index(x->type);
    case OP_add:
    case OP_mul:
    case OP_div:
    case OP_ceildiv:
    case OP_min:
        return is_not_negative(x->args[0]) && is_not_negative(x->args[1]);
    case OP_max:
        return is_not_negative(x->args[0]) || is_not_negative(x->args[1]);
    }
    return false;
}

uint32_t ir_cluster_blocks(const struct ir_launch *l)
{
    return l->cluster[0] * l->cluster[1] * l->cluster[2];
}

bool ir_launch_owns(const struct ir_launch *l, const struct ir_buffer *b)
{
    for (size_t i = 0; i < l->noalias.n; i++) {
        if (l->noalias.at[i] == b)
            return true;
    }
    return false;
}

struct ir_expr *ir_for_extent(struct arena *a, const struct ir_for *f)
{
    struct ir_expr *range = ir_sub(a, f->to, f->from);
    if (!is_not_negative(range))
        range = ir_binary(a, OP_max, range, ir_zero(a, range->type));
    return ir_binary(a, OP_ceildiv, range, f->step);
}
