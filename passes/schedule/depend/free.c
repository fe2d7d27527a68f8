// Arrays in which no iterations conflict: each writes what it reads, and what
// another one writes is the same, or somewhere else.

#include "passes/schedule/depend/access.h"

#include "ir/accesses.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"

// Whether an array is used outside of a nest.
struct uses {
    size_t reads, writes;
};

// Return how often a block reads and writes an array.
static struct uses count_uses(struct ir_block *block,
                              const struct ir_buffer *buffer)
{
    struct uses u = {0};
    ir_foreach_stmt(s, block)
        u.writes += s->kind == STMT_store && s->u.store.buffer == buffer;
    ir_foreach_expr_in(x, block) {
        unsigned flags = ir_op_info(x->op)->flags;
        if (!(flags & (OP_READS | OP_WRITES)) || x->u.buffer != buffer)
            continue;
        u.reads += (flags & OP_READS) != 0;
        u.writes += (flags & OP_WRITES) != 0;
    }
    return u;
}

// Return whether a variable is one of the store's indices.
static bool is_index(const struct ir_stmt *store, const struct ir_var *var)
{
    for (uint32_t i = 0; i < store->u.store.n; i++)
        if (store->u.store.index[i]->u.var == var)
            return true;
    return false;
}

// Return whether a stored value may differ between two iterations that store
// the same element; `top` is what must not write arrays that it reads, or NULL.
static bool may_differ(const struct ir_stmt *store, struct ir_stmt *top)
{
    ir_foreach_expr(x, store->u.store.value) {
        unsigned flags = ir_op_info(x->op)->flags;
        if ((x->op == OP_var && x->u.var->kind != VAR_param &&
             !is_index(store, x->u.var)) ||
            flags & OP_WRITES ||
            (flags & OP_READS && top && ir_stmt_writes(top, x->u.buffer)))
            return true;
    }
    return false;
}

// Return whether a write is that of a stage that stores a function of the
// index alone: two of its iterations that store the same element store the
// same value, if `top` (or NULL) writes nothing that it reads.
static bool is_repeatable(const struct depend_access *x, struct ir_stmt *top)
{
    if (!x->stage || x->is_atomic || x->stmt->kind != STMT_store ||
        x->stage->u.stage.init.n || x->stage->u.stage.body.n != 1)
        return false;
    for (uint32_t i = 0; i < x->stmt->u.store.n; i++) {
        const struct ir_expr *index = x->stmt->u.store.index[i];
        if (index->op != OP_var || index->u.var->kind != VAR_iter)
            return false;
    }
    return !may_differ(x->stmt, top);
}

// Return whether two repeatable writes store the same function of the index.
static bool repeats(const struct depend_nest *w, const struct depend_access *x,
                    const struct depend_access *y)
{
    struct arena *a = w->pass->scratch;
    const struct ir_stmt *one = x->stmt, *other = y->stmt;
    struct map vars = {.arena = a};
    for (uint32_t i = 0; i < one->u.store.n; i++)
        map_set(&vars, one->u.store.index[i]->u.var, other->u.store.index[i]);
    struct ir_expr *value = ir_substitute(a, one->u.store.value, &vars, NULL);
    return ir_expr_equal(value, other->u.store.value);
}

// Return whether iterations on an axis have copies of their own of arrays in
// that space.
static bool is_private(const struct ir_buffer *b, enum axis axis)
{
    enum axis_kind kind = axis_kind(axis);
    return (space_is_own(b->space) &&
            (kind == AXIS_BLOCK || kind == AXIS_THREAD)) ||
           (b->space == SPACE_shared && kind == AXIS_BLOCK);
}

// Return whether all writes of an array in the nest are repeatable ones, and
// store the same function of the index.
static bool all_repeat(const struct depend_nest *w, const struct ir_buffer *b,
                       struct ir_stmt *top)
{
    const struct depend_access *first = NULL;
    vec_foreach(x, &w->accesses) {
        if (x->buffer != b || !x->writes)
            continue;
        first = first ? first : x;
        if (!is_repeatable(x, top) || !repeats(w, first, x))
            return false;
    }
    return true;
}

bool depend_repeats(const struct depend_nest *w, const struct ir_buffer *b)
{
    return all_repeat(w, b, NULL);
}

// Return a read of an array in the nest, or an atomic, which reads what it
// changes, that no write of the same iteration precedes, as a function finds; or
// NULL.
static const struct depend_access *find_uncovered(
    struct depend_nest *w, const struct depend_question *q,
    const struct ir_buffer *b,
    bool (*is_covered)(struct depend_nest *w, const struct depend_question *q,
                       const struct depend_access *read))
{
    vec_foreach(x, &w->accesses)
        if (x->buffer == b && (!x->writes || x->is_atomic) &&
            !is_covered(w, q, x))
            return x;
    return NULL;
}

// Return whether no iterations conflict in an array if each writes what it reads.
static bool may_be_free(struct depend_nest *w, const struct depend_question *q,
                        const struct ir_buffer *b)
{
    if (b->role != ROLE_alloc)
        return false;
    struct uses all = count_uses(&w->pass->kernel->body, b);
    struct uses here = count_uses(ir_alone(q->loops[0]), b);
    bool apart =
        (q->order || is_private(b, q->axis)) && all.reads == here.reads;
    return all.writes == here.writes && (apart || all_repeat(w, b, w->top));
}

bool depend_is_free(struct depend_nest *w, const struct depend_question *q,
                    const struct ir_buffer *b,
                    const struct depend_access **uncovered)
{
    *uncovered = NULL;
    if (!may_be_free(w, q, b))
        return false;
    *uncovered = find_uncovered(w, q, b, depend_is_covered);
    return !*uncovered;
}

bool depend_is_free_at_once(struct depend_nest *w,
                            const struct depend_question *q,
                            const struct ir_buffer *b)
{
    return may_be_free(w, q, b) && !find_uncovered(w, q, b, depend_has_twin);
}
