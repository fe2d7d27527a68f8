// The order of the loops around a stage, and which run in parallel:
//
//     for i { for j { for k { stage C(vi = i, vj = j, reduce vk = k) ... } } }
//     => parallel for i { for k { for j { stage ... } } }
//
// The iterations of i are independent, and so are those of j, as every access
// to C, the only array written, has vi at its first index and vj at its
// second.  The innermost of these loops moves inside the reductions if more
// elements then follow each other in memory; each element still sees its
// terms in the same order.

#include "ir/build.h"
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

// Add the accesses of a block.
static void list_accesses(struct access_list *list,
                          const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_store)
            vec_push(list->arena, &list->all,
                     (struct array_access){s->u.store.buffer, s->u.store.n,
                                           s->u.store.index, true});
    ir_foreach_expr_in(x, block) {
        unsigned flags = ir_op_info(x->op)->flags;
        if (flags & (OP_READS | OP_WRITES))
            vec_push(list->arena, &list->all,
                     (struct array_access){x->u.buffer, ir_index_count(x),
                                           x->args, (flags & OP_WRITES) != 0});
    }
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

// Return the iteration of a stage that is just that loop variable, or NULL.
static const struct ir_iter *iter_of(const struct ir_stage *stage,
                                     const struct ir_for *loop)
{
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_expr *x = stage->iters.at[i].binding;
        if (x->op == OP_var && x->u.var == loop->var)
            return &stage->iters.at[i];
    }
    return NULL;
}

// Return whether the bounds of a loop mention the variable of another.
static bool depends(const struct ir_for *loop, const struct ir_for *on)
{
    return ir_mentions(loop->from, on->var) || ir_mentions(loop->to, on->var);
}

// Return how many of the loops, from the outermost, have iterations that do
// not access each other's elements, and bounds that are the same throughout.
static size_t count_parallel(const struct access_list *list,
                             const struct reference_nest *nest)
{
    const struct ir_stage *stage = &nest->stage->u.stage;
    for (size_t n = 0; n < nest->loops.n; n++) {
        const struct ir_iter *iter = iter_of(stage, nest->loops.at[n]);
        bool ok = iter && !iter->is_reduce && writes_apart(list, iter->var);
        for (size_t i = 0; i < n && ok; i++)
            ok = !depends(nest->loops.at[n], nest->loops.at[i]);
        if (!ok)
            return n;
    }
    return nest->loops.n;
}

// Return how many accesses jump through memory as the loop goes on: its
// variable is in another index than the last.
static size_t count_jumps(const struct access_list *list,
                          const struct reference_nest *nest,
                          const struct ir_for *loop)
{
    const struct ir_iter *iter = iter_of(&nest->stage->u.stage, loop);
    size_t n = 0;
    for (size_t i = 0; i < list->all.n && iter; i++) {
        const struct array_access *one = &list->all.at[i];
        for (uint32_t at = 0; at + 1 < one->n; at++)
            n += ir_mentions(one->index[at], iter->var);
    }
    return n;
}

// Move the last parallel loop inside the others if that makes fewer jumps,
// and a parallel loop remains outside.
static void move_inside(const struct access_list *list,
                        struct reference_nest *nest)
{
    size_t n = nest->loops.n, at = nest->parallel - 1;
    if (nest->parallel < 2 || nest->parallel == n)
        return;
    struct ir_for *moved = nest->loops.at[at];
    bool ok = count_jumps(list, nest, moved) <=
              count_jumps(list, nest, nest->loops.at[n - 1]);
    for (size_t i = at + 1; i < n && ok; i++)
        ok = !depends(nest->loops.at[i], moved);
    if (!ok)
        return;
    for (size_t i = at; i + 1 < n; i++)
        nest->loops.at[i] = nest->loops.at[i + 1];
    nest->loops.at[n - 1] = moved;
    nest->parallel--;
}

bool reference_nest(struct arena *a, struct ir_stmt *s,
                    struct reference_nest *nest)
{
    struct access_list list = {.arena = a};
    *nest = (struct reference_nest){.parallel = 0};
    for (; s->kind == STMT_for; s = s->u.loop.body.at[0]) {
        vec_push(a, &nest->loops, &s->u.loop);
        if (s->u.loop.body.n != 1)
            return false;
    }
    if (s->kind != STMT_stage)
        return false;
    nest->stage = s;
    list_accesses(&list, &s->u.stage.init);
    list_accesses(&list, &s->u.stage.body);
    nest->parallel = count_parallel(&list, nest);
    move_inside(&list, nest);
    return true;
}
