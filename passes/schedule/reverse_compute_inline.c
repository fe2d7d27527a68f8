// reverse_compute_inline -- compute an element-wise stage where the one that
// it reads is computed.
//
//   P[i, j] = A[i] * B[j];  C[j, i] = exp(P[i, j])
//     =>   reverse_compute_inline(C)
//   C[j, i] = exp(A[i] * B[j])
//
// The loops and their bindings stay those of the producer; the array between
// the two disappears.
//
// Requires:
//  1. both stages are one store to their own iteration
//     variables, the second one without a reduction      E0653 E0654
//  2. the producer has no reduction, its array is an
//     intermediate one that only the stage reads, at
//     its own iteration variables, in full               E0659
//  3. what else the stage reads is computed before the
//     producer, and its array is not used between        E0657

#include "passes/schedule/move.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"

// What is inlined.
struct inlining {
    struct pass *pass;
    struct ir_stmt *consumer, *producer;
    const struct ir_buffer *array; // between them
    struct ir_stmt *in, *out;      // the stores of producer and consumer
    struct map vars;               // consumer's variables -> producer's
    struct ir_expr *value;         // of the array's element
    bool is_plain;
    struct ir_expr **index; // at which the consumer reads
};

// Report that the two stages do not fit.
static bool refuse(const struct sched_call *c, const struct inlining *in,
                   const char *note)
{
    diag_error(c->pass->diags, c->span, D_inline_back,
               sched_name_of(in->consumer),
               in->array ? in->array->name : sched_name_of(in->consumer));
    return sched_blame_one(c, in->consumer, note);
}

// Find the stage that the consumer reads.
static bool find_producer(const struct sched_call *c, struct inlining *in)
{
    struct sched_buffers inputs = sched_inputs_of(c->pass, in->consumer);
    for (size_t i = 0; i < inputs.n; i++) {
        const struct ir_buffer *b = inputs.at[i];
        in->array = b;
        struct sched_uses uses = sched_uses_of(c->pass, b);
        if (b->role != ROLE_alloc || uses.writers.n != 1 ||
            uses.writers.at[0]->kind != STMT_stage ||
            ir_stage_reduces(&uses.writers.at[0]->u.stage))
            continue;
        in->producer = uses.writers.at[0];
        if (uses.readers.n > 1)
            return refuse(c, in, "not the only one that reads it");
        return sched_check_movable(c, in->producer, &uses);
    }
    return refuse(c, in, "reads no stage without a reduction");
}

// Look at a read of the array.
static void see_read(struct ir_expr *x, void *context)
{
    struct inlining *in = context;
    const struct ir_stage *stage = &in->consumer->u.stage;
    if (x->op != OP_load || x->u.buffer != in->array)
        return;
    for (uint32_t i = 0; i < x->n; i++) {
        in->is_plain &= ir_stage_iter(stage, x->args[i]) >= 0;
        in->is_plain &= !in->index || ir_expr_equal(in->index[i], x->args[i]);
        for (uint32_t j = 0; j < i; j++)
            in->is_plain &= !ir_expr_equal(x->args[i], x->args[j]);
    }
    in->index = x->args;
}

// Match the variables of the two stages.
static bool match(const struct sched_call *c, struct inlining *in)
{
    const struct ir_stage *to = &in->consumer->u.stage;
    const struct ir_stage *from = &in->producer->u.stage;
    if (ir_stage_reduces(to))
        return refuse(c, in, "has a reduction");
    in->is_plain = true;
    in->in = sched_plain_store(in->producer);
    in->out = sched_plain_store(in->consumer);
    ir_each_expr_in(&in->consumer->u.stage.body, see_read, in);
    if (!in->is_plain || in->array->rank != to->iters.n)
        return refuse(c, in, "reads not just one element, its own");
    in->vars.arena = c->pass->scratch;
    for (uint32_t i = 0; i < in->array->rank; i++) {
        const struct ir_iter *x =
            &to->iters.at[ir_stage_iter(to, in->index[i])];
        const struct ir_iter *y =
            &from->iters.at[ir_stage_iter(from, in->in->u.store.index[i])];
        if (!ir_expr_equal(x->extent, y->extent))
            return refuse(c, in, "does not read every element");
        map_set(&in->vars, x->var, ir_read(c->pass->arena, y->var));
    }
    return true;
}

