// Binds arguments, checks `where`, runs the kernel.

#include "ir/eval.h"
#include "ir/build.h"
#include "ir/eval_code.h"
#include "ir/text.h"
#include "ir/walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void eval_stop(struct machine *m, enum eval_status status, struct span span,
               const char *format, ...)
{
    if (m->is_stopped)
        return;
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    m->is_stopped = true;
    m->result = (struct eval_result){
        status, arena_copy(m->arena, text.data, text.n), span};
    buf_free(&text);
}

// Translate the parameters, so that they have slots and rows.
static void compile_params(struct machine *m)
{
    const struct ir_kernel *k = m->kernel;
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].var)
            eval_slot(m, k->params.at[i].var);
        else
            eval_array(m, k->params.at[i].buffer);
}

// Give the scalar parameters their values.
static void bind_scalars(struct thread *t,
                         const struct eval_argument *arguments)
{
    struct machine *m = t->machine;
    for (size_t i = 0; i < m->kernel->params.n; i++) {
        const struct ir_var *var = m->kernel->params.at[i].var;
        if (!var)
            continue;
        union number *slot = &t->frame[eval_slot(m, var)];
        if (type_is_float(var->type))
            slot->f = ir_round_float(var->type, arguments[i].scalar.f);
        else
            slot->i = ir_wrap_int(var->type, arguments[i].scalar.i);
        if (type_is_index(var->type) && slot->i < 0)
            eval_stop(m, EVAL_REFUSED, var->span, "`%s` is negative: %lld",
                      var->name, (long long)slot->i);
    }
}

// Give the array parameters their elements.
static void bind_arrays(struct thread *t, const struct eval_argument *arguments)
{
    struct machine *m = t->machine;
    for (size_t i = 0; i < m->kernel->params.n; i++) {
        const struct ir_buffer *b = m->kernel->params.at[i].buffer;
        if (!b)
            continue;
        uint32_t row = eval_array(m, b);
        struct array *r = &m->arrays.at[row];
        if (!eval_set_up_array(t, r))
            return;
        if (arguments[i].size < r->bytes)
            eval_stop(m, EVAL_FAULT, b->span,
                      "the argument for `%s` has %lld bytes, not %lld", b->name,
                      (long long)arguments[i].size, (long long)r->bytes);
        t->data[row] = arguments[i].data;
    }
}

// Stop unless every `where` holds.
static void check_where(struct thread *t, const struct code *const *where)
{
    struct machine *m = t->machine;
    for (size_t i = 0; i < m->kernel->where.n; i++) {
        const struct ir_expr *x = m->kernel->where.at[i];
        if (eval_run(t, where[i]).i)
            continue;
        struct buf text = {0};
        ir_print_expr(&text, x);
        eval_stop(m, EVAL_REFUSED, x->span, "`%s` does not hold", text.data);
        buf_free(&text);
    }
}

// Free the arrays that threads shared.
static void free_arrays(struct machine *m)
{
    for (size_t i = 0; i < m->arrays.n; i++)
        free(m->arrays.at[i].data);
}

// Return whether an expression below a block is an operation on an mbarrier.
static bool uses_mbarriers(const struct ir_block *block)
{
    return ir_flags_in(block) & OP_SYNCHRONISES;
}

// Return whether each thread of a loop would do again what is to be done to an
// mbarrier once: a loop on the same axis inside of it has such an operation.
static bool is_repeated(const struct ir_for *loop)
{
    if (axis_kind(loop->axis) != AXIS_THREAD)
        return false;
    ir_foreach_stmt(s, &loop->body)
        if (s->kind == STMT_for && s->u.loop.axis == loop->axis &&
            uses_mbarriers(&s->u.loop.body))
            return true;
    return false;
}

