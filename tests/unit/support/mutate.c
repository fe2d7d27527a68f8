// Mutants.

#include "tests/unit/support/mutate.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

enum { NARROW_MOST = 128 };

// A walk to one place.
struct mutator {
    struct arena *arena;
    enum mutation what;
    size_t wanted, seen; // places
    bool is_probe;       // leave the place as it is, and put a fault before it
    bool is_near;        // it is in the statement just visited
    struct ir_buffer *result; // of the kernel
};

const char *mutation_name(enum mutation m)
{
    static const char *const names[] = {
#define MUTATION(name, spelling, kind, text) spelling,
#include "tests/unit/support/mutations.def"
#undef MUTATION
    };
    return names[m];
}

bool mutation_is_of_order(enum mutation m)
{
    enum { VALUE, ORDER };
    static const bool of_order[] = {
#define MUTATION(name, spelling, kind, text) kind == ORDER,
#include "tests/unit/support/mutations.def"
#undef MUTATION
    };
    return of_order[m];
}

// Count a place; return whether it is to be changed.
static bool is_wanted(struct mutator *m)
{
    bool is_here = m->seen++ == m->wanted;
    m->is_near |= is_here && m->is_probe;
    return is_here && !m->is_probe;
}

// Return whether the mutation is done.
static bool is_done(const struct mutator *m)
{
    return m->seen > m->wanted;
}

// ---- Indices --------------------------------------------------------------

// Return whether no index of an array needs more than 8 bits.
static bool is_small(const struct ir_buffer *b)
{
    int64_t elements = 1, extent;
    for (uint32_t i = 0; i < b->rank; i++) {
        if (!ir_int_value(b->shape[i], &extent))
            return false;
        elements *= extent;
    }
    return elements <= NARROW_MOST;
}

// Return the wrong form of an index, or NULL if the mutation leaves it.
static struct ir_expr *
changed_index(struct mutator *m, const struct ir_buffer *b, struct ir_expr *x)
{
    struct arena *a = m->arena;
    if (x->op == OP_ramp) {
        struct ir_expr *base = changed_index(m, b, x->args[0]);
        return base ? ir_ramp(a, base, x->type.lanes) : NULL;
    }
    if (x->type.lanes > 1)
        return NULL;
    if (m->what == MUTATION_shift_index)
        return ir_binary(a, OP_add, x, ir_const_int(a, x->type, 1));
    if (m->what != MUTATION_narrow_index || is_small(b))
        return NULL;
    struct type narrow = type_scalar(TYPE_i8);
    return ir_cast(a, x->type, ir_cast(a, narrow, x));
}

// Return a load or an atomic with another index, or NULL.
static struct ir_expr *changed_access(struct mutator *m, struct ir_expr *x)
{
    struct ir_expr *args[8];
    if (!ir_index_count(x) || x->n > sizeof args / sizeof *args)
        return NULL;
    struct ir_expr *index = changed_index(m, x->u.buffer, x->args[0]);
    for (uint32_t i = 1; i < x->n; i++)
        args[i] = x->args[i];
    args[0] = index;
    return index ? ir_with_args(m->arena, x, args) : NULL;
}

// ---- Expressions ----------------------------------------------------------

// Return a comparison that holds for equal operands too, or NULL.
static struct ir_expr *widened(struct arena *a, struct ir_expr *x)
{
    if (x->op != OP_lt && x->op != OP_gt)
        return NULL;
    return ir_binary(a, x->op == OP_lt ? OP_le : OP_ge, x->args[0], x->args[1]);
}

// Return the position on another axis, or NULL.
static struct ir_expr *other_axis(struct arena *a, struct ir_expr *x)
{
    switch ((int)x->u.axis) {
    case AXIS_thread_x: return ir_index_value(a, AXIS_thread_y);
    case AXIS_thread_y: return ir_index_value(a, AXIS_thread_x);
    case AXIS_block_x: return ir_index_value(a, AXIS_block_y);
    case AXIS_block_y: return ir_index_value(a, AXIS_block_x);
    }
    return NULL;
}

// Return x % 2 of the next x, or NULL.
static struct ir_expr *other_half(struct arena *a, struct ir_expr *x)
{
    if (x->op != OP_mod || !ir_is_int_const(x->args[1], 2))
        return NULL;
    struct ir_expr *one = ir_const_int(a, x->type, 1);
    return ir_binary(a, OP_mod, ir_binary(a, OP_add, x->args[0], one),
                     x->args[1]);
}

// Return the wrong form of an expression, or NULL if the mutation leaves it.
static struct ir_expr *changed(struct mutator *m, struct ir_expr *x)
{
    struct arena *a = m->arena;
    switch ((int)m->what) {
    case MUTATION_widen_compare: return widened(a, x);
    case MUTATION_shift_index:
    case MUTATION_narrow_index:
        return x->op == OP_load || ir_op_info(x->op)->flags & OP_WRITES
                   ? changed_access(m, x)
                   : NULL;
    case MUTATION_swap_subtract:
        return x->op == OP_sub ? ir_binary(a, OP_sub, x->args[1], x->args[0])
                               : NULL;
    case MUTATION_other_axis:
        return x->op == OP_index ? other_axis(a, x) : NULL;
    case MUTATION_zero_axis:
        return x->op == OP_index ? ir_const_int(a, x->type, 0) : NULL;
    case MUTATION_wrong_half: return other_half(a, x);
    }
    return mutation_of_mbarrier(a, m->what, x);
}

