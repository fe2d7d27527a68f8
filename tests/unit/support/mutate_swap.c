// Which neighbours change places in mutants.

#include "tests/unit/support/mutate.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"

// Two statements, and whether the first changes what the second accesses.
struct pair {
    struct ir_block second;
    bool meets;
};

// Elements of an array that a store writes, and whether another statement reads
// some of them.
struct elements {
    const struct ir_buffer *buffer;
    int64_t from, to;
    bool is_read;
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

// Note a read of the elements.
static void see_elements(struct ir_expr *x, void *context)
{
    struct elements *e = context, read = {0};
    if (x->op == OP_load && x->u.buffer == e->buffer)
        e->is_read |= !find_elements(x->args[0], &read) ||
                      (read.from < e->to && e->from < read.to);
}

// Return whether both store to elements that the other does not touch.
static bool are_apart(struct ir_stmt *s, struct ir_stmt *t)
{
    if (s->kind != STMT_store || t->kind != STMT_store)
        return false;
    struct elements x = {.buffer = s->u.store.buffer};
    struct elements y = {.buffer = t->u.store.buffer};
    if (!find_elements(s->u.store.index[0], &x) ||
        !find_elements(t->u.store.index[0], &y))
        return false;
    ir_each_expr(s->u.store.value, see_elements, &y);
    ir_each_expr(t->u.store.value, see_elements, &x);
    bool meet = x.buffer == y.buffer && x.from < y.to && y.from < x.to;
    return !x.is_read && !y.is_read && !meet;
}

// Note what an atomic changes.
static void see_atomic(struct ir_expr *x, void *context)
{
    struct pair *p = context;
    if (ir_op_info(x->op)->flags & OP_WRITES)
        p->meets |= ir_block_reads(&p->second, x->u.buffer);
}

// Note what a read of a variable meets.
struct reader {
    const struct ir_var *var;
    bool found;
};

// Look for a variable.
static void see_read(struct ir_expr *x, void *context)
{
    struct reader *r = context;
    r->found |= x->op == OP_var && x->u.var == r->var;
}

// Return whether threads meet at a statement.
static bool waits(const struct ir_stmt *s)
{
    return s->kind == STMT_barrier || s->kind == STMT_sync;
}

// Note an access to memory that threads share.
static void see_shared(struct ir_expr *x, void *context)
{
    bool *found = context;
    bool is_access = ir_op_info(x->op)->flags & (OP_READS | OP_WRITES);
    *found |= is_access && x->u.buffer->space != SPACE_local;
}

// Note a store to memory that threads share.
static void see_store(struct ir_stmt *s, void *context)
{
    bool *found = context;
    *found |= s->kind == STMT_store && s->u.store.buffer->space != SPACE_local;
}

// Return whether a block accesses memory that threads share.
static bool accesses_memory(struct ir_block *b)
{
    bool found = false;
    ir_each_expr_in(b, see_shared, &found);
    ir_each_stmt(b, see_store, &found);
    return found;
}

// Note what a statement changes.
static void see_change(struct ir_stmt *s, void *context)
{
    struct pair *p = context;
    if (s->kind == STMT_store)
        p->meets |= ir_block_reads(&p->second, s->u.store.buffer);
    if (s->kind == STMT_assign) {
        struct reader r = {s->u.let.var, false};
        ir_each_expr_in(&p->second, see_read, &r);
        p->meets |= r.found;
    }
    p->meets |= waits(s) && accesses_memory(&p->second);
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
    struct pair there = {{.at = &t, .n = 1}, false};
    struct pair back = {{.at = &s, .n = 1}, false};
    bool meet = waits(s) || waits(t);
    if (!is_movable(s, meet) || !is_movable(t, meet) || are_apart(s, t) ||
        are_sums(s, t))
        return false;
    if (s->kind == STMT_let && ir_uses_declared(&there.second, s))
        return false;
    ir_each_stmt(&back.second, see_change, &there);
    ir_each_stmt(&there.second, see_change, &back);
    ir_each_expr_in(&back.second, see_atomic, &there);
    ir_each_expr_in(&there.second, see_atomic, &back);
    return there.meets || back.meets;
}
