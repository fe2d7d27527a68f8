// Which loops have to be unrolled so that local arrays become registers.

#include "passes/lower/registers.h"

#include "ir/base/map.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"

enum { BYTES_MOST = 1024 };

// A look at all accesses of one array.
struct promotion {
    struct pass *p;
    const struct ir_buffer *buffer;
    struct VEC(struct ir_stmt *) around; // the loops, innermost last
    struct map values;                   // `let`s -> their values
    struct VEC(struct ir_stmt *) loops;  // those that index the array
    bool is_dynamic;                     // an index stays no number
};

// Return how often a loop runs if it may be expanded, else 0.
static int64_t iterations(struct pass *p, struct ir_stmt *s)
{
    int64_t n, from, step;
    enum axis_kind kind = axis_kind(s->u.loop.axis);
    bool is_number = ir_int_value(s->u.loop.from, &from) &&
                     ir_int_value(s->u.loop.step, &step) &&
                     ir_int_value(ir_for_extent(p->scratch, &s->u.loop), &n);
    bool is_free = kind == AXIS_SERIAL || kind == AXIS_UNROLL;
    return is_number && is_free ? n : 0;
}

// Return whether a loop has a statement that is not to be repeated.
static bool has_single(const struct ir_for *loop)
{
    ir_foreach_stmt(s, &loop->body)
        if (s->kind == STMT_barrier ||
            (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared))
            return true;
    return false;
}

static void follow_index(struct promotion *m, const struct ir_expr *index);

// Look at a variable in an index.
static void follow_var(struct promotion *m, const struct ir_var *var)
{
    struct ir_expr *value = map_get(&m->values, var);
    if (value) {
        follow_index(m, value);
        return;
    }
    for (size_t i = m->around.n; i-- > 0;) {
        struct ir_stmt *s = m->around.at[i];
        if (s->u.loop.var != var)
            continue;
        m->is_dynamic |= has_single(&s->u.loop) || iterations(m->p, s) <= 0;
        vec_push(m->p->scratch, &m->loops, s);
        return;
    }
    m->is_dynamic = true;
}

// Look at an index.
static void follow_index(struct promotion *m, const struct ir_expr *index)
{
    ir_foreach_expr(x, index) {
        if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
            m->is_dynamic = true;
        if (x->op == OP_var)
            follow_var(m, x->u.var);
    }
}

// Look at the statements of a block.
static void walk(struct promotion *m, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        ir_foreach_expr_of(x, s)
            for (uint32_t k = m->buffer->threads; k < x->n; k++)
                if ((x->op == OP_load || x->op == OP_place) &&
                    x->u.buffer == m->buffer)
                    follow_index(m, x->args[k]);
        if (s->kind == STMT_let)
            map_set(&m->values, s->u.let.var, s->u.let.value);
        if (s->kind == STMT_store && s->u.store.buffer == m->buffer)
            for (uint32_t k = m->buffer->threads; k < s->u.store.n; k++)
                follow_index(m, s->u.store.index[k]);
        if (s->kind == STMT_for)
            vec_push(m->p->scratch, &m->around, s);
        ir_foreach_block(inner, s)
            walk(m, inner);
        m->around.n -= s->kind == STMT_for;
    }
}

// Return how many statements a block becomes when its marked loops are
// expanded, at most a little more than EXPANDED_MOST; *fits becomes false if
// one of them is too long.
static int64_t expanded(struct pass *p, struct ir_block *block, bool *fits)
{
    int64_t sum = 0;
    vec_foreach_value(s, block) {
        bool is_loop = s->kind == STMT_for;
        bool is_marked = is_loop && s->u.loop.axis == AXIS_unroll;
        int64_t one = is_loop && !is_marked ? LOOP_STATEMENTS : 1;
        ir_foreach_block(inner, s)
            one += expanded(p, inner, fits);
        if (is_marked) {
            int64_t times = iterations(p, s);
            *fits = *fits && times <= EXPANDED_MOST / one;
            one = times <= EXPANDED_MOST / one ? times * one : EXPANDED_MOST;
        }
        sum += one;
        sum = sum < EXPANDED_MOST ? sum : EXPANDED_MOST;
    }
    return sum;
}

// Return whether an array may fit into registers.
static bool is_small(const struct ir_buffer *b)
{
    int64_t bytes = (int64_t)type_bytes(b->elem), n;
    for (uint32_t i = b->threads; i < b->rank; i++)
        if (!ir_int_value(b->shape[i], &n) || !num_mul(bytes, n, &bytes))
            return false;
    return bytes <= BYTES_MOST;
}

// Mark the loops that index an array, if that makes all its indices numbers.
static bool promote(struct pass *p, const struct ir_buffer *b)
{
    struct promotion m = {.p = p, .buffer = b, .values = {.arena = p->scratch}};
    bool fits = true, changed = false;
    walk(&m, &p->kernel->body);
    if (m.is_dynamic)
        return false;
    enum axis *before = arena_array(p->scratch, enum axis, m.loops.n);
    for (size_t i = 0; i < m.loops.n; i++) {
        before[i] = m.loops.at[i]->u.loop.axis;
        changed |= before[i] != AXIS_unroll;
        m.loops.at[i]->u.loop.axis = AXIS_unroll;
    }
    if (changed)
        expanded(p, &p->kernel->body, &fits);
    for (size_t i = m.loops.n; i-- > 0 && !fits;)
        m.loops.at[i]->u.loop.axis = before[i];
    return changed && fits;
}

bool registers_mark(struct pass *p)
{
    struct VEC(const struct ir_buffer *) all = {0};
    bool changed = false;
    ir_foreach_stmt(s, &p->kernel->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_local &&
            is_small(s->u.buffer))
            vec_push(p->scratch, &all, s->u.buffer);
    for (size_t i = 0; i < all.n; i++)
        changed |= promote(p, all.at[i]);
    return changed;
}
