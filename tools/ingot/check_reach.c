// Follows drawn threads through a kernel. Of each loop one iteration is taken;
// where a condition depends on data, both of its ways are.

#include "tools/ingot/check_reach.h"

#include "ir/accesses.h"
#include "ir/arith.h"
#include "ir/walk.h"

#include <string.h>

enum { NARROW_BITS = 16, CORNER_WALKS = 8 };

// ---- Goals ----------------------------------------------------------------

// Give a node `n` marks.
static void add_goals(struct reach *r, const void *node, size_t n)
{
    size_t *first = arena_new(r->arena, size_t);
    if (map_has(&r->goals, node))
        return;
    *first = r->n;
    r->n += n;
    map_set(&r->goals, node, first);
}

// Keep the numbers of a condition.
static void keep_numbers(struct reach *r, const struct ir_expr *condition)
{
    size_t most = sizeof r->numbers / sizeof *r->numbers;
    ir_foreach_expr(x, condition)
        if (x->op == OP_const && type_is_integer(x->type) && x->u.i > 1 &&
            r->n_numbers < most)
            r->numbers[r->n_numbers++] = x->u.i;
}

// Return whether an expression makes a number narrow.
static bool is_narrowing(const struct ir_expr *x)
{
    return x->op == OP_cast && type_is_integer(x->type) &&
           type_is_integer(x->args[0]->type) &&
           type_bits(x->type) <= NARROW_BITS &&
           type_bits(x->args[0]->type) > type_bits(x->type);
}

// Return whether an expression is the remainder of a constant.
static bool is_remainder(const struct ir_expr *x)
{
    return (x->op == OP_mod || x->op == OP_div) && type_is_integer(x->type) &&
           x->args[1]->op == OP_const && x->args[1]->u.i > 1;
}

// Note what of an expression is a goal.
static void note_expr(struct reach *r, struct ir_expr *x)
{
    if (x->op == OP_select) {
        add_goals(r, x, 2);
        keep_numbers(r, x->args[0]);
    } else if (is_remainder(x)) {
        add_goals(r, x, 2);
        keep_numbers(r, x->args[1]);
    } else if (is_narrowing(x))
        add_goals(r, x, 1);
}

// Return the condition of a copy by each thread; NULL: there is none.
static const struct ir_expr *condition_of(const struct ir_stmt *s)
{
    return ir_is_thread_copy(s) ? s->u.copy.where : NULL;
}

// Note what of a statement is a goal, and its variable.
static void note_stmt(struct reach *r, struct ir_stmt *s)
{
    const struct ir_var *var = NULL;
    const struct ir_expr *condition = condition_of(s);
    if (ir_stored(s))
        add_goals(r, s, condition ? 3 : 1);
    if (condition)
        keep_numbers(r, condition);
    switch ((int)s->kind) {
    case STMT_if:
        add_goals(r, s, 2);
        keep_numbers(r, s->u.branch.cond);
        break;
    case STMT_for: var = s->u.loop.var; break;
    case STMT_let:
    case STMT_var: var = s->u.let.var; break;
    }
    if (var)
        map_set(&r->slots, var, arena_new(r->arena, struct reach_slot));
}

// Note which expressions of a statement have goals in them.
static void note_places(struct reach *r, struct ir_stmt *s)
{
    ir_foreach_place(place, s)
        ir_foreach_expr(x, *place)
            if (map_has(&r->goals, x))
                map_set(&r->asked, *place, r);
}

struct reach *reach_open(struct arena *a, const struct ir_kernel *kernel)
{
    struct reach *r = arena_new(a, struct reach);
    r->arena = r->slots.arena = r->goals.arena = r->asked.arena = a;
    r->kernel = kernel;
    ir_foreach_stmt(s, &kernel->body)
        note_stmt(r, s);
    ir_foreach_expr_in(x, &kernel->body)
        note_expr(r, x);
    ir_foreach_stmt(s, &kernel->body)
        note_places(r, s);
    r->marks = arena_array(a, unsigned char, r->n + 1);
    return r;
}

// Mark a goal of a node, if it is one.
static void mark(struct reach *r, const void *node, size_t which)
{
    const size_t *first = map_get(&r->goals, node);
    if (first)
        r->marks[*first + which] = 1;
}

// ---- Values ---------------------------------------------------------------

// Return what is known of an expression.
static struct reach_value value_of(struct reach *r, const struct ir_expr *x);

