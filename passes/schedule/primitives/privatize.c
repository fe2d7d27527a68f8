// privatize -- scatter into an array of each iteration, then add these up.
//
//   for i_0 { for i_1 { stage H { atomic_add(H[X[i]], 1) } } }
//     =>   start, merge = privatize(H, i_0, shared)
//   for i_0 {
//     for ax0 { stage H_own.init { H_own[ax0] = 0 } }
//     for i_1 { stage H { atomic_add(H_own[X[i]], 1) } }
//     for ax0 { stage H_own { atomic_add(H[ax0], H_own[ax0]) } }
//   }
//
// Blocks that have an array of their own in shared memory wait for one another
// in global memory only at the end.  A fourth argument names a loop inside,
// such as that over the warps of a block, or over the lanes of a warp: each of
// its iterations has a copy, the first dimension of the new array.  These are
// added up first, by a reduction that threads can share:
//
//   start, sum, merge = privatize(H, i_0, shared, t)
//     for ax0 { for ax1 { stage H_sum { H_sum[ax0] += H_own[ax1, ax0] } } }
//     for ax0 { stage H_own { atomic_add(H[ax0], H_sum[ax0]) } }
//
// Requires:
//  1. the stage is a stage that does nothing but one
//     kind of atomic, of add, min, max, and, or, xor,
//     on one array, and reads none of its values        E0872
//  2. the loop is around the stage, and threads run
//     neither it nor a loop around it: they share memory   E0873 E0607
//  3. nothing else in the loop uses the array           E0874
//  4. the memory is shared                              E0644
//  5. the loop of the copies is between the two, counts
//     from 0 in steps of 1, and a number of times       E0873 E0623 E0875

#include "passes/schedule/common/move.h"
#include "passes/schedule/common/stage_nest.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/neutral.h"

// What is made private.
struct privacy {
    struct ir_stmt *stage, *loop;
    struct ir_stmt *copies;  // or NULL
    struct ir_buffer *array; // that the stage scatters into
    enum ir_op op;           // of its atomics
    struct ir_buffer *own;   // of each iteration
    struct ir_buffer *sum;   // of its copies; `own` if there are none
};

// The atomics that combine, and what combines values as they do.
static const struct {
    enum ir_op atomic, op;
} combining[] = {
    {OP_atomic_add, OP_add},   {OP_atomic_min, OP_min},
    {OP_atomic_max, OP_max},   {OP_atomic_and, OP_bit_and},
    {OP_atomic_or, OP_bit_or}, {OP_atomic_xor, OP_bit_xor},
};

// Return what combines values as an atomic does.
static enum ir_op combining_op(enum ir_op atomic)
{
    size_t i = 0;
    while (combining[i].atomic != atomic)
        i++;
    return combining[i].op;
}

// Return whether an operation is an atomic that combines in any order.
static bool combines(enum ir_op op)
{
    return (ir_op_info(op)->flags & OP_WRITES) && ir_neutral_text(op);
}

// Return whether a statement only holds others, or names a value of no effect.
static bool is_frame(struct ir_stmt *s)
{
    if (s->kind != STMT_for && s->kind != STMT_if && s->kind != STMT_let)
        return false;
    ir_foreach_place(place, s)
        if (ir_flags(*place) & (OP_WRITES | OP_TOGETHER))
            return false;
    return true;
}

// Take what a statement scatters into; false if it does something else, or
// something else than those before it.
static bool take_atomic(struct privacy *m, struct ir_stmt *s)
{
    const struct ir_expr *x = s->kind == STMT_eval ? s->u.value : NULL;
    if (!x)
        return is_frame(s);
    if (!combines(x->op) || (m->array && m->array != x->u.buffer) ||
        (m->array && m->op != x->op))
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (ir_flags(x->args[i]) & (OP_WRITES | OP_TOGETHER))
            return false;
    m->array = x->u.buffer;
    m->op = x->op;
    return true;
}

// Take what the stage scatters into; false if it does something else, too.
static bool take_stage(struct privacy *m)
{
    if (m->stage->kind != STMT_stage || m->stage->u.stage.has_init)
        return false;
    ir_foreach_stmt(s, &m->stage->u.stage.body)
        if (!take_atomic(m, s))
            return false;
    ir_foreach_expr_from(x, m->stage)
        if (x->op == OP_load && x->u.buffer == m->array)
            return false;
    return m->array && m->array->space == SPACE_global;
}