// Change one node of an expression.
static struct ir_expr *change_node(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    struct mutator *m = context;
    (void)a;
    struct ir_expr *wrong = is_done(m) ? NULL : changed(m, x);
    return wrong && is_wanted(m) ? wrong : x;
}

// ---- Statements -----------------------------------------------------------

// Return another constant of the type, or NULL if `x` is none.
static struct ir_expr *other_constant(struct arena *a, struct ir_expr *x)
{
    if (x->op != OP_const || x->type.lanes > 1)
        return NULL;
    if (type_is_float(x->type))
        return ir_const_float(a, x->type, x->u.f == 0 ? 1 : 0);
    if (x->type.kind == TYPE_bool)
        return ir_bool(a, !x->u.i);
    return ir_const_int(a, x->type, x->u.i + 1);
}

// Return the place of the first value that a statement gives, or NULL.
static struct ir_expr **initial_value(struct ir_stmt *s)
{
    if (s->kind == STMT_var)
        return &s->u.let.value;
    return s->kind == STMT_store ? &s->u.store.value : NULL;
}

// Change one part of a statement.
static void change_stmt(struct mutator *m, struct ir_stmt *s)
{
    struct ir_expr **value = initial_value(s), *wrong;
    struct arena *a = m->arena;
    switch ((int)m->what) {
    case MUTATION_drop_predicate:
        if (s->kind == STMT_if && is_wanted(m))
            s->u.branch.cond = ir_bool(a, true);
        return;
    case MUTATION_wrong_initial:
        wrong = value ? other_constant(a, *value) : NULL;
        if (wrong && is_wanted(m))
            *value = wrong;
        return;
    case MUTATION_late_wait:
        if (mutation_drops(MUTATION_drop_wait, s) && s->kind == STMT_sync &&
            is_wanted(m))
            s->u.sync.n++;
        return;
    case MUTATION_widen_loop:
        if (s->kind == STMT_for && is_wanted(m))
            s->u.loop.to = ir_binary(a, OP_add, s->u.loop.to, s->u.loop.step);
        return;
    case MUTATION_shift_index:
    case MUTATION_narrow_index:
        if (s->kind != STMT_store)
            return;
        wrong = changed_index(m, s->u.store.buffer, s->u.store.index[0]);
        if (wrong && is_wanted(m))
            s->u.store.index[0] = wrong;
        return;
    }
}

// Change the order of a block, or what is in it.
static void change_order(struct mutator *m, struct ir_block *b, size_t i)
{
    struct ir_stmt *s = b->at[i];
    static const struct ir_block none;
    if (mutation_drops(m->what, s) && is_wanted(m))
        ir_splice(m->arena, b, i, &none);
    if (m->what != MUTATION_swap_statements || i + 1 >= b->n ||
        !mutation_can_swap(s, b->at[i + 1]) || !is_wanted(m))
        return;
    b->at[i] = b->at[i + 1];
    b->at[i + 1] = s;
}

// Put a store outside of an array in front of a statement.
static void put_fault(struct mutator *m, struct ir_block *b, size_t i)
{
    struct arena *a = m->arena;
    struct ir_expr *at = ir_const_int(a, type_scalar(TYPE_idx64), -1);
    struct ir_buffer *result = m->result;
    ir_insert(a, b, i,
              ir_stmt_store(a, result, 1, &at, ir_zero(a, result->elem)));
    m->is_near = false;
}

// Change one place of a block.
static void change_block(struct mutator *m, struct ir_block *b)
{
    for (size_t i = 0; i < b->n && !is_done(m); i++) {
        struct ir_stmt *s = b->at[i];
        struct ir_block *inner[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inner);
        if (s->kind != STMT_launch)
            change_stmt(m, s);
        if (s->kind != STMT_launch && !is_done(m))
            ir_foreach_place(place, s)
                *place = ir_rewrite(m->arena, *place, change_node, m);
        if (!is_done(m))
            change_order(m, b, i);
        if (m->is_near)
            put_fault(m, b, i);
        for (uint32_t k = 0; k < n && !is_done(m); k++)
            change_block(m, inner[k]);
    }
}

// Walk over a copy of a kernel.
static struct ir_kernel *walk(struct mutator *m, const struct ir_kernel *kernel)
{
    struct ir_kernel *copy = ir_copy_kernel(m->arena, kernel);
    m->result = copy->params.at[copy->params.n - 1].buffer;
    change_block(m, &copy->body);
    return copy;
}

size_t mutation_sites(const struct ir_kernel *kernel, enum mutation what)
{
    struct arena a = {0};
    struct mutator m = {.arena = &a, .what = what, .wanted = SIZE_MAX};
    walk(&m, kernel);
    arena_reset(&a);
    return m.seen;
}

struct ir_kernel *mutation_apply(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 enum mutation what, size_t site)
{
    struct mutator m = {.arena = a, .what = what, .wanted = site};
    return walk(&m, kernel);
}

struct ir_kernel *mutation_probe(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 enum mutation what, size_t site)
{
    struct mutator m = {
        .arena = a, .what = what, .wanted = site, .is_probe = true};
    return walk(&m, kernel);
}
