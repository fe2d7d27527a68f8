// Runs statements, each from end to end.

#include "ir/base/num.h"
#include "ir/eval_code.h"
#include "ir/printed.h"

#include <string.h>

// A loop of more iterations is one without an end.
enum { ITERATIONS_MOST = 1 << 20 };

bool eval_step(struct machine *m, const struct ir_stmt *at)
{
    if (m->steps_left-- == 0)
        eval_stop(m, EVAL_LIMIT, at->span, "more than %llu steps",
                  (unsigned long long)m->most_steps);
    return !m->is_stopped;
}

void eval_run_actions(struct thread *t, const struct actions *block)
{
    for (size_t i = 0; i < block->n; i++) {
        const struct action *s = block->at[i];
        if (!eval_step(t->machine, s->origin))
            return;
        if (s->joint)
            eval_alone(t, s);
        else
            s->run(t, s);
    }
}

struct range eval_loop_range(struct thread *t, const struct action *s)
{
    struct range r = {eval_run(t, s->x).i, eval_run(t, s->y).i,
                      eval_run(t, s->z).i};
    if (r.step <= 0)
        eval_stop(t->machine, EVAL_FAULT, s->origin->span,
                  "the step of a loop is %lld", (long long)r.step);
    if (t->machine->is_stopped)
        r.to = r.from;
    return r;
}

bool eval_next_iteration(const struct range *r, int64_t *i)
{
    return num_add(*i, r->step, i) && *i < r->to;
}

bool eval_begin_iteration(struct machine *m, const struct action *s)
{
    m->epoch += axis_kind(s->origin->u.loop.axis) == AXIS_BLOCK;
    return eval_step(m, s->origin);
}

// Run the init of a reduction over a loop, for a reduction without iterations.
// If `none`, that is known of all its loops, whatever their number of iterations; one
// that goes over nothing else runs it once.
static void run_empty(struct thread *t, const struct action *s, int64_t from,
                      bool none)
{
    bool outer = t->none;
    t->empty++;
    t->none |= none;
    t->frame[s->slot].i = from;
    eval_run_actions(t, &s->body);
    t->none = outer;
    t->empty--;
}

bool eval_goes_on(struct machine *m, const struct action *s,
                  const struct range *r, uint64_t before)
{
    uint64_t length = (uint64_t)r->to - (uint64_t)r->from;
    bool is_idle = s->repeats && m->events == before &&
                   length / (uint64_t)r->step > ITERATIONS_MOST;
    bool is_waiting = s->holds && s->waits;
    if (is_waiting && (m->turn || is_idle)) {
        m->looks += !is_idle;
        eval_pause(m, s->origin->span);
    }
    return !m->is_stopped && (is_waiting || !is_idle);
}

// Tell a thread that it runs the iteration of a loop over threads in which the
// variable is `i`.
static void take_place(struct thread *t, const struct action *s,
                       const struct range *r, int64_t i)
{
    enum axis axis = s->origin->u.loop.axis;
    if (axis_kind(axis) == AXIS_THREAD)
        eval_set_place(t, axis, (i - r->from) / r->step,
                       (r->to - r->from - 1) / r->step + 1);
}

// Run the iterations of a loop, one after another.
static void run_iterations(struct thread *t, const struct action *s)
{
    struct range r = eval_loop_range(t, s);
    int64_t i = r.from;
    bool none = s->none && eval_run(t, s->none).i;
    bool once = t->empty && s->reduces_all;
    if (none || once || (s->reduces && i >= r.to))
        run_empty(t, s, r.from, none);
    if (once || i >= r.to)
        return;
    uint64_t before;
    do {
        before = t->machine->events;
        if (!eval_begin_iteration(t->machine, s))
            return;
        t->frame[s->slot].i = i;
        take_place(t, s, &r, i);
        eval_run_actions(t, &s->body);
    } while ((!s->holds || eval_run(t, s->holds).i) &&
             eval_goes_on(t->machine, s, &r, before) &&
             eval_next_iteration(&r, &i));
}

// Run a loop.
static void run_for(struct thread *t, const struct action *s)
{
    if (s->has_barrier) {
        eval_alone(t, s);
        return;
    }
    const struct thread outside = *t;
    run_iterations(t, s);
    memcpy(t->place, outside.place, sizeof t->place);
    memcpy(t->block, outside.block, sizeof t->block);
    t->in_warpgroup = outside.in_warpgroup;
}

// Run a branch.  A reduction without iterations is not asked which of them there
// are.
static void run_if(struct thread *t, const struct action *s)
{
    const struct code *condition = t->empty ? s->y : s->x;
    bool holds = !condition || eval_run(t, condition).i;
    eval_run_actions(t, holds ? &s->body : &s->other);
}

