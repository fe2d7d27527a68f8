// reverse_compute_inline -- compute an element-wise stage where the one that
// it reads is computed.
//
//   P[i, j] = A[i] * B[j];  C[j, i] = exp(P[i, j])
//     =>   reverse_compute_inline(C)
//   C[j, i] = exp(A[i] * B[j])
//
// The loops and their bindings stay those of the producer; the array between
// the two disappears. So do all arrays of a scan, which stays one:
//
//   R = R + X[i]  P[i] = R;  C[i] = P[i] / 2
//     =>   reverse_compute_inline(C)
//   R = R + X[i]  C[i] = R / 2
//
// An array that others read stays, if it is of a scan, and so does what was put
// into the scan before: a stage after the other can be computed there.
//
//   Y[P[i] - 1] = X[i] if X[i] > 0;  count[0] = P[i] if i == n - 1
//     =>   reverse_compute_inline(Y)   reverse_compute_inline(count)
//   R = R + (X[i] > 0 ? 1 : 0)
//   if X[i] > 0 { Y[R - 1] = X[i] }  if i == n - 1 { count[0] = R }
//
// Requires:
//  1. the producer just stores to its own iteration
//     variables; so does the stage, without a reduction,
//     or it is a conditional store                       E0653 E0654
//  2. the producer has no reduction, or is a scan, and
//     stores once to each of its arrays; those that the
//     stage reads, at its own iteration variables, in
//     full, are intermediate ones, which of a producer
//     that does not scan nothing else reads              E0659
//  3. what else the stage reads is computed before the
//     producer, and its arrays are not used between      E0657
//  4. nothing has been said of how the stage runs        E0670

#include "passes/schedule/common/move.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/marks.h"
#include "ir/stage.h"
#include "passes/analysis/scan.h"

// What is inlined.
struct inlining {
    struct pass *pass;
    struct ir_stmt *consumer, *producer;
    const struct ir_buffer *array; // between them; the first of several
    struct sched_stores in, out;   // of producer and consumer; of a scan those
                                   // that the consumer reads
    struct sched_buffers gone;     // arrays that nothing reads any more
    struct map vars;               // consumer's variables -> producer's
    struct map values;             // arrays -> the value of their element
    struct ir_expr **index;        // at which the consumer reads
    bool is_scan;                  // the producer scans,
    struct scan scan;              // so
};

// Report that the two stages do not fit.
static bool refuse(const struct sched_call *c, const struct inlining *in,
                   const char *note)
{
    return sched_refuse(
        c, in->consumer, note, D_inline_back, sched_name_of(in->consumer),
        in->array ? in->array->name : sched_name_of(in->consumer));
}

// Return whether anything but the two stages reads an array.
static bool is_read(const struct inlining *in, const struct ir_buffer *b)
{
    struct sched_uses uses = sched_uses_of(in->pass, b);
    for (size_t i = 0; i < uses.readers.n; i++)
        if (uses.readers.at[i] != in->consumer &&
            uses.readers.at[i] != in->producer)
            return true;
    return false;
}

// Check that the arrays between the stages are intermediate ones that the
// producer writes, and the consumer's alone unless it scans.
static bool check_arrays(const struct sched_call *c, struct inlining *in)
{
    struct sched_uses uses = sched_uses_of_all(c->pass, &in->in.arrays);
    for (size_t i = 0; i < in->in.arrays.n; i++) {
        const struct ir_buffer *b = in->in.arrays.at[i];
        if (b->role != ROLE_alloc)
            return refuse(c, in, "one of its arrays is a result");
        if (!is_read(in, b))
            vec_push(c->pass->scratch, &in->gone, b);
        else if (!in->is_scan)
            return refuse(c, in, "not the only one that reads it");
    }
    return uses.writers.n == 1 || refuse(c, in, "something else writes it");
}

// Return whether an element of a scan has a place of its own: all of its
// iteration variables.
static bool has_own_place(const struct inlining *in, const struct ir_stmt *s)
{
    const struct ir_stage *stage = &in->producer->u.stage;
    const struct ir_expr place = {.n = s->u.store.n, .args = s->u.store.index};
    return place.n == stage->iters.n && sched_reads_own(stage, &place, NULL);
}