// Return the value of a variable with a slot.
static struct reach_value slot_value(struct reach *r, struct reach_slot *slot)
{
    const struct ir_expr *x = slot->later;
    slot->later = NULL;
    if (x)
        slot->value = value_of(r, x);
    return slot->value;
}

// Return the value of a variable.
static struct reach_value variable(struct reach *r, const struct ir_var *var)
{
    const struct ir_kernel *k = r->kernel;
    struct reach_slot *slot = map_get(&r->slots, var);
    if (slot)
        return slot_value(r, slot);
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].var == var && !type_is_float(var->type))
            return (struct reach_value){true, r->values[i].scalar.i};
    return (struct reach_value){0};
}

// Note the value of an operand where it is a goal.
static void note_operand(struct reach *r, const struct ir_expr *x,
                         struct reach_value v)
{
    if (is_narrowing(x) &&
        v.i >> (type_bits(x->type) - (unsigned)type_is_signed(x->type)))
        mark(r, x, 0);
    if (is_remainder(x) && v.i / x->args[1]->u.i >= 1)
        mark(r, x, 0);
    if (is_remainder(x) && v.i / x->args[1]->u.i >= 2)
        mark(r, x, 1);
}

// Return whether an operation on whole numbers can be computed here.
static bool is_computed(const struct ir_expr *x)
{
    const struct arith *how = ir_arith(x->op);
    return x->op == OP_cast || (how && (how->on_int || how->test));
}

// Return what an operation makes of its operands.
static struct reach_value apply(struct reach *r, const struct ir_expr *x)
{
    union number in[3] = {{0}, {0}, {0}};
    struct reach_value out = {0}, v;
    const char *fault = NULL;
    bool is_known = x->n >= 1 && x->n <= 3;
    for (uint32_t i = 0; i < x->n; i++) {
        v = value_of(r, x->args[i]);
        is_known &= v.is_known && !type_is_float(x->args[i]->type);
        if (i < 3)
            in[i].i = v.i;
        if (i == 0 && v.is_known)
            note_operand(r, x, v);
    }
    bool is_plain = ir_op_info(x->op)->flags & OP_PURE && x->type.lanes <= 1 &&
                    !type_is_float(x->type);
    if (!is_known || !is_plain || !is_computed(x))
        return out;
    out.i = x->op == OP_cast
                ? ir_convert(x->type, x->args[0]->type, in[0], &fault).i
                : ir_apply(x->op, x->args[0]->type, in, &fault).i;
    out.is_known = !fault;
    return out;
}

// Return the value of a choice, both arms of which are looked at where it is
// not known.
static struct reach_value choice(struct reach *r, const struct ir_expr *x)
{
    struct reach_value c = value_of(r, x->args[0]);
    if (c.is_known) {
        mark(r, x, c.i ? 0 : 1);
        return value_of(r, x->args[c.i ? 1 : 2]);
    }
    mark(r, x, 0);
    mark(r, x, 1);
    value_of(r, x->args[1]);
    value_of(r, x->args[2]);
    return (struct reach_value){0};
}

// Return `a && b` or `a || b`, of which one operand may decide alone.
static struct reach_value both(struct reach *r, const struct ir_expr *x)
{
    struct reach_value a = value_of(r, x->args[0]);
    bool decides = x->op == OP_or;
    if (a.is_known && !!a.i == decides)
        return a;
    struct reach_value b = value_of(r, x->args[1]);
    if (b.is_known && !!b.i == decides)
        return b;
    b.is_known &= a.is_known;
    return b;
}

static struct reach_value value_of(struct reach *r, const struct ir_expr *x)
{
    r->nodes++;
    switch ((int)x->op) {
    case OP_const: return (struct reach_value){!type_is_float(x->type), x->u.i};
    case OP_var: return variable(r, x->u.var);
    case OP_index: return (struct reach_value){true, r->index[x->u.axis]};
    case OP_select: return choice(r, x);
    case OP_and:
    case OP_or: return both(r, x);
    }
    return apply(r, x);
}

// ---- Walks ----------------------------------------------------------------

uint64_t reach_random(uint64_t *state, uint64_t n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % n;
}

