// Counts operations.  A loop whose extent depends on the loops around it
// counts as often as it runs when they are half way, which is its mean for
// triangles and strides.  One that may be left counts for a few iterations.

#include "tools/ingot/work.h"

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/leave.h"
#include "ir/walk.h"

#include <math.h>

// The state of a count.
struct counter {
    struct arena arena;
    const struct ir_kernel *kernel;
    const struct eval_argument *values;
    struct map middles; // variables to their values half way
    struct work work;
};

// Iterations that a loop which may be left counts for.
static const double left_after = 32;

// How often something runs.
struct times {
    double all;    // in total
    double most;   // the same if no loop is left early
    double serial; // of these, one after another in one thread
};

// Return the distance of 1 and the next number of a type.
static double spacing(struct type type)
{
    double e = 1;
    while (ir_round_float(type, 1 + e / 2) > 1)
        e /= 2;
    return e;
}

// Return the value of an integer expression half way through the loops, or
// `otherwise` if that depends on data.
static double middle_value(struct counter *c, struct ir_expr *x,
                           double otherwise)
{
    int64_t value;
    struct ir_expr *y = ir_substitute(&c->arena, x, &c->middles, NULL);
    if (ir_is_of_params(y) && ir_eval_int(c->kernel, c->values, y, &value))
        return (double)value;
    c->work.is_estimate = true;
    return otherwise;
}

// Take note of the value of a variable half way.
static void set_middle(struct counter *c, const struct ir_var *var,
                       struct ir_expr *value)
{
    if (type_is_integer(var->type))
        map_set(&c->middles, var,
                ir_substitute(&c->arena, value, &c->middles, NULL));
}

// ---- Expressions ----------------------------------------------------------

static double operations_of(struct counter *c, const struct ir_expr *x);

// Return the operations of one node, without its operands.
static double own_operations(struct counter *c, const struct ir_expr *x)
{
    double e = type_is_float(x->type) ? spacing(x->type) : 0;
    switch (x->op) {
    case OP_const:
    case OP_var:
    case OP_index:
    case OP_load:
    case OP_select:
    case OP_ramp:
    case OP_broadcast:
    case OP_lanes:
    case OP_lane: return 0;
    case OP_cast: c->work.conversion = fmax(c->work.conversion, e); return 0;
    default: break;
    }
    c->work.arithmetic = fmax(c->work.arithmetic, e);
    return e == 0 ? 0 : x->op == OP_fma ? 2 : 1;
}

// Return the operations of an expression: of a choice, those of the costlier
// arm.
static double operations_of(struct counter *c, const struct ir_expr *x)
{
    double n = own_operations(c, x);
    for (uint32_t i = 0; i < x->n && x->op != OP_select; i++)
        n += operations_of(c, x->args[i]);
    if (x->op == OP_select)
        n += operations_of(c, x->args[0]) +
             fmax(operations_of(c, x->args[1]), operations_of(c, x->args[2]));
    return n;
}

// ---- Statements -----------------------------------------------------------

static void count_block(struct counter *c, const struct ir_block *b,
                        struct times times);

// Count one run of a statement that evaluates an expression.
static void count_value(struct counter *c, const struct ir_expr *value,
                        struct times times)
{
    c->work.steps += times.all;
    c->work.most += times.most;
    c->work.operations += times.all * operations_of(c, value);
}

// Note a reduction of so many terms.
static void note_terms(struct counter *c, double terms)
{
    c->work.terms = fmax(c->work.terms, terms);
}

// Count a loop.
static void count_loop(struct counter *c, const struct ir_for *f,
                       struct times times)
{
    struct arena *a = &c->arena;
    double n = fmax(0, middle_value(c, ir_for_extent(a, f), 1));
    enum axis_kind kind = axis_kind(f->axis);
    struct ir_expr *half = ir_mul(a, ir_int(a, (int64_t)(n / 2)), f->step);
    if (type_is_index(f->var->type))
        set_middle(c, f->var, ir_add(a, f->from, half));
    times.most *= n;
    if (ir_loop_leaves(f) && n > left_after) {
        c->work.is_estimate = true;
        n = left_after;
    }
    times.all *= n;
    if (kind == AXIS_SERIAL || kind == AXIS_UNROLL)
        times.serial *= n;
    count_block(c, &f->body, times);
}