// Take the array of an element of a scan, if the consumer reads it; one that
// nothing reads goes, too.  False if the element has another place.
static bool take_element(struct inlining *in, const struct ir_stmt *s,
                         const struct sched_buffers *inputs)
{
    struct pass *p = in->pass;
    const struct ir_buffer *array = s->u.store.buffer;
    if (!has_own_place(in, s))
        return false;
    if (!sched_has_buffer(inputs, array)) {
        if (array->role == ROLE_alloc && !is_read(in, array))
            vec_push(p->scratch, &in->gone, array);
        return true;
    }
    if (!in->in.arrays.n) {
        in->in.n = s->u.store.n;
        in->in.index = s->u.store.index;
    }
    if (!sched_has_buffer(&in->in.arrays, array))
        vec_push(p->scratch, &in->in.arrays, array);
    return ir_all_equal(s->u.store.n, s->u.store.index, in->in.index);
}

// Find what a scan stores, and the consumer reads: its elements.
static bool take_elements(const struct sched_call *c, struct inlining *in)
{
    const struct ir_block *elements = &in->scan.elements;
    struct sched_buffers inputs = sched_inputs_of(c->pass, in->consumer);
    for (size_t i = 0; i < elements->n; i++)
        if (elements->at[i]->kind == STMT_store &&
            !take_element(in, elements->at[i], &inputs))
            return refuse(c, in, "its elements have places of their own");
    return in->in.arrays.n ||
           refuse(c, in, "reads what the scan stores under a condition");
}

// Return whether a stage may be the producer: it has no reduction, or is a
// scan, which is noted.
static bool is_producer(const struct sched_call *c, struct inlining *in,
                        const struct ir_stmt *s)
{
    if (s->kind != STMT_stage)
        return false;
    in->is_scan = ir_stage_scans(&s->u.stage) &&
                  scan_find(c->pass, &s->u.stage, &in->scan);
    if (!in->is_scan)
        in->scan = (struct scan){0};
    return in->is_scan || !ir_stage_reduces(&s->u.stage);
}

// Find the stage that the consumer reads.
static bool find_producer(const struct sched_call *c, struct inlining *in)
{
    struct sched_buffers inputs = sched_inputs_of(c->pass, in->consumer);
    vec_foreach_value(b, &inputs) {
        in->array = b;
        struct sched_uses uses = sched_uses_of(c->pass, b);
        if (b->role != ROLE_alloc || uses.writers.n != 1 ||
            !is_producer(c, in, uses.writers.at[0]))
            continue;
        in->producer = uses.writers.at[0];
        return (in->is_scan ? take_elements(c, in)
                            : sched_check_stores(c, in->producer, &in->in)) &&
               check_arrays(c, in);
    }
    return refuse(c, in, "reads no stage without a reduction, and no scan");
}

// Return whether an expression itself is no read of an array that the producer
// makes, or one of the element that it has stored.
static bool reads_stored(const struct inlining *in, const struct ir_expr *x)
{
    if (x->op != OP_load || !sched_has_buffer(&in->in.arrays, x->u.buffer))
        return true;
    return ir_all_equal(x->n, x->args, in->in.index) &&
           map_has(&in->values, x->u.buffer);
}

// Take what a statement of the producer stores; false if it stores to an array
// again, does anything but a `let` beside, or reads what it has not stored.
static bool take_value(struct inlining *in, const struct ir_stmt *s)
{
    ir_foreach_expr_of(x, s)
        if (!reads_stored(in, x))
            return false;
    if (s->kind != STMT_store)
        return s->kind == STMT_let;
    if (map_has(&in->values, s->u.store.buffer))
        return false;
    map_set(&in->values, s->u.store.buffer, s->u.store.value);
    return true;
}

// Return whether a block reads an array that the scan stores to, and the
// consumer reads, or that goes.
static bool reads_elements(const struct inlining *in,
                           const struct ir_block *block)
{
    ir_foreach_expr_in(x, block)
        if (x->op == OP_load &&
            (sched_has_buffer(&in->in.arrays, x->u.buffer) ||
             sched_has_buffer(&in->gone, x->u.buffer)))
            return true;
    return false;
}

// Take the values of the elements of a scan; false if it stores one twice.
static bool take_values(struct inlining *in)
{
    const struct ir_block *elements = &in->scan.elements;
    for (size_t i = 0; i < elements->n; i++) {
        const struct ir_stmt *s = elements->at[i];
        if (s->kind != STMT_store)
            continue;
        if (map_has(&in->values, s->u.store.buffer))
            return false;
        map_set(&in->values, s->u.store.buffer, s->u.store.value);
    }
    return true;
}

// Check that the producer stores to each array once, with nothing but lets
// beside, and reads only what it has stored; a scan, nothing of that.
static bool check_producer(const struct sched_call *c, struct inlining *in)
{
    const struct ir_block *body = &in->producer->u.stage.body;
    bool is_right =
        !in->is_scan || (!reads_elements(in, body) && take_values(in));
    for (size_t i = 0; i < body->n && !in->is_scan; i++)
        is_right = is_right && take_value(in, body->at[i]);
    return is_right || refuse(c, in, "not one value for each element");
}

