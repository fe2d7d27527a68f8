// Which neighbours change places in mutants.

#include "tests/unit/support/mutate.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"

// Elements of an array that a store writes.
struct elements {
    const struct ir_buffer *buffer;
    int64_t from, to;
};

// Find the elements that an index names; false if they are not known.
static bool find_elements(const struct ir_expr *index, struct elements *e)
{
    bool is_ramp = index->op == OP_ramp;
    e->to = index->type.lanes;
    if (!ir_int_value(is_ramp ? index->args[0] : index, &e->from))
        return false;
    e->to += e->from;
    return true;
}

// Return whether both are of the same array, and have some in common.
static bool overlap(const struct elements *x, const struct elements *y)
{
    return x->buffer == y->buffer && x->from < y->to && y->from < x->to;
}

// Return whether a value is computed from some of the elements.
static bool reads_elements(const struct ir_expr *value,
                           const struct elements *e)
{
    ir_foreach_expr(x, value) {
        struct elements read = {.buffer =
                                    x->op == OP_load ? x->u.buffer : NULL};
        if (read.buffer == e->buffer &&
            (!find_elements(x->args[0], &read) || overlap(&read, e)))
            return true;
    }
    return false;
}

// Return whether both store to elements that the other does not access.
static bool are_apart(struct ir_stmt *s, struct ir_stmt *t)
{
    if (s->kind != STMT_store || t->kind != STMT_store)
        return false;
    struct elements x = {.buffer = s->u.store.buffer};
    struct elements y = {.buffer = t->u.store.buffer};
    return find_elements(s->u.store.index[0], &x) &&
           find_elements(t->u.store.index[0], &y) && !overlap(&x, &y) &&
           !reads_elements(s->u.store.value, &y) &&
           !reads_elements(t->u.store.value, &x);
}

// Return whether threads meet at a statement.
static bool waits(const struct ir_stmt *s)
{
    return s->kind == STMT_barrier || s->kind == STMT_sync;
}

// Return whether a statement accesses memory that threads share.
static bool accesses_memory(const struct ir_stmt *root)
{
    ir_foreach_expr_from(x, root)
        if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES) &&
            x->u.buffer->space != SPACE_local)
            return true;
    ir_foreach_stmt_from(s, root)
        if (s->kind == STMT_store && s->u.store.buffer->space != SPACE_local)
            return true;
    return false;
}

// Return whether what the first statement changes matters to the second.
static bool matters(struct ir_stmt *first, struct ir_stmt *second)
{
    ir_foreach_stmt_from(s, first) {
        if ((s->kind == STMT_store &&
             ir_stmt_reads(second, s->u.store.buffer)) ||
            (s->kind == STMT_assign &&
             ir_stmt_mentions(second, s->u.let.var)) ||
            (waits(s) && accesses_memory(second)))
            return true;
    }
    ir_foreach_expr_from(x, first)
        if (ir_op_info(x->op)->flags & OP_WRITES &&
            ir_stmt_reads(second, x->u.buffer))
            return true;
    return false;
}

// Return whether a statement may change its place: one that holds others only
// with one at which threads meet.
static bool is_movable(const struct ir_stmt *s, bool meet)
{
    bool is_compound = s->kind == STMT_if || s->kind == STMT_for;
    return s->kind != STMT_alloc && s->kind != STMT_var &&
           (meet || !is_compound);
}

// Return whether both add to the same variable: in any order.
static bool are_sums(const struct ir_stmt *s, const struct ir_stmt *t)
{
    return s->kind == STMT_assign && t->kind == STMT_assign &&
           s->u.let.var == t->u.let.var &&
           s->u.let.value->op == t->u.let.value->op &&
           ir_op_info(s->u.let.value->op)->flags & OP_COMMUTES;
}

bool mutation_can_swap(struct ir_stmt *s, struct ir_stmt *t)
{
    bool meet = waits(s) || waits(t);
    if (!is_movable(s, meet) || !is_movable(t, meet) || are_apart(s, t) ||
        are_sums(s, t))
        return false;
    if (s->kind == STMT_let && ir_stmt_uses_declared(t, s))
        return false;
    return matters(s, t) || matters(t, s);
}