// Return the most iterations that a variable of a stage counts, as far as that
// follows from the arrays that it is an index of.
static double widest(struct counter *c, const struct ir_stage *s,
                     const struct ir_var *var)
{
    double most = 1;
    ir_foreach_expr_in(x, &s->body)
        for (uint32_t d = 0; x->op == OP_load && d < x->n; d++)
            if (ir_mentions(x->args[d], var))
                most = fmax(most, middle_value(c, x->u.buffer->shape[d], 1));
    return most;
}

// Count a stage: its loops are around it.
static void count_stage(struct counter *c, const struct ir_stage *s,
                        struct times times)
{
    double terms = 1, runs = 1;
    vec_foreach(it, &s->iters) {
        set_middle(c, it->var, it->binding);
        if (!it->is_reduce)
            continue;
        double most = widest(c, s, it->var);
        runs *= fmax(1, middle_value(c, it->extent, 1));
        terms *= fmax(1, middle_value(c, it->extent, most));
    }
    note_terms(c, terms);
    struct times once = {times.all / runs, times.most / runs, 1};
    struct times each = {times.all, times.most, 1};
    count_block(c, &s->init, once);
    count_block(c, &s->body, each);
}

// Count the costlier branch.
static void count_branch(struct counter *c, const struct ir_stmt *s,
                         struct times times)
{
    struct work before = c->work;
    count_block(c, &s->u.branch.otherwise, times);
    struct work otherwise = c->work;
    c->work.operations = before.operations;
    c->work.steps = before.steps;
    c->work.most = before.most;
    count_block(c, &s->u.branch.then, times);
    if (otherwise.operations > c->work.operations) {
        c->work.operations = otherwise.operations;
        c->work.steps = otherwise.steps;
        c->work.most = otherwise.most;
    }
    count_value(c, s->u.branch.cond, times);
}

// Return whether an expression loads from an array.
static bool loads(struct ir_expr *x, const struct ir_buffer *buffer)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_load && e->u.buffer == buffer)
            return true;
    return false;
}

// Count one statement.
static void count_stmt(struct counter *c, struct ir_stmt *s, struct times times)
{
    s = ir_at_once(&c->arena, s);
    switch ((int)s->kind) {
    case STMT_for: count_loop(c, &s->u.loop, times); return;
    case STMT_if: count_branch(c, s, times); return;
    case STMT_stage: count_stage(c, &s->u.stage, times); return;
    case STMT_launch: count_block(c, &s->u.launch.body, times); return;
    case STMT_let:
        set_middle(c, s->u.let.var, s->u.let.value);
        count_value(c, s->u.let.value, times);
        return;
    case STMT_var: count_value(c, s->u.let.value, times); return;
    case STMT_assign:
        if (ir_mentions(s->u.let.value, s->u.let.var))
            note_terms(c, times.serial);
        count_value(c, s->u.let.value, times);
        return;
    case STMT_store:
        if (loads(s->u.store.value, s->u.store.buffer))
            note_terms(c, times.serial);
        count_value(c, s->u.store.value, times);
        return;
    case STMT_eval:
        note_terms(c, times.all);
        count_value(c, s->u.value, times);
        return;
    }
}

// Count the statements of a block.
static void count_block(struct counter *c, const struct ir_block *b,
                        struct times times)
{
    for (size_t i = 0; i < b->n; i++)
        count_stmt(c, b->at[i], times);
}

struct work work_count(const struct ir_kernel *kernel,
                       const struct eval_argument *values)
{
    struct counter c = {
        .kernel = kernel, .values = values, .work = {.terms = 1}};
    c.middles.arena = &c.arena;
    count_block(&c, &kernel->body, (struct times){1, 1, 1});
    arena_reset(&c.arena);
    return c.work;
}