// Match the variables of the two stages.
static bool match(const struct sched_call *c, struct inlining *in)
{
    const struct ir_stage *to = &in->consumer->u.stage;
    const struct ir_stage *from = &in->producer->u.stage;
    if (ir_stage_reduces(to))
        return refuse(c, in, "has a reduction");
    bool is_own = in->array->rank == to->iters.n;
    ir_foreach_expr_in(x, &to->body)
        if (x->op == OP_load && sched_has_buffer(&in->in.arrays, x->u.buffer)) {
            is_own = is_own && sched_reads_own(to, x, in->index);
            in->index = x->args;
        }
    if (!is_own)
        return refuse(c, in, "reads not just one element, its own");
    for (uint32_t i = 0; i < in->array->rank; i++) {
        const struct ir_iter *x =
            &to->iters.at[ir_stage_iter(to, in->index[i])];
        const struct ir_iter *y =
            &from->iters.at[ir_stage_iter(from, in->in.index[i])];
        if (!ir_expr_equal(x->extent, y->extent))
            return refuse(c, in, "does not read every element");
        map_set(&in->vars, x->var, ir_read(c->pass->arena, y->var));
    }
    return true;
}

// Check that none of some statements is between the two stages.
static bool check_users(const struct sched_call *c, const struct inlining *in,
                        struct ir_stmt *const *users, size_t n)
{
    struct pass *p = c->pass;
    size_t from = sched_order_of(p, sched_path(p, in->producer).stmts[0]);
    size_t to = sched_order_of(p, in->consumer);
    for (size_t k = 0; k < n; k++) {
        size_t order = sched_order_of(p, users[k]);
        if (users[k] != in->consumer && users[k] != in->producer &&
            order >= from && order <= to)
            return sched_refuse(c, users[k], "between the two stages",
                                D_move_order, sched_name_of(in->consumer),
                                "pass over what it depends on");
    }
    return true;
}

// Check that nothing between the two stages writes an array that the consumer
// reads, or uses one that it writes.
static bool check_array(const struct sched_call *c, const struct inlining *in,
                        const struct ir_buffer *b, bool is_own)
{
    struct pass *p = c->pass;
    struct sched_uses uses = sched_uses_of(p, b);
    struct ir_stmt *around = sched_path(p, in->producer).stmts[0];
    return (around->kind != STMT_for || sched_check_scope(c, around, b)) &&
           check_users(c, in, uses.writers.at, uses.writers.n) &&
           (!is_own || check_users(c, in, uses.readers.at, uses.readers.n));
}

// Check that nothing between the two stages is in the way.
static bool check_between(const struct sched_call *c, const struct inlining *in)
{
    struct sched_buffers inputs = sched_inputs_of(c->pass, in->consumer);
    for (size_t i = 0; i < inputs.n; i++)
        if (!check_array(c, in, inputs.at[i], false))
            return false;
    for (size_t i = 0; i < in->out.arrays.n; i++)
        if (!check_array(c, in, in->out.arrays.at[i], true))
            return false;
    return true;
}

// Put the value of an element in place of a read of the array.
static struct ir_expr *inline_read(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    struct inlining *in = context;
    (void)a;
    return x->op == OP_load && map_has(&in->values, x->u.buffer)
               ? map_get(&in->values, x->u.buffer)
               : x;
}

// Give the value of a store a name if it is more than an element.
static void name_value(struct inlining *in, const struct ir_stmt *store,
                       struct ir_block *body)
{
    struct pass *p = in->pass;
    struct ir_expr *value = store->u.store.value;
    const struct ir_buffer *array = store->u.store.buffer;
    if (value->op != OP_load && value->n > 0) {
        const char *name = str_name(p->names, array->name);
        struct ir_var *var =
            ir_var_new(p->arena, name, value->type, VAR_let, store->span);
        struct ir_stmt *let = ir_stmt_let(p->arena, var, value);
        let->span = store->span;
        ir_append(p->arena, body, let);
        value = ir_read(p->arena, var);
    }
    map_set(&in->values, array, value);
}

// Put values in place of the producer's stores.
static void name_values(struct inlining *in)
{
    struct ir_block old = in->producer->u.stage.body, body = {0};
    in->values = (struct map){.arena = in->pass->scratch};
    for (size_t i = 0; i < old.n; i++) {
        ir_rewrite_in(in->pass->arena, ir_alone(old.at[i]), inline_read, in);
        if (old.at[i]->kind == STMT_store)
            name_value(in, old.at[i], &body);
        else
            ir_append(in->pass->arena, &body, old.at[i]);
    }
    in->producer->u.stage.body = body;
}

