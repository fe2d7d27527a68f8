// Whether a loop may run on the axis of a loop around it.

#include "passes/analysis/nested.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"

// The look at an inner loop.
struct search {
    struct arena *arena;
    const struct ir_stmt *outer;
    const struct divergence *of_outer;
    struct map own;             // variables and arrays declared inside
    struct map written;         // arrays stored to so far
    const struct ir_stmt *stmt; // being looked at
    const struct ir_stmt *inner;
    struct nested_fault fault;
};

// Note the first fault, as a clause with a name in it.
static void refuse(struct search *w, const char *before, const char *name,
                   const char *behind)
{
    if (w->fault.why)
        return;
    w->fault.why = arena_printf(w->arena, "%s `%s`%s", before, name, behind);
    w->fault.stmt = w->stmt;
}

// Look at a node of an expression of the inner loop.
static void check_node(struct search *w, const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    const char *outer = w->outer->u.loop.var->name;
    if (flags & OP_SYNCHRONISES)
        return;
    if (x->op == OP_var && divergence_of(w->of_outer, x))
        refuse(w, "it uses", x->u.var->name,
               ", which differs between the threads");
    else if ((flags & OP_WRITES) && !map_has(&w->own, x->u.buffer))
        refuse(w, "the atomic on", x->u.buffer->name,
               " would run once for all threads");
    else if ((flags & OP_READS) && !map_has(&w->own, x->u.buffer) &&
             divergence_of_array(w->of_outer, x->u.buffer))
        refuse(w, "it reads what depends on", outer, "");
    else if ((flags & OP_READS) && !map_has(&w->own, x->u.buffer) &&
             !map_has(&w->written, x->u.buffer) &&
             ir_stmt_writes(w->inner, x->u.buffer))
        refuse(w, "it reads", x->u.buffer->name, " before it writes it");
}

// Look at a store of the inner loop.
static void check_store(struct search *w, const struct ir_buffer *b)
{
    bool is_common = b->space == SPACE_shared ||
                     (b->space == SPACE_global && b->role == ROLE_alloc);
    if (map_has(&w->own, b))
        return;
    if (space_is_own(b->space))
        refuse(w, "it writes", b->name, ", which every thread has for itself");
    else if (!is_common)
        refuse(w, "it writes", b->name,
               ", which is neither in shared memory nor an `alloc`");
    map_set(&w->written, b, w);
}

// Look at a statement of the inner loop, before those that it contains.
static void check_stmt(struct search *w, struct ir_stmt *s)
{
    w->stmt = s = ir_at_once(w->own.arena, s);
    ir_foreach_expr_of(x, s)
        check_node(w, x);
    if (s->kind == STMT_store)
        check_store(w, s->u.store.buffer);
    else if (s->kind == STMT_copy && s->u.copy.is_load)
        map_set(&w->written, s->u.copy.near.buffer, w);
    else if (s->kind == STMT_alloc)
        map_set(&w->own, s->u.buffer, s);
    else if (s->kind == STMT_let || s->kind == STMT_var)
        map_set(&w->own, s->u.let.var, s);
    else if (s->kind == STMT_assign && !map_has(&w->own, s->u.let.var))
        refuse(w, "it assigns to", s->u.let.var->name,
               ", which every thread has for itself");
}

// Look at what decides whether threads reach the inner loop.
static void check_way(struct search *w, const struct ir_stmt *inner)
{
    struct ir_path path;
    struct ir_block *body = (struct ir_block *)&w->outer->u.loop.body;
    if (!ir_find(w->arena, body, inner, &path))
        return;
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        w->stmt = path.stmts[i];
        if (divergence_of_control(w->of_outer, path.stmts[i]))
            refuse(w, "not every iteration of", w->outer->u.loop.var->name,
                   " reaches it alike");
    }
}

struct nested nested_start(struct arena *a, struct ir_stmt *outer)
{
    struct nested n = {a, outer, divergence_start(a, 0)};
    divergence_seed(&n.of_outer, outer->u.loop.var, 1);
    divergence_find(&n.of_outer, &outer->u.loop.body);
    return n;
}

struct nested_fault nested_check(const struct nested *n, struct ir_stmt *inner)
{
    struct search w = {.arena = n->arena,
                       .outer = n->outer,
                       .of_outer = &n->of_outer,
                       .inner = inner};
    w.own.arena = w.written.arena = n->arena;
    check_way(&w, inner);
    ir_foreach_stmt_from(s, inner)
        check_stmt(&w, s);
    return w.fault;
}
