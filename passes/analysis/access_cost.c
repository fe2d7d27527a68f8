// What every access of a kernel costs: finds them, and what is known there.
//
// On the way, `let` values and loop variables are replaced by what they are,
// over counters of the loops, and indices of 32 and 64 bits by `int`.

#include "passes/analysis/access_cost.h"

#include "ir/build.h"
#include "ir/matrix.h"
#include "ir/walk.h"
#include "passes/analysis/access_sample.h"
#include "passes/analysis/copies.h"

enum { PARTS_MOST = 1000 };

// The state of the walk.
struct costing {
    struct arena *arena;        // of the result
    struct arena work, scratch; // of the walk; of one access
    struct access_place place;
    struct map values; // variables -> what they are
    struct ir_stmt *at;
    uint32_t depth;
    const struct ir_expr *copied; // what a store to shared memory copies
    struct access_costs found;
};

// How much was known at some point.
struct costing_mark {
    struct facts_mark facts;
    size_t counters, guards;
};

// Return how much is known.
static struct costing_mark mark(const struct costing *c)
{
    return (struct costing_mark){facts_mark(&c->place.facts),
                                 c->place.counters.n, c->place.guards.n};
}

// Forget what has been learned since.
static void leave(struct costing *c, struct costing_mark m)
{
    facts_leave(&c->place.facts, m.facts);
    c->place.counters.n = m.counters;
    c->place.guards.n = m.guards;
}

// Replace a variable by what it is, and an index value by one of type `int`.
static struct ir_expr *simple_rule(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    const struct costing *c = context;
    struct ir_expr *known =
        x->op == OP_var ? map_get(&c->values, x->u.var) : NULL;
    int64_t value;
    if (known)
        return known;
    if (!type_is_index(x->type) || x->type.lanes != 1)
        return x;
    if (ir_int_value(x, &value))
        return ir_int(a, value);
    if (x->op == OP_cast)
        return ir_cast(a, type_scalar(TYPE_int), x->args[0]);
    return ir_cast(a, type_scalar(TYPE_int), x);
}

// Return an expression in terms of sizes, positions and counters.
static struct ir_expr *simple(struct costing *c, struct ir_expr *x)
{
    return ir_rewrite(&c->work, x, simple_rule, c);
}

// Learn that a condition holds, or that it does not.
static void assume(struct costing *c, struct ir_expr *condition, bool holds)
{
    if (condition->op == OP_not) {
        assume(c, condition->args[0], !holds);
    } else if (condition->op == (holds ? OP_and : OP_or)) {
        assume(c, condition->args[0], holds);
        assume(c, condition->args[1], holds);
    } else {
        struct access_guard g = {condition, holds};
        vec_push(&c->work, &c->place.guards, g);
        facts_assume(&c->place.facts, condition, holds);
    }
}

// Add an access.
static void add(struct costing *c, enum access_kind kind, struct span span,
                const struct ir_buffer *buffer, struct ir_expr *index,
                struct type type)
{
    if (buffer->space != SPACE_shared && buffer->space != SPACE_global)
        return;
    struct access_cost cost = {.span = span.source ? span : c->at->span,
                               .launch = c->place.launch,
                               .buffer = buffer,
                               .kind = kind,
                               .bytes = (uint32_t)type_bytes(type),
                               .depth = c->depth};
    cost.is_copy = c->copied && c->copied->u.buffer == buffer &&
                   c->copied->args[0] == index && kind == ACCESS_read;
    index = simple(c, index->op == OP_ramp ? index->args[0] : index);
    access_sample(&c->scratch, &c->place, index, &cost);
    arena_reset(&c->scratch);
    vec_push(c->arena, &c->found, cost);
}

// Look for accesses in an expression; those of operands that another decides
// on are under that condition.
static void cost_expr(struct costing *c, struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    struct ir_expr *first =
        info->flags & OP_LAZY ? simple(c, x->args[0]) : NULL;
    for (uint32_t i = 0; i < x->n; i++) {
        struct costing_mark before = mark(c);
        if (first && i > 0)
            assume(c, first, x->op == OP_select ? i == 1 : x->op == OP_and);
        cost_expr(c, x->args[i]);
        leave(c, before);
    }
    if ((info->flags & (OP_READS | OP_WRITES)) && x->op != OP_place)
        add(c, info->flags & OP_WRITES ? ACCESS_atomic : ACCESS_read, x->span,
            x->u.buffer, x->args[0], x->type);
}

// Add the access of an instruction that moves matrices between registers and
// shared memory: each lane names the place of a row of 16 bytes (also those
// that the instructions for less than four matrices do not ask).  What other
// matrix instructions and TMA copies read there is laid out for them.
static void cost_matrix(struct costing *c, const struct ir_stmt *s)
{
    struct matrix_info info = matrix_info(s->u.matrix.op);
    struct type row = type_vector(type_scalar(TYPE_u16), 8);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        struct ir_expr *at = s->u.matrix.tiles[i].at;
        if (at && at->u.buffer->space == SPACE_shared &&
            (info.kind == MATRIX_LOAD || info.kind == MATRIX_STORE))
            add(c, info.kind == MATRIX_LOAD ? ACCESS_read : ACCESS_write,
                at->span, at->u.buffer, at->args[0], row);
    }
}