// Return what a scan stores with the consumer in it: to the arrays that stay,
// and then what the consumer does.
static struct ir_block elements_of(struct inlining *in)
{
    struct pass *p = in->pass;
    const struct ir_block *old = &in->scan.elements;
    struct ir_block r = {0};
    struct ir_block tail =
        ir_copy_block(p->arena, &in->consumer->u.stage.body, &in->vars, NULL);
    ir_rewrite_in(p->arena, &tail, inline_read, in);
    for (size_t i = 0; i < old->n; i++)
        if (old->at[i]->kind != STMT_store ||
            !sched_has_buffer(&in->gone, old->at[i]->u.store.buffer))
            ir_append(p->arena, &r, old->at[i]);
    ir_append_all(p->arena, &r, &tail);
    return r;
}

// Put what the consumer does behind the elements of the scan; false if that
// makes no scan.
static bool inline_elements(struct inlining *in)
{
    struct pass *p = in->pass;
    struct ir_block elements = elements_of(in);
    struct ir_block body = {0}, *combining = &in->scan.reduction.body;
    struct ir_stage *stage = &in->producer->u.stage;
    struct ir_stmt made = *in->producer;
    struct scan scan;
    ir_append_all(p->arena, &body,
                  in->scan.is_inclusive ? combining : &elements);
    ir_append_all(p->arena, &body,
                  in->scan.is_inclusive ? &elements : combining);
    made.u.stage.body = body;
    made.u.stage.attrs = (struct ir_attrs){0};
    vec_append(p->arena, &made.u.stage.attrs, &stage->attrs);
    if (ir_stage_is_distinct(&in->consumer->u.stage))
        ir_attr_set(p->arena, &made, MARK_distinct, 1);
    if (!scan_find(p, &made.u.stage, &scan))
        return false;
    *stage = made.u.stage;
    return true;
}

// Append what the consumer does to the producer.
static void inline_values(struct inlining *in)
{
    struct pass *p = in->pass;
    struct ir_block tail = in->consumer->u.stage.body;
    name_values(in);
    ir_substitute_in(p->arena, &tail, &in->vars, NULL);
    ir_rewrite_in(p->arena, &tail, inline_read, in);
    ir_append_all(p->arena, &in->producer->u.stage.body, &tail);
    if (ir_stage_is_distinct(&in->consumer->u.stage))
        ir_attr_set(p->arena, in->producer, MARK_distinct, 1);
}

// Find what a conditional store stores to; false if a stage is none.
static bool is_conditional(struct inlining *in)
{
    struct ir_stage *stage = &in->consumer->u.stage;
    if (in->consumer->kind != STMT_stage || !ir_stage_is_distinct(stage))
        return false;
    ir_foreach_stmt(s, &stage->body) {
        if (s->kind != STMT_store && s->kind != STMT_if)
            return false;
        if (s->kind == STMT_store)
            vec_push(in->pass->scratch, &in->out.arrays, s->u.store.buffer);
    }
    return true;
}

// Check that the consumer stores as it should, and to its arrays alone.
static bool check_consumer(const struct sched_call *c, struct inlining *in)
{
    if (is_conditional(in))
        return true;
    if (!sched_check_stores(c, in->consumer, &in->out))
        return false;
    struct sched_uses own = sched_uses_of_all(c->pass, &in->out.arrays);
    return sched_check_alone(c, in->consumer, &own);
}

bool sched_reverse_compute_inline(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct inlining in = {.pass = p, .consumer = sched_arg(c, 0)};
    in.vars.arena = in.values.arena = p->scratch;
    if (!check_consumer(c, &in) || !find_producer(c, &in) ||
        !check_producer(c, &in) || !match(c, &in) || !check_between(c, &in) ||
        !sched_check_dissolved(c, in.consumer))
        return false;
    if (in.is_scan && !inline_elements(&in))
        return refuse(c, &in, "not just elements of a scan");
    if (!in.is_scan)
        inline_values(&in);
    sched_hoist_arrays(p);
    sched_remove(p, in.consumer);
    in.producer->u.stage.name = in.consumer->u.stage.name;
    for (size_t i = 0; i < in.gone.n; i++)
        sched_remove(p, sched_alloc_of(p, in.gone.at[i]));
    sched_result(c, VALUE_stage, in.producer);
    return true;
}