// Return one of the numbers from 0 to `n` - 1: a corner, one that a condition
// names, or any.
static int64_t draw(struct reach *r, int64_t n)
{
    if (n <= 1)
        return 0;
    if (r->walk < CORNER_WALKS)
        return r->walk & 1 ? n - 1 : 0;
    switch (reach_random(&r->random, 4)) {
    case 0: return 0;
    case 1: return n - 1;
    case 2:
        if (r->n_numbers) {
            int64_t x = r->numbers[reach_random(&r->random, r->n_numbers)];
            x += (int64_t)reach_random(&r->random, 3) - 1;
            return x < n ? x : n - 1;
        }
    }
    return (int64_t)reach_random(&r->random, (uint64_t)n);
}

static void walk_block(struct reach *r, const struct ir_block *b);

// Walk one iteration of a loop, if it has any.
static void walk_loop(struct reach *r, const struct ir_for *f)
{
    struct reach_slot *slot = map_get(&r->slots, f->var);
    struct reach_value *value = &slot->value;
    struct reach_value from = value_of(r, f->from), to = value_of(r, f->to);
    struct reach_value step = value_of(r, f->step);
    value->is_known = from.is_known && to.is_known && step.is_known;
    if (value->is_known && step.i > 0) {
        int64_t n = to.i > from.i ? (to.i - from.i - 1) / step.i + 1 : 0;
        if (!n)
            return;
        value->i = from.i + draw(r, n) * step.i;
    }
    walk_block(r, &f->body);
}

// Walk the ways of a condition that this thread can take.
static void walk_branch(struct reach *r, const struct ir_stmt *s)
{
    struct reach_value c = value_of(r, s->u.branch.cond);
    if (!c.is_known || c.i) {
        mark(r, s, 0);
        walk_block(r, &s->u.branch.then);
    }
    if (!c.is_known || !c.i) {
        mark(r, s, 1);
        walk_block(r, &s->u.branch.otherwise);
    }
}

// Walk a store or a copy of a thread: it is done, and its condition, if it has
// one, has ways.
static void walk_stored(struct reach *r, const struct ir_stmt *s)
{
    const struct ir_expr *condition = condition_of(s);
    mark(r, s, 0);
    if (!condition)
        return;
    struct reach_value c = value_of(r, condition);
    if (!c.is_known || c.i)
        mark(r, s, 1);
    if (!c.is_known || !c.i)
        mark(r, s, 2);
}

// Walk a `let`: its value is computed now if goals are in it.
static void walk_let(struct reach *r, const struct ir_stmt *s)
{
    struct reach_slot *slot = map_get(&r->slots, s->u.let.var);
    slot->later = s->u.let.value;
    if (map_has(&r->asked, s->u.let.value))
        slot_value(r, slot);
}

// Walk one statement.
static void walk_stmt(struct reach *r, const struct ir_stmt *s)
{
    switch ((int)s->kind) {
    case STMT_for: walk_loop(r, &s->u.loop); return;
    case STMT_if: walk_branch(r, s); return;
    case STMT_let: walk_let(r, s); return;
    }
    if (ir_stored(s))
        walk_stored(r, s);
    ir_foreach_place(place, (struct ir_stmt *)s)
        if (map_has(&r->asked, *place))
            value_of(r, *place);
}

// Walk the statements of a block.
static void walk_block(struct reach *r, const struct ir_block *b)
{
    for (size_t i = 0; i < b->n; i++)
        walk_stmt(r, b->at[i]);
}

// Walk a launch as one of its threads; each dimension is at the same corner in
// the first walks.
static void walk_launch(struct reach *r, const struct ir_launch *l)
{
    for (int d = 0; d < 3; d++) {
        int64_t n;
        if (!ir_eval_int(r->kernel, r->values, l->grid[d], &n) || n < 1)
            return;
        r->grid[d] = n;
    }
    for (int d = 0; d < 3; d++) {
        unsigned walk = r->walk;
        r->walk = walk < CORNER_WALKS ? walk >> 1 : walk;
        r->index[AXIS_block_x + d] = draw(r, r->grid[d]);
        r->walk = walk < CORNER_WALKS ? walk >> 2 : walk;
        r->index[AXIS_thread_x + d] = draw(r, l->block[d]);
        r->walk = walk;
    }
    walk_block(r, &l->body);
}

void reach_mark(struct reach *r, const struct eval_argument *values,
                unsigned walks)
{
    const struct ir_block *body = &r->kernel->body;
    memset(r->marks, 0, r->n);
    r->values = values;
    r->random = 1;
    for (r->walk = 0; r->walk < walks; r->walk++)
        for (size_t i = 0; i < body->n; i++)
            if (body->at[i]->kind == STMT_launch)
                walk_launch(r, &body->at[i]->u.launch);
}
