// Translates a kernel into code and action nodes.

#include "ir/build.h"
#include "ir/eval_code.h"
#include "ir/leave.h"
#include "ir/matrix.h"
#include "ir/stage.h"
#include "ir/walk.h"

// Return the number that a map holds for a key, or -1.
static int64_t number_of(const struct map *m, const void *key)
{
    return (int64_t)(uintptr_t)map_get(m, key) - 1;
}

uint32_t eval_slot(struct machine *m, const struct ir_var *var)
{
    int64_t slot = number_of(&m->slots, var);
    if (slot < 0) {
        slot = (int64_t)m->n_slots;
        m->n_slots += var->type.lanes;
        map_set(&m->slots, var, (void *)(uintptr_t)(slot + 1));
    }
    return (uint32_t)slot;
}

// Translate `n` expressions.
static const struct code **compile_all(struct machine *m, uint32_t n,
                                       struct ir_expr *const *x)
{
    const struct code **r = arena_array(m->arena, const struct code *, n);
    for (uint32_t i = 0; i < n; i++)
        r[i] = eval_compile_expr(m, x[i]);
    return r;
}

uint32_t eval_array(struct machine *m, const struct ir_buffer *b)
{
    int64_t row = number_of(&m->buffers, b);
    if (row >= 0)
        return (uint32_t)row;
    struct array r = {.buffer = b, .element_bytes = type_bytes(b->elem)};
    r.shape = compile_all(m, b->rank, b->shape);
    r.strides = b->strides ? compile_all(m, b->rank, b->strides) : NULL;
    r.extent = arena_array(m->arena, int64_t, b->rank);
    r.stride = arena_array(m->arena, int64_t, b->rank);
    row = (int64_t)m->arrays.n;
    vec_push(m->arena, &m->arrays, r);
    map_set(&m->buffers, b, (void *)(uintptr_t)(row + 1));
    return (uint32_t)row;
}

// Translate an access.
static struct access compile_access(struct machine *m,
                                    const struct ir_buffer *b, uint32_t n,
                                    struct ir_expr *const *index)
{
    bool is_flat = m->kernel->level >= LEVEL_flat;
    return (struct access){eval_array(m, b), n, compile_all(m, n, index),
                           is_flat};
}

// Return the operation that an atomic does on the element, or that combines
// two lanes of a warp, if there is one.
static enum ir_op operation_of(enum ir_op op)
{
    switch ((int)op) {
    case OP_atomic_add: return OP_add;
    case OP_atomic_min: return OP_min;
    case OP_atomic_max: return OP_max;
    case OP_atomic_and: return OP_bit_and;
    case OP_atomic_or: return OP_bit_or;
    case OP_atomic_xor: return OP_bit_xor;
    case OP_warp_sum: return OP_add;
    case OP_warp_min: return OP_min;
    case OP_warp_max: return OP_max;
    case OP_warp_and: return OP_bit_and;
    case OP_warp_or: return OP_bit_or;
    case OP_warp_xor: return OP_bit_xor;
    }
    return op;
}

// Translate what a leaf holds.
static void compile_leaf(struct machine *m, struct code *c,
                         const struct ir_expr *x)
{
    if (x->op == OP_var)
        c->slot = eval_slot(m, x->u.var);
    else if (x->op == OP_const && type_is_float(x->type))
        c->value.f = x->u.f;
    else if (x->op == OP_const)
        c->value.i = x->u.i;
}

const struct code *eval_compile_expr(struct machine *m, const struct ir_expr *x)
{
    struct code *c = arena_new(m->arena, struct code);
    bool has_memory = ir_op_info(x->op)->flags & (OP_READS | OP_WRITES);
    c->origin = x;
    c->args = compile_all(m, x->n, x->args);
    c->type = x->n && !has_memory ? x->args[0]->type : x->type;
    c->to = x->type;
    c->how = ir_arith(x->op == OP_ramp ? OP_add : operation_of(x->op));
    if (ir_op_info(x->op)->form == FORM_LEAF)
        compile_leaf(m, c, x);
    if (has_memory)
        c->access = compile_access(m, x->u.buffer, ir_index_count(x), x->args);
    if (ir_op_info(x->op)->flags & OP_TOGETHER) {
        c->slot = (uint32_t)m->n_slots++;
        vec_push(m->arena, &m->exchanges, c);
    }
    eval_bind_code(c);
    return c;
}

