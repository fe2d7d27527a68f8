// Whether a stage may go to another place.

#include "passes/schedule/common/move.h"

bool sched_check_scope(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer)
{
    struct pass *p = c->pass;
    struct ir_stmt *alloc = sched_alloc_of(p, buffer);
    struct ir_path path = {0};
    if (alloc)
        path = sched_path(p, alloc);
    if (path.n < 2 || sched_is_below(p, loop, path.stmts[path.n - 2]))
        return true;
    return sched_refuse_two(c, loop, alloc, "the loop, and the array",
                            D_move_order, sched_name_of(sched_arg(c, 0)),
                            "leave the block that declares what it uses");
}

// A search for what reads or writes arrays.
struct use_search {
    struct pass *p;
    const struct sched_buffers *buffers;
    struct sched_uses uses;
    struct ir_stmt *at; // the stage around, or the statement itself
};

// Note a statement once.
static void note(struct use_search *f, bool reads, bool writes)
{
    if (reads && (!f->uses.readers.n ||
                  f->uses.readers.at[f->uses.readers.n - 1] != f->at))
        vec_push(f->p->scratch, &f->uses.readers, f->at);
    if (writes && (!f->uses.writers.n ||
                   f->uses.writers.at[f->uses.writers.n - 1] != f->at))
        vec_push(f->p->scratch, &f->uses.writers, f->at);
}

bool sched_has_buffer(const struct sched_buffers *all,
                      const struct ir_buffer *buffer)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i] == buffer)
            return true;
    return false;
}

// Look at an expression.
static void note_expr(struct use_search *f, const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if ((flags & (OP_READS | OP_WRITES)) &&
        sched_has_buffer(f->buffers, x->u.buffer))
        note(f, flags & OP_READS, flags & OP_WRITES);
}

// Look at the statements of a block; inside of a stage the stage counts.
static void collect(struct use_search *f, struct ir_block *block,
                    struct ir_stmt *stage)
{
    vec_foreach_value(s, block) {
        f->at = stage ? stage : s;
        ir_foreach_expr_of(x, s)
            note_expr(f, x);
        if (s->kind == STMT_store &&
            sched_has_buffer(f->buffers, s->u.store.buffer))
            note(f, false, true);
        ir_foreach_block(inner, s)
            collect(f, inner, stage ? stage : s->kind == STMT_stage ? s : NULL);
    }
}

struct sched_uses sched_uses_of_all(struct pass *p,
                                    const struct sched_buffers *buffers)
{
    struct use_search f = {.p = p, .buffers = buffers};
    collect(&f, &p->kernel->body, NULL);
    return f.uses;
}

struct sched_uses sched_uses_of(struct pass *p, const struct ir_buffer *buffer)
{
    struct sched_buffers one = {&buffer, 1, 1};
    return sched_uses_of_all(p, &one);
}

bool sched_is_below(struct pass *p, const struct ir_stmt *s,
                    struct ir_stmt *above)
{
    struct ir_path path = {0};
    return ir_find(p->scratch, ir_alone(above), s, &path);
}

struct ir_stmt *sched_child_with(struct pass *p, struct ir_stmt *loop,
                                 const struct ir_stmt *s, size_t *at)
{
    struct ir_path path = {0};
    if (!ir_find(p->scratch, &loop->u.loop.body, s, &path))
        return NULL;
    *at = path.index[0];
    return path.stmts[0];
}

size_t sched_order_of(struct pass *p, const struct ir_stmt *s)
{
    size_t n = 0;
    ir_foreach_stmt(t, &p->kernel->body) {
        n++;
        if (t == s)
            return n;
    }
    return 0;
}

struct ir_stmt *sched_plain_store(struct ir_stmt *stage)
{
    struct ir_block *body = &stage->u.stage.body;
    struct ir_stmt *s = body->n ? body->at[body->n - 1] : NULL;
    for (size_t i = 0; i + 1 < body->n; i++)
        if (body->at[i]->kind != STMT_let)
            return NULL;
    if (!s || s->kind != STMT_store)
        return NULL;
    for (uint32_t i = 0; i < s->u.store.n; i++) {
        const struct ir_expr *x = s->u.store.index[i];
        if (x->op != OP_var || x->u.var->kind != VAR_iter)
            return NULL;
        for (uint32_t j = 0; j < i; j++)
            if (s->u.store.index[j]->u.var == x->u.var)
                return NULL;
    }
    return s;
}

struct sched_buffers sched_inputs_of(struct pass *p, struct ir_stmt *stage)
{
    struct sched_buffers found = {0};
    ir_foreach_expr_from(x, stage)
        if (ir_op_info(x->op)->flags & OP_READS &&
            !sched_has_buffer(&found, x->u.buffer))
            vec_push(p->scratch, &found, x->u.buffer);
    return found;
}
