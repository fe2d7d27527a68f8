// Which loops of a reference program can run their iterations at the same
// time:
//
//     for i { for j { for k { stage C(vi = i, vj = j, reduce vk = k) ... } } }
//
// i and j, as every access to C, the only array written, has vi at its first
// index and vj at its second.

#include "ir/walk.h"
#include "tools/libingot/reference_print.h"

// An access to an array.
struct array_access {
    const struct ir_buffer *buffer;
    uint32_t n;
    struct ir_expr *const *index;
    bool is_write;
};

// The accesses of a stage.
struct access_list {
    struct arena *arena;
    struct VEC(struct array_access) all;
};

// Note a load or an atomic.
static void note_expr(struct ir_expr *x, void *context)
{
    struct access_list *list = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if (flags & (OP_READS | OP_WRITES))
        vec_push(list->arena, &list->all,
                 (struct array_access){x->u.buffer, x->n, x->args,
                                       (flags & OP_WRITES) != 0});
}

// Note a store.
static void note_stmt(struct ir_stmt *s, void *context)
{
    struct access_list *list = context;
    if (s->kind == STMT_store)
        vec_push(list->arena, &list->all,
                 (struct array_access){s->u.store.buffer, s->u.store.n,
                                       s->u.store.index, true});
}

// Return whether every access to an array has the variable at that index.
static bool is_indexed_at(const struct access_list *list,
                          const struct ir_buffer *b, uint32_t at,
                          const struct ir_var *var)
{
    for (size_t i = 0; i < list->all.n; i++) {
        const struct array_access *one = &list->all.at[i];
        bool ok = at < one->n && one->index[at]->op == OP_var &&
                  one->index[at]->u.var == var;
        if (one->buffer == b && !ok)
            return false;
    }
    return true;
}

// Return whether all accesses to arrays that are written have the variable at
// one place.
static bool writes_apart(const struct access_list *list,
                         const struct ir_var *var)
{
    for (size_t i = 0; i < list->all.n; i++) {
        const struct array_access *one = &list->all.at[i];
        bool ok = !one->is_write;
        for (uint32_t at = 0; at < one->n && !ok; at++)
            ok = is_indexed_at(list, one->buffer, at, var);
        if (!ok)
            return false;
    }
    return true;
}

// Return the iteration variable that is bound to just that loop variable, or
// NULL.
static const struct ir_var *bound_to(const struct ir_stage *stage,
                                     const struct ir_var *loop)
{
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_iter *iter = &stage->iters.at[i];
        if (!iter->is_reduce && iter->binding->op == OP_var &&
            iter->binding->u.var == loop)
            return iter->var;
    }
    return NULL;
}

// Return the stage at the bottom of a nest of loops, or NULL.
static struct ir_stage *nest_stage(struct ir_stmt *s)
{
    while (s->kind == STMT_for && s->u.loop.body.n == 1)
        s = s->u.loop.body.at[0];
    return s->kind == STMT_stage ? &s->u.stage : NULL;
}

int reference_parallel(struct arena *a, struct ir_stmt *loop)
{
    struct access_list list = {.arena = a};
    struct ir_stage *stage = nest_stage(loop);
    int n = 0;
    if (!stage)
        return 0;
    ir_each_stmt(&stage->init, note_stmt, &list);
    ir_each_stmt(&stage->body, note_stmt, &list);
    ir_each_expr_in(&stage->init, note_expr, &list);
    ir_each_expr_in(&stage->body, note_expr, &list);
    const struct ir_var *outer = NULL;
    for (struct ir_stmt *s = loop; s->kind == STMT_for;
         s = s->u.loop.body.at[0]) {
        const struct ir_var *var = bound_to(stage, s->u.loop.var);
        bool is_box = !outer || (!ir_mentions(s->u.loop.from, outer) &&
                                 !ir_mentions(s->u.loop.to, outer));
        if (!var || !is_box || !writes_apart(&list, var))
            break;
        outer = s->u.loop.var;
        n++;
    }
    return n;
}