// Translate an expression that may be absent.
static const struct code *compile_optional(struct machine *m,
                                           const struct ir_expr *x)
{
    return x ? eval_compile_expr(m, x) : NULL;
}

// Return how many threads do something at once in a statement itself.
static uint32_t own_joint(const struct action *s)
{
    const struct ir_stmt *o = s->origin;
    if (o->kind == STMT_matrix)
        return matrix_info(o->u.matrix.op).threads;
    if (o->kind == STMT_sync)
        return sync_threads(o->u.sync.kind);
    return s->exchanges.n ? WARP : 0;
}

// Return whether an expression below a block is an atomic, which may see what
// other threads do.
static bool has_atomic(const struct ir_block *block)
{
    ir_foreach_expr_in(x, block) {
        unsigned flags = ir_op_info(x->op)->flags;
        if ((flags & OP_WRITES) && !(flags & OP_SYNCHRONISES))
            return true;
    }
    return false;
}

// Return whether a thread may wait for another one in a statement itself: at
// an mbarrier, or by looking again and again.
static bool own_waits(const struct machine *m, const struct action *s)
{
    const struct ir_stmt *o = s->origin;
    if (o->kind == STMT_eval)
        return m->has_mbarriers && o->u.value->op == OP_mbarrier_wait;
    return s->holds && has_atomic(&o->u.loop.body);
}

// Return whether a statement does no more than to compute and to store.
static bool is_plain(const struct ir_stmt *s)
{
    switch (s->kind) {
    case STMT_for: return axis_kind(s->u.loop.axis) == AXIS_SERIAL;
    case STMT_if:
    case STMT_let:
    case STMT_var:
    case STMT_assign:
    case STMT_store:
    case STMT_eval:
    case STMT_barrier:
    case STMT_sync: return true;
    default: return false;
    }
}

// Return whether what an iteration of a loop does depends on nothing but what
// variables and arrays hold: not on its number, nor on a wait.
static bool loop_repeats(const struct ir_for *loop)
{
    if (axis_kind(loop->axis) != AXIS_SERIAL ||
        (ir_flags_in(&loop->body) & OP_SYNCHRONISES) ||
        ir_block_mentions(&loop->body, loop->var))
        return false;
    ir_foreach_stmt(s, &loop->body)
        if (!is_plain(s))
            return false;
    return true;
}

// Note what the threads of a group do together in a statement, and below it.
// Where threads wait for one another they run as they do around a barrier.
static void note_joint(struct action *s)
{
    const struct actions *inside[] = {&s->body, &s->other};
    const struct ir_stmt *o = s->origin;
    s->has_barrier |=
        o->kind == STMT_barrier ||
        (o->kind == STMT_sync && o->u.sync.kind == SYNC_cluster_wait);
    s->joint = own_joint(s);
    enum axis_kind kind =
        o->kind == STMT_for ? axis_kind(o->u.loop.axis) : AXIS_SERIAL;
    s->spawns |= kind == AXIS_THREAD;
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < inside[k]->n; i++) {
            s->has_barrier |= inside[k]->at[i]->has_barrier;
            s->joint = inside[k]->at[i]->joint > s->joint
                           ? inside[k]->at[i]->joint
                           : s->joint;
            s->spawns |= inside[k]->at[i]->spawns;
            s->waits |= inside[k]->at[i]->waits;
        }
    }
    s->has_barrier |= (kind == AXIS_THREAD || kind == AXIS_BLOCK) && s->waits;
}

// Return whether the bindings of a stage's reduction mention a loop.
static bool is_counter(const struct ir_stage *stage, const struct ir_var *loop)
{
    bool is = false;
    for (size_t i = 0; i < stage->iters.n; i++)
        is |= stage->iters.at[i].is_reduce &&
              ir_mentions(stage->iters.at[i].binding, loop);
    return is;
}

