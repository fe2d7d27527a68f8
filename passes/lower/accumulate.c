// Keeps the elements that a reduction accumulates in variables while it runs.

#include "passes/lower/accumulate.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

// A search for accumulators in a block.
struct search {
    struct pass *p;
    struct ir_block *block;
    const struct ir_block *init; // what runs in front
    bool (*is_invariant)(const struct ir_expr *x, const void *context);
    const void *context; // of is_invariant
    struct accumulators *found;
    struct accumulator wanted; // whose accesses are looked at
};

// Return whether an access has the accumulator's index.
static bool same_index(const struct accumulator *acc, uint32_t n,
                       struct ir_expr *const *index)
{
    return n == acc->n && ir_all_equal(n, acc->index, index);
}

// Return whether all accesses of the wanted element's array have its index, and
// none is an atomic.
static bool are_equal(const struct search *s)
{
    const struct accumulator *wanted = &s->wanted;
    ir_foreach_stmt(stmt, s->block)
        if (stmt->kind == STMT_store &&
            stmt->u.store.buffer == wanted->buffer &&
            !same_index(wanted, stmt->u.store.n, stmt->u.store.index))
            return false;
    ir_foreach_expr_in(x, s->block)
        if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES) &&
            x->u.buffer == wanted->buffer &&
            (x->op != OP_load || !same_index(wanted, x->n, x->args)))
            return false;
    return true;
}

// Return the accumulator of an array, or NULL.
static struct accumulator *find(struct accumulators *all,
                                const struct ir_buffer *buffer)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].buffer == buffer)
            return &all->at[i];
    return NULL;
}

// Return whether one of these statements stores the wanted element, whatever
// holds.
static bool stores_wanted(const struct search *s, const struct ir_block *block)
{
    vec_foreach_value(stmt, block)
        if (stmt->kind == STMT_store &&
            stmt->u.store.buffer == s->wanted.buffer &&
            same_index(&s->wanted, stmt->u.store.n, stmt->u.store.index))
            return true;
    return false;
}

// Take the element that a statement stores if it is the only one of its array
// that the block accesses, and is accessed in any case: outside of a condition
// its index may lie outside of the array.
static void consider(struct search *s, struct ir_stmt *stmt)
{
    struct pass *p = s->p;
    if (stmt->kind != STMT_store || stmt->u.store.value->type.lanes > 1 ||
        find(s->found, stmt->u.store.buffer))
        return;
    struct ir_buffer *buffer = stmt->u.store.buffer;
    s->wanted = (struct accumulator){.buffer = buffer,
                                     .n = stmt->u.store.n,
                                     .index = stmt->u.store.index,
                                     .from = stmt};
    for (uint32_t i = 0; i < s->wanted.n; i++)
        if (!s->is_invariant(s->wanted.index[i], s->context))
            return;
    if (!are_equal(s) ||
        !(stores_wanted(s, s->block) || stores_wanted(s, s->init)))
        return;
    const char *name = arena_printf(p->scratch, "%s_acc", buffer->name);
    s->wanted.var = ir_var_new(p->arena, str_name(p->names, name), buffer->elem,
                               VAR_mutable, stmt->span);
    vec_push(p->scratch, s->found, s->wanted);
}

void accumulate_find(struct pass *p, struct ir_block *block,
                     const struct ir_block *init,
                     bool (*is_invariant)(const struct ir_expr *x,
                                          const void *context),
                     const void *context, struct accumulators *out)
{
    struct search s = {.p = p,
                       .block = block,
                       .init = init,
                       .is_invariant = is_invariant,
                       .context = context,
                       .found = out};
    ir_foreach_stmt(t, block)
        consider(&s, t);
}

// Read the variable where the element is loaded.
static struct ir_expr *read_variable(struct arena *a, struct ir_expr *x,
                                     void *context)
{
    struct accumulator *acc =
        x->op == OP_load ? find(context, x->u.buffer) : NULL;
    return acc ? ir_at(a, ir_read(a, acc->var), x->span) : x;
}

// Assign to the variable where the element is stored.
static void assign_variable(struct accumulators *of, struct ir_stmt *s)
{
    struct accumulator *acc =
        s->kind == STMT_store ? find(of, s->u.store.buffer) : NULL;
    if (!acc)
        return;
    struct ir_expr *value = s->u.store.value;
    s->kind = STMT_assign;
    s->u.let.var = acc->var;
    s->u.let.value = value;
}

void accumulate_replace(struct arena *a, struct ir_block *block,
                        struct accumulators *of)
{
    ir_rewrite_in(a, block, read_variable, of);
    ir_foreach_stmt(s, block)
        assign_variable(of, s);
}

// Take the store of an element out of an init that consists of stores only,
// and return its value; NULL, with the init as it was, if it does not, or the
// value depends on memory.
static struct ir_expr *take_init(struct pass *p, struct ir_block *init,
                                 const struct accumulator *acc)
{
    size_t at = 0, stores = 0;
    for (size_t i = 0; i < init->n; i++) {
        if (init->at[i]->kind != STMT_store)
            return NULL;
        if (init->at[i]->u.store.buffer == acc->buffer) {
            at = i;
            stores++;
        }
    }
    if (stores != 1)
        return NULL;
    struct ir_stmt *s = init->at[at];
    if (!ir_is_pure(s->u.store.value, true) ||
        !same_index(acc, s->u.store.n, s->u.store.index))
        return NULL;
    ir_splice(p->arena, init, at, &(struct ir_block){0});
    return s->u.store.value;
}

void accumulate_begin(struct pass *p, struct ir_block *init,
                      const struct accumulators *of, struct ir_block *out)
{
    size_t init_at = out->n;
    vec_foreach(acc, of) {
        struct ir_expr *value = take_init(p, init, acc);
        if (!value)
            value = ir_load(p->arena, acc->buffer, acc->n, acc->index);
        struct ir_stmt *s = ir_stmt_let(p->arena, acc->var, value);
        ir_append(p->arena, out, ir_stmt_from(s, acc->from));
    }
    for (size_t i = 0; i < init->n; i++)
        ir_insert(p->arena, out, init_at + i, init->at[i]);
}

void accumulate_end(struct pass *p, const struct accumulators *of,
                    struct ir_block *out)
{
    vec_foreach(acc, of) {
        struct ir_stmt *s =
            ir_stmt_store(p->arena, acc->buffer, acc->n, acc->index,
                          ir_read(p->arena, acc->var));
        ir_append(p->arena, out, ir_stmt_from(s, acc->from));
    }
}