// Check that the stage scatters, and no more.
static bool check_stage(const struct sched_call *c, struct privacy *m)
{
    return take_stage(m) ||
           sched_refuse(c, m->stage, "no scatter reduction", D_privatize_stage,
                        sched_name_of(m->stage));
}

// Check that a loop is around a statement.
static bool check_around(const struct sched_call *c, struct ir_stmt *loop,
                         struct ir_stmt *inside)
{
    if (sched_is_below(c->pass, inside, loop))
        return true;
    return sched_refuse_two(c, loop, inside, "not one inside the other",
                            D_privatize_loop, sched_name_of(loop),
                            sched_name_of(inside));
}

// Check that the loop is one of a block: its threads would all start the array and
// add it up.
static bool check_block(const struct sched_call *c, const struct privacy *m)
{
    struct ir_path path = sched_path(c->pass, m->loop);
    for (uint32_t i = 0; i < path.n; i++) {
        struct ir_stmt *s = path.stmts[i];
        if (s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_THREAD)
            return sched_check_serial(c, s);
    }
    return true;
}

// Check that nothing else in the loop uses the array.
static bool check_alone(const struct sched_call *c, const struct privacy *m)
{
    struct sched_uses uses = sched_uses_of(c->pass, m->array);
    const struct {
        struct ir_stmt *const *at;
        size_t n;
    } all[] = {{uses.readers.at, uses.readers.n},
               {uses.writers.at, uses.writers.n}};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < all[k].n; i++) {
            struct ir_stmt *s = all[k].at[i];
            if (s != m->stage && sched_is_below(c->pass, s, m->loop))
                return sched_refuse_two(
                    c, m->loop, s, "would not see it", D_privatize_uses,
                    m->array->name, sched_name_of(s), sched_name_of(m->loop));
        }
    return true;
}

// Check the loop whose iterations have a copy each, if there is one.
static bool check_copies(const struct sched_call *c, const struct privacy *m)
{
    int64_t n;
    if (!m->copies)
        return true;
    if (!check_around(c, m->loop, m->copies) ||
        !check_around(c, m->copies, m->stage) ||
        !sched_check_from_zero(c, m->copies))
        return false;
    return ir_int_value(m->copies->u.loop.to, &n) ||
           sched_refuse(c, m->copies, "no number of iterations",
                        D_privatize_copies, sched_name_of(m->copies));
}

// Check everything and fill `m` in.
static bool check(const struct sched_call *c, struct privacy *m)
{
    *m = (struct privacy){.stage = sched_arg(c, 0), .loop = sched_arg(c, 1)};
    enum space space = c->args.at[2].space;
    m->copies = c->args.n > 3 ? sched_arg(c, 3) : NULL;
    if (!check_stage(c, m) || !check_around(c, m->loop, m->stage) ||
        !check_block(c, m) || !check_alone(c, m))
        return false;
    if (space != SPACE_shared)
        return sched_refuse_at(c, c->args.at[2].span, m->stage, "named here",
                               D_cache_space, space_name(space));
    return check_copies(c, m);
}

// Make the array of an iteration.
static void make_array(const struct sched_call *c, struct privacy *m)
{
    struct pass *p = c->pass;
    struct arena *a = p->arena;
    const char *name = arena_printf(p->scratch, "%s_own", m->array->name);
    m->own = m->sum = sched_new_buffer(p, name, m->array, SPACE_shared);
    if (!m->copies)
        return;
    name = arena_printf(p->scratch, "%s_sum", m->array->name);
    m->sum = sched_new_buffer(p, name, m->array, SPACE_shared);
    uint32_t rank = m->array->rank;
    m->own->shape = arena_array(a, struct ir_expr *, rank + 1);
    m->own->shape[0] = m->copies->u.loop.to;
    for (uint32_t i = 0; i < rank; i++)
        m->own->shape[i + 1] = m->array->shape[i];
    m->own->rank = rank + 1;
}

// Return the index of an element of the array in that of an iteration.
static struct ir_expr **own_index(struct arena *a, const struct privacy *m,
                                  struct ir_expr *const *index)
{
    uint32_t copies = m->copies != NULL;
    struct ir_expr **own = arena_array(a, struct ir_expr *, m->own->rank + 1);
    if (copies)
        own[0] = ir_read(a, m->copies->u.loop.var);
    for (uint32_t i = copies; i < m->own->rank; i++)
        own[i] = index[i - copies];
    return own;
}