// Return whether an expression mentions a loop around it that counts the
// reduction of a stage, or of some stage in it: NULL.
static bool is_of_reduction(const struct machine *m,
                            const struct ir_stage *stage,
                            const struct ir_expr *x)
{
    bool is = false;
    for (size_t i = 0; i < m->counters.n; i++)
        is |= ir_mentions(x, m->counters.at[i]) &&
              (!stage || is_counter(stage, m->counters.at[i]));
    return is;
}

// Return the parts of a condition that do not depend on a reduction; NULL if
// there are none.
static struct ir_expr *
spatial_part(struct machine *m, const struct ir_stage *stage, struct ir_expr *x)
{
    if (x && x->op == OP_and) {
        struct ir_expr *y = spatial_part(m, stage, x->args[0]);
        struct ir_expr *z = spatial_part(m, stage, x->args[1]);
        return y && z ? ir_binary(m->arena, OP_and, y, z) : y ? y : z;
    }
    return x && !is_of_reduction(m, stage, x) ? x : NULL;
}

// Translate a stage.
static void compile_stage(struct machine *m, struct action *s,
                          const struct ir_stage *stage)
{
    s->n_iters = stage->iters.n;
    s->iters = arena_array(m->arena, struct stage_iter, s->n_iters);
    for (size_t i = 0; i < s->n_iters; i++) {
        const struct ir_iter *iter = &stage->iters.at[i];
        s->iters[i] =
            (struct stage_iter){eval_compile_expr(m, iter->extent),
                                eval_compile_expr(m, iter->binding),
                                eval_slot(m, iter->var), iter->is_reduce};
    }
    s->x = compile_optional(m, stage->predicate);
    s->y = compile_optional(m, spatial_part(m, stage, stage->predicate));
    s->other = eval_compile_block(m, &stage->init);
    s->body = eval_compile_block(m, &stage->body);
}

// Translate an instruction on matrices.
static void compile_matrix(struct machine *m, struct action *s,
                           const struct ir_stmt *o)
{
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        const struct ir_expr *at = o->u.matrix.tiles[i].at;
        if (at)
            s->operands[i] = compile_access(m, at->u.buffer, at->n, at->args);
    }
    s->x = compile_optional(m, o->u.matrix.keep);
}

// Translate a copy by TMA.
static void compile_copy(struct machine *m, struct action *s,
                         const struct ir_copy *copy)
{
    s->access =
        compile_access(m, copy->near.buffer, copy->near.n, copy->near.index);
    s->far = compile_access(m, copy->far.buffer, copy->far.n, copy->far.index);
    if (copy->signal.buffer)
        s->signal = compile_access(m, copy->signal.buffer, copy->signal.n,
                                   copy->signal.index);
}

// Translate a print: its values are computed, and go nowhere.
static void compile_print(struct machine *m, struct action *s,
                          const struct ir_stmt *o)
{
    s->values = arena_array(m->arena, const struct code *, o->u.print.n);
    for (uint32_t i = 0; i < o->u.print.n; i++)
        s->values[i] = eval_compile_expr(m, o->u.print.values[i]);
}

// Translate the condition that a loop ends without, if there is one.
static const struct code *compile_leaving(struct machine *m,
                                          const struct ir_for *loop)
{
    const struct ir_stmt *branch = ir_loop_leaves(loop);
    return compile_optional(m, branch ? branch->u.branch.cond : NULL);
}

// Return whether all variables of an expression have been met: it has a value in front
// of what is translated next.
static bool is_known(const struct machine *m, const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_var && e->u.var->kind != VAR_param &&
            number_of(&m->slots, e->u.var) < 0)
            return false;
    return true;
}

// Translate the condition that a reduction which this loop begins is empty, though the
// loop may have iterations; NULL: there is none, or that is not known in front of it.
static const struct code *compile_none(struct machine *m,
                                       const struct ir_for *loop)
{
    struct arena *a = m->arena;
    struct ir_expr *none = ir_bool(a, false), *zero = ir_int(a, 0);
    ir_foreach_stmt(s, &((struct ir_for *)loop)->body) {
        const struct ir_stage *stage = &s->u.stage;
        if (s->kind != STMT_stage || !stage->has_init ||
            !is_counter(stage, loop->var))
            continue;
        vec_foreach(it, &stage->iters) {
            struct ir_expr *n = ir_stage_over_loops(a, stage, it->extent);
            if (it->is_reduce && is_known(m, n))
                none = ir_binary(a, OP_or, none, ir_binary(a, OP_le, n, zero));
        }
    }
    return m->counters.n || ir_is_false(none) ? NULL
                                              : eval_compile_expr(m, none);
}