// Check that nothing between the two stages is in the way.
static bool check_between(const struct sched_call *c, const struct inlining *in)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, in->consumer);
    size_t from = sched_order_of(p, sched_path(p, in->producer).stmts[0]);
    size_t to = sched_order_of(p, in->consumer);
    struct sched_uses own = sched_uses_of(p, in->out->u.store.buffer);
    vec_push(p->scratch, &inputs, in->out->u.store.buffer);
    for (size_t i = 0; i < inputs.n; i++) {
        struct ir_stmt *around = sched_path(p, in->producer).stmts[0];
        if (around->kind == STMT_for &&
            !sched_check_scope(c, around, inputs.at[i]))
            return false;
        struct sched_uses uses = sched_uses_of(p, inputs.at[i]);
        bool is_own = i + 1 == inputs.n;
        size_t n = is_own ? own.readers.n : uses.writers.n;
        for (size_t k = 0; k < n; k++) {
            struct ir_stmt *s = is_own ? own.readers.at[k] : uses.writers.at[k];
            size_t order = sched_order_of(p, s);
            if (s == in->consumer || s == in->producer || order < from ||
                order > to)
                continue;
            diag_error(p->diags, c->span, D_move_order,
                       sched_name_of(in->consumer),
                       "pass over what it depends on");
            return sched_blame_one(c, s, "between the two stages");
        }
    }
    return true;
}

// Put the producer's value in place of a read of the array, and its variables
// in place of the consumer's.
static struct ir_expr *inline_read(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    struct inlining *in = context;
    (void)a;
    return x->op == OP_load && x->u.buffer == in->array ? in->value : x;
}

// Give the producer's value a name if it is more than an element.
static struct ir_expr *name_value(struct inlining *in)
{
    struct pass *p = in->pass;
    struct ir_expr *value = in->in->u.store.value;
    if (value->op == OP_load || value->n == 0)
        return value;
    const char *name = str_name(p->names, in->array->name);
    struct ir_var *var =
        ir_var_new(p->arena, name, value->type, VAR_let, in->in->span);
    struct ir_stmt *let = ir_stmt_let(p->arena, var, value);
    let->span = in->in->span;
    struct ir_block *body = &in->producer->u.stage.body;
    ir_insert(p->arena, body, body->n - 1, let);
    return ir_read(p->arena, var);
}

bool sched_reverse_compute_inline(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct inlining in = {.pass = p, .consumer = sched_arg(c, 0)};
    struct sched_uses own = sched_uses_of(p, sched_stored(in.consumer));
    if (!sched_check_movable(c, in.consumer, &own) || !find_producer(c, &in) ||
        !match(c, &in) || !check_between(c, &in))
        return false;
    in.value = name_value(&in);
    struct ir_block *body = &in.producer->u.stage.body;
    struct ir_block tail = in.consumer->u.stage.body;
    ir_splice(p->arena, body, body->n - 1, &(struct ir_block){0});
    sched_hoist_arrays(p);
    sched_remove(p, in.consumer);
    ir_substitute_in(p->arena, &tail, &in.vars, NULL);
    ir_rewrite_in(p->arena, &tail, inline_read, &in);
    for (size_t i = 0; i < tail.n; i++)
        ir_append(p->arena, body, tail.at[i]);
    in.producer->u.stage.name = in.consumer->u.stage.name;
    sched_remove(p, sched_alloc_of(p, in.array));
    return true;
}