// Run let, var and assign.  What `let` names follows from what other things
// hold, so it is no event.
static void run_let(struct thread *t, const struct action *s)
{
    union number lanes[LANES_MOST];
    unsigned n = s->origin->u.let.var->type.lanes;
    bool is_event = s->origin->kind != STMT_let;
    if (n == 1)
        lanes[0] = eval_run(t, s->x);
    else
        eval_run_lanes(t, s->x, lanes);
    for (unsigned k = 0; k < n; k++) {
        t->machine->events += is_event && t->frame[s->slot + k].i != lanes[k].i;
        t->frame[s->slot + k] = lanes[k];
    }
}

// Run a store: all lanes are computed before the first is stored.
static void run_store(struct thread *t, const struct action *s)
{
    union number lanes[LANES_MOST];
    const struct ir_stmt *o = s->origin;
    struct type type = o->u.store.buffer->elem;
    eval_run_lanes(t, s->x, lanes);
    for (unsigned k = 0; k < o->u.store.value->type.lanes; k++) {
        t->lane = k;
        void *element = eval_element(t, &s->access, o->span);
        if (!element)
            return;
        if (t->machine->watch)
            eval_watch_write(t, element, o->span);
        eval_change_number(t->machine, type, element, lanes[k]);
    }
    t->lane = 0;
}

// Run an expression for its effect.
static void run_eval(struct thread *t, const struct action *s)
{
    eval_run(t, s->x);
}

// Run a print.
static void run_print(struct thread *t, const struct action *s)
{
    char c;
    uint32_t n = 0;
    enum printed_kind kind;
    const struct ir_stmt *o = s->origin;
    const char *at = o->u.print.text;
    struct buf line = {0};
    while ((kind = printed_next(&at, &c)) == PRINTED_CHAR ||
           kind == PRINTED_PLACE) {
        if (kind == PRINTED_CHAR)
            buf_char(&line, c);
        else {
            printed_value(&line, o->u.print.values[n]->type,
                          eval_run(t, s->values[n]));
            n++;
        }
    }
    if (t->machine->printed && !t->machine->is_stopped)
        buf_printf(t->machine->printed, "%s\n", line.n ? line.data : "");
    buf_free(&line);
}

// Run an alloc.
static void run_alloc(struct thread *t, const struct action *s)
{
    eval_allocate(t, s->array);
}

// Run a barrier: the only thread of its group has arrived.  Groups run
// instructions on matrices.
static void run_barrier(struct thread *t, const struct action *s)
{
    (void)t;
    (void)s;
}

// Set an iteration variable; false if it left its extent: a fault, unless a
// loop without iterations runs, which has no element to start.
static bool bind_iter(struct thread *t, const struct action *s, size_t i)
{
    const struct stage_iter *iter = &s->iters[i];
    int64_t extent = eval_run(t, iter->extent).i;
    int64_t value = eval_run(t, iter->binding).i;
    t->frame[iter->slot].i = value;
    if (t->empty && iter->is_reduce)
        return !t->machine->is_stopped;
    bool is_outside = value < 0 || value >= extent;
    if (is_outside && !t->empty)
        eval_stop(t->machine, EVAL_FAULT, s->origin->span,
                  "iteration variable `%s` is %lld, outside its extent %lld",
                  s->origin->u.stage.iters.at[i].var->name, (long long)value,
                  (long long)extent);
    return !t->machine->is_stopped && !is_outside;
}

// Run a stage.
static void run_stage(struct thread *t, const struct action *s)
{
    bool is_first = true;
    const struct code *predicate = t->empty ? s->y : s->x;
    if (t->empty && !s->other.n)
        return;
    if (predicate && !eval_run(t, predicate).i)
        return;
    for (size_t i = 0; i < s->n_iters; i++) {
        if (!bind_iter(t, s, i))
            return;
        is_first &=
            t->none || !s->iters[i].is_reduce || !t->frame[s->iters[i].slot].i;
    }
    if (is_first)
        eval_run_actions(t, &s->other);
    if (!t->empty)
        eval_run_actions(t, &s->body);
}

void eval_bind_action(struct action *s)
{
    switch (s->origin->kind) {
    case STMT_for: s->run = run_for; break;
    case STMT_if: s->run = run_if; break;
    case STMT_let:
    case STMT_var:
    case STMT_assign: s->run = run_let; break;
    case STMT_store: s->run = run_store; break;
    case STMT_eval: s->run = run_eval; break;
    case STMT_print: s->run = run_print; break;
    case STMT_alloc: s->run = run_alloc; break;
    case STMT_stage: s->run = run_stage; break;
    case STMT_launch: s->run = eval_launch; break;
    case STMT_copy: s->run = eval_copy; break;
    case STMT_barrier:
    case STMT_sync:
    case STMT_matrix:
    case STMT_COUNT: s->run = run_barrier; break;
    }
}