// Replace an atomic on the array by one on that of the iteration.
static struct ir_expr *redirect(struct arena *a, struct ir_expr *x,
                                void *context)
{
    const struct privacy *m = context;
    if (x->op != m->op || x->u.buffer != m->array)
        return x;
    struct ir_expr **index = own_index(a, m, x->args);
    struct ir_expr *r = ir_atomic(a, x->op, m->own, m->own->rank, index, 1,
                                  x->args + m->array->rank);
    return ir_scoped(ir_at(a, r, x->span), (enum ir_scope)x->scope);
}

// Put a stage in front of the loop's statements, or behind them.
static struct ir_stmt *put_stage(struct pass *p, const struct privacy *m,
                                 struct ir_stmt *s, bool is_behind)
{
    struct ir_block *body = &m->loop->u.loop.body;
    struct sched_place place =
        sched_place_of(p, body->at[is_behind ? body->n - 1 : 0], is_behind);
    stage_nest_put(p, s, &place, stage_nest_region(p, &s->u.stage));
    return s;
}

// Make a stage, as yet without a body.
static struct ir_stmt *make_stage(struct pass *p, const struct privacy *m,
                                  const char *name)
{
    struct ir_stmt *s = ir_stmt_stage(p->arena, str_name(p->names, name));
    s->span = m->stage->span;
    return s;
}

// Append a statement to a stage.
static void add(struct pass *p, struct ir_stmt *stage, struct ir_block *to,
                struct ir_stmt *s)
{
    s->span = stage->span;
    ir_append(p->arena, to, s);
}

// Put a stage that lets all elements of the iteration's array begin.
static struct ir_stmt *put_start(struct pass *p, const struct privacy *m)
{
    struct arena *a = p->arena;
    const char *name = arena_printf(p->scratch, "%s.init", m->own->name);
    struct ir_stmt *s = make_stage(p, m, name);
    struct ir_expr **index =
        stage_nest_iters(p, s, m->own->rank, m->own->shape);
    add(p, s, &s->u.stage.body,
        ir_stmt_store(a, m->own, m->own->rank, index,
                      ir_neutral(a, m->op, m->own->elem)));
    return put_stage(p, m, s, false);
}

// Put a stage that adds up the copies of each element.
static struct ir_stmt *put_sum(struct pass *p, const struct privacy *m)
{
    struct arena *a = p->arena;
    uint32_t rank = m->sum->rank;
    struct ir_stmt *s = make_stage(p, m, m->sum->name);
    struct ir_expr **shape = arena_array(a, struct ir_expr *, rank + 1);
    struct ir_expr **from = arena_array(a, struct ir_expr *, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = m->sum->shape[i];
    shape[rank] = m->own->shape[0];
    struct ir_expr **index = stage_nest_iters(p, s, rank + 1, shape);
    s->u.stage.iters.at[rank].is_reduce = true;
    from[0] = index[rank];
    for (uint32_t i = 0; i < rank; i++)
        from[i + 1] = index[i];
    struct ir_expr *all =
        ir_binary(a, combining_op(m->op), ir_load(a, m->sum, rank, index),
                  ir_load(a, m->own, rank + 1, from));
    s->u.stage.has_init = true;
    add(p, s, &s->u.stage.init,
        ir_stmt_store(a, m->sum, rank, index,
                      ir_neutral(a, m->op, m->sum->elem)));
    add(p, s, &s->u.stage.body, ir_stmt_store(a, m->sum, rank, index, all));
    return put_stage(p, m, s, true);
}

// Put a stage that adds the iteration's elements to those of all.
static struct ir_stmt *put_merge(struct pass *p, const struct privacy *m)
{
    struct arena *a = p->arena;
    struct ir_stmt *s = make_stage(p, m, m->own->name);
    struct ir_expr **index =
        stage_nest_iters(p, s, m->sum->rank, m->sum->shape);
    struct ir_expr *value = ir_load(a, m->sum, m->sum->rank, index);
    add(p, s, &s->u.stage.body,
        ir_stmt_eval(a, ir_atomic(a, m->op, m->array, m->array->rank, index, 1,
                                  &value)));
    return put_stage(p, m, s, true);
}

bool sched_privatize(struct sched_call *c)
{
    struct privacy m;
    struct pass *p = c->pass;
    if (!check(c, &m))
        return false;
    make_array(c, &m);
    ir_rewrite_in(p->arena, &m.stage->u.stage.body, redirect, &m);
    sched_result(c, VALUE_stage, put_start(p, &m));
    if (m.copies)
        sched_result(c, VALUE_stage, put_sum(p, &m));
    sched_result(c, VALUE_stage, put_merge(p, &m));
    return true;
}