// Return whether mbarriers of a kernel count: as it was written, within a
// block, in loops over threads that run once.  What passes make of copies waits
// for what is done at once.
static bool mbarriers_count(const struct ir_kernel *kernel)
{
    if (kernel->level != LEVEL_stages)
        return false;
    ir_foreach_expr_in(x, &kernel->body)
        if (x->op == OP_mbarrier_arrive_at)
            return false;
    ir_foreach_stmt(s, &kernel->body)
        if (s->kind == STMT_for && is_repeated(&s->u.loop))
            return false;
    return true;
}

struct eval_result ir_eval(struct arena *a, const struct ir_kernel *kernel,
                           const struct eval_argument *arguments,
                           uint64_t most_steps)
{
    return ir_eval_watched(a, kernel, arguments, most_steps, NULL);
}

struct eval_result ir_eval_watched(struct arena *a,
                                   const struct ir_kernel *kernel,
                                   const struct eval_argument *arguments,
                                   uint64_t most_steps,
                                   struct eval_watch *watch)
{
    return ir_eval_printed(a, kernel, arguments, most_steps, watch, NULL);
}

struct eval_result
ir_eval_printed(struct arena *a, const struct ir_kernel *kernel,
                const struct eval_argument *arguments, uint64_t most_steps,
                struct eval_watch *watch, struct buf *printed)
{
    struct arena code = {0};
    struct machine m = {.arena = &code,
                        .kernel = kernel,
                        .slots = {.arena = &code},
                        .buffers = {.arena = &code},
                        .epoch = 1,
                        .watch = watch,
                        .printed = printed,
                        .texts = a,
                        .most_steps = most_steps ? most_steps : UINT64_MAX};
    m.steps_left = m.most_steps;
    compile_params(&m);
    const struct code **where =
        arena_array(&code, const struct code *, kernel->where.n);
    for (size_t i = 0; i < kernel->where.n; i++)
        where[i] = eval_compile_expr(&m, kernel->where.at[i]);
    m.has_mbarriers = mbarriers_count(kernel);
    struct actions body = eval_compile_block(&m, &kernel->body);
    struct thread t = eval_thread_new(&m, NULL);
    if (!m.is_stopped)
        bind_scalars(&t, arguments);
    if (!m.is_stopped)
        check_where(&t, where);
    if (!m.is_stopped)
        bind_arrays(&t, arguments);
    uint64_t before = m.steps_left;
    eval_run_actions(&t, &body);
    if (watch)
        watch->steps = before - m.steps_left;
    struct eval_result result = m.result;
    if (result.text)
        result.text = arena_copy(a, result.text, strlen(result.text));
    eval_thread_free(&t);
    free_arrays(&m);
    arena_reset(&code);
    return result;
}

void ir_eval_ints(const struct ir_kernel *kernel,
                  const struct eval_argument *const *arguments, size_t n,
                  const struct ir_expr *x, int64_t *values, bool *known)
{
    struct arena code = {0};
    struct machine m = {.arena = &code,
                        .kernel = kernel,
                        .slots = {.arena = &code},
                        .buffers = {.arena = &code}};
    for (size_t i = 0; i < kernel->params.n; i++)
        if (kernel->params.at[i].var)
            eval_slot(&m, kernel->params.at[i].var);
    const struct code *c = eval_compile_expr(&m, x);
    struct thread t = eval_thread_new(&m, NULL);
    bool is_code = !m.is_stopped;
    for (size_t i = 0; i < n; i++) {
        m.is_stopped = !is_code;
        if (is_code)
            bind_scalars(&t, arguments[i]);
        values[i] = is_code ? eval_run(&t, c).i : 0;
        known[i] = !m.is_stopped;
    }
    eval_thread_free(&t);
    arena_reset(&code);
}

bool ir_eval_int(const struct ir_kernel *kernel,
                 const struct eval_argument *arguments, const struct ir_expr *x,
                 int64_t *value)
{
    int64_t result;
    bool known;
    ir_eval_ints(kernel, &arguments, 1, x, &result, &known);
    if (known)
        *value = result;
    return known;
}