// Return the most iterations of a loop between these values; 0 if there is no
// number.
static int64_t most_iterations(const struct facts *f,
                               const struct ir_expr *from,
                               const struct ir_expr *to,
                               const struct ir_expr *step)
{
    struct interval low = facts_range(f, from), high = facts_range(f, to);
    struct interval by = facts_range(f, step);
    struct interval length = interval_add(high, interval_negate(low));
    bool is_open = length.hi == INT64_MAX || length.hi <= 0 || by.lo <= 0;
    return is_open ? 0 : (length.hi - 1) / by.lo + 1;
}

// Enter a loop: its variable is the first value and steps from there.
static void enter_loop(struct costing *c, const struct ir_for *loop)
{
    struct arena *a = &c->work;
    struct facts *f = &c->place.facts;
    struct ir_expr *from = simple(c, loop->from), *to = simple(c, loop->to);
    struct ir_expr *step = simple(c, loop->step);
    struct ir_var *counter =
        ir_var_new(a, loop->var->name, from->type, VAR_loop, loop->var->span);
    struct ir_expr *count = ir_read(a, counter);
    struct ir_expr *value = ir_add(a, from, ir_mul(a, step, count));
    int64_t most = most_iterations(f, from, to, step);
    struct access_counter entry = {counter, most};
    vec_push(a, &c->place.counters, entry);
    map_set(&c->values, loop->var, value);
    facts_assume(f, ir_binary(a, OP_ge, count, ir_zero(a, from->type)), true);
    if (most)
        facts_assume(
            f, ir_binary(a, OP_lt, count, ir_const_int(a, from->type, most)),
            true);
    if (!ir_is_const(from) || !ir_is_const(to))
        assume(c, ir_binary(a, OP_lt, value, to), true);
}

// Learn what a `let` is, unless it is data, or grows with every `let` before.
static void enter_let(struct costing *c, const struct ir_stmt *s)
{
    size_t parts = 0;
    struct ir_expr *value = simple(c, s->u.let.value);
    ir_foreach_expr(x, value)
        parts++;
    if (ir_is_stable(value) && !type_is_float(value->type) &&
        parts <= PARTS_MOST)
        map_set(&c->values, s->u.let.var, value);
}

// Enter a grid.
static void enter_launch(struct costing *c, struct ir_stmt *s)
{
    axis_set threads = 0;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (axis_kind((enum axis)axis) == AXIS_THREAD)
            threads |= 1u << axis;
    c->place.launch = &s->u.launch;
    c->place.divergence = divergence_start(&c->work, threads);
    divergence_find(&c->place.divergence, &s->u.launch.body);
    facts_enter(&c->place.facts, s);
}

static void cost_block(struct costing *c, struct ir_block *block);

// Look at the blocks inside a statement: of a branch under its condition.
static void cost_inside(struct costing *c, struct ir_stmt *s)
{
    struct ir_block *inside[IR_BLOCKS_MOST];
    struct ir_expr *condition =
        s->kind == STMT_if ? simple(c, s->u.branch.cond) : NULL;
    uint32_t n = ir_stmt_blocks(s, inside);
    for (uint32_t k = 0; k < n; k++) {
        struct costing_mark outside = mark(c);
        if (condition)
            assume(c, condition, k == 0);
        cost_block(c, inside[k]);
        leave(c, outside);
    }
}

// Look at a statement and what is in it.
static void cost_stmt(struct costing *c, struct ir_stmt *s)
{
    struct costing_mark before = mark(c);
    s = ir_at_once(&c->work, s);
    bool is_loop = s->kind == STMT_for;
    c->at = s;
    bool fills =
        s->kind == STMT_store && s->u.store.buffer->space == SPACE_shared;
    c->copied = fills ? copies_source(s) : NULL;
    if (s->kind == STMT_launch)
        enter_launch(c, s);
    else
        ir_foreach_place(place, s)
            cost_expr(c, *place);
    c->copied = NULL;
    if (s->kind == STMT_store)
        add(c, ACCESS_write, s->span, s->u.store.buffer, s->u.store.index[0],
            s->u.store.value->type);
    if (s->kind == STMT_matrix)
        cost_matrix(c, s);
    if (s->kind == STMT_let)
        enter_let(c, s);
    if (is_loop)
        enter_loop(c, &s->u.loop);
    c->depth += is_loop;
    cost_inside(c, s);
    c->depth -= is_loop;
    leave(c, before);
}

// Look at the statements of a block.
static void cost_block(struct costing *c, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++)
        cost_stmt(c, block->at[i]);
}

// Give the sizes that are known their values.
static void set_sizes(struct costing *c, const struct ir_kernel *kernel,
                      const int64_t *sizes)
{
    for (size_t i = 0; sizes && i < kernel->params.n; i++) {
        struct ir_var *var = kernel->params.at[i].var;
        if (var && type_is_index(var->type) && sizes[i] >= 0)
            map_set(&c->values, var, ir_int(&c->work, sizes[i]));
    }
}

struct access_costs access_costs(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 const int64_t *sizes)
{
    struct costing c = {.arena = a};
    c.values.arena = &c.work;
    facts_start(&c.place.facts, &c.work, kernel);
    set_sizes(&c, kernel, sizes);
    cost_block(&c, (struct ir_block *)&kernel->body);
    arena_reset(&c.work);
    arena_reset(&c.scratch);
    return c.found;
}

double access_excess(const struct access_cost *cost)
{
    return cost->worst.least ? (double)cost->worst.taken / cost->worst.least
                             : 1;
}

const char *access_kind_name(enum access_kind kind)
{
    static const char *const names[] = {"read", "write", "atomic"};
    return names[kind];
}

const char *cost_basis_name(enum cost_basis basis)
{
    static const char *const names[] = {"proved", "assumed", "unknown"};
    return names[basis];
}