// Return whether a loop goes over elements of no stage below it.
static bool keeps_elements(const struct ir_for *loop)
{
    ir_foreach_stmt(s, &((struct ir_for *)loop)->body)
        for (size_t i = 0; s->kind == STMT_stage && i < s->u.stage.iters.n; i++)
            if (!s->u.stage.iters.at[i].is_reduce &&
                ir_mentions(s->u.stage.iters.at[i].binding, loop->var))
                return false;
    return true;
}

// Translate the body of a loop.
static void compile_loop(struct machine *m, struct action *s,
                         const struct ir_for *loop)
{
    s->slot = eval_slot(m, loop->var);
    s->reduces = ir_loop_reduces((struct ir_for *)loop);
    s->reduces_all = s->reduces && keeps_elements(loop);
    s->none = s->reduces ? compile_none(m, loop) : NULL;
    if (s->reduces)
        vec_push(m->arena, &m->counters, loop->var);
    s->body = eval_compile_block(m, &loop->body);
    m->counters.n -= s->reduces;
}

// Translate a statement.  A copy by each thread is done at once.
static struct action *compile_stmt(struct machine *m, struct ir_stmt *stmt)
{
    const struct ir_stmt *o = ir_at_once(m->arena, stmt);
    struct action *s = arena_new(m->arena, struct action);
    struct exchanges outer = m->exchanges;
    m->exchanges = (struct exchanges){0};
    s->origin = o;
    eval_bind_action(s);
    switch ((int)o->kind) {
    case STMT_for:
        s->x = eval_compile_expr(m, o->u.loop.from);
        s->y = eval_compile_expr(m, o->u.loop.to);
        s->z = eval_compile_expr(m, o->u.loop.step);
        compile_loop(m, s, &o->u.loop);
        s->holds = compile_leaving(m, &o->u.loop);
        s->repeats = loop_repeats(&o->u.loop);
        break;
    case STMT_if:
        s->x = eval_compile_expr(m, o->u.branch.cond);
        s->y = compile_optional(m, spatial_part(m, NULL, o->u.branch.cond));
        s->body = eval_compile_block(m, &o->u.branch.then);
        s->other = eval_compile_block(m, &o->u.branch.otherwise);
        break;
    case STMT_let:
    case STMT_var:
    case STMT_assign:
        s->x = eval_compile_expr(m, o->u.let.value);
        s->slot = eval_slot(m, o->u.let.var);
        break;
    case STMT_store:
        s->x = eval_compile_expr(m, o->u.store.value);
        s->access = compile_access(m, o->u.store.buffer, o->u.store.n,
                                   o->u.store.index);
        break;
    case STMT_copy: compile_copy(m, s, &o->u.copy); break;
    case STMT_eval: s->x = eval_compile_expr(m, o->u.value); break;
    case STMT_print: compile_print(m, s, o); break;
    case STMT_alloc: s->array = eval_array(m, o->u.buffer); break;
    case STMT_matrix: compile_matrix(m, s, o); break;
    case STMT_stage: compile_stage(m, s, &o->u.stage); break;
    case STMT_launch:
        s->x = eval_compile_expr(m, o->u.launch.grid[0]);
        s->y = eval_compile_expr(m, o->u.launch.grid[1]);
        s->z = eval_compile_expr(m, o->u.launch.grid[2]);
        s->body = eval_compile_block(m, &o->u.launch.body);
        break;
    }
    s->exchanges = m->exchanges;
    m->exchanges = outer;
    s->waits = own_waits(m, s);
    note_joint(s);
    return s;
}

struct actions eval_compile_block(struct machine *m,
                                  const struct ir_block *block)
{
    struct actions r = {arena_array(m->arena, struct action *, block->n),
                        block->n};
    for (size_t i = 0; i < block->n; i++)
        r.at[i] = compile_stmt(m, block->at[i]);
    return r;
}
