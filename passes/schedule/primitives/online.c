// online -- find the greatest element of a row while sums of its exponentials go on.
//
//   for i { for j { M[i] = max(M[i], X[i, j]) } }
//   for i { for j_0 { for j_1 { L[i] = L[i] + exp(X[i, j] - M[i]) } } }
//     =>   start, note, scale = online(M, L.j_0)
//   for i {
//     M[i] = -inf, M_at[i] = lowest
//     for j_0 {
//       for j_1 { M[i] = max(M[i], X[i, j]) }
//       M_factor[i] = exp(M_at[i] - max(M[i], lowest)), M_at[i] = max(M[i], lowest)
//       if j_0 > 0 { L[i] = L[i] * M_factor[i] }
//       for j_1 { L[i] = L[i] + exp(X[i, j] - M_at[i]) }
//     } }
//
// So an iteration of the loop finds the greatest of the elements whose exponentials it
// adds up, and those before it, and multiplies what was added up so far by how much
// less that is worth now.  In the end everything is as before, but for how it is
// rounded: as where a sum is taken apart.  What is between, such as stages that store
// exponentials for several sums, may be in the loop; further sums, and stages that
// store exponentials, which are not in the loop yet, are named behind it and move
// there, in front of what uses the greatest elements.  Nothing overflows that did not
// before: no exponential is more than it is in the end.  `lowest` is the least number; a
// tile whose elements are all minus infinity adds up 0.
//
// If X is minus infinity where a condition does not hold, as in `j <= i ? .. : -inf`, and
// that leaves the last tiles of a row no elements, the loop ends in front of them
// (common/masked.h): for all rows that threads have at the same time.  What their
// weights, which are 0, would be multiplied by is not looked at, infinite or not.
//
// Requires:
//  1. the stage finds the greatest of f32 or f64 elements,
//     over one iteration variable, in an array of its own     E0653 E0654 E0876
//  2. the loop is serial, counts from 0, without annotation   E0607 E0608 E0623
//  3. it counts tiles of the same columns, all of them, and
//     a reduction of each sum below it; no loop around it
//     counts one                                              E0877
//  4. what reads the greatest elements is below the loop or
//     among the further sums, or behind the nest              E0656
//  5. there they are used in weights: exp(x - m), where x is
//     what m is the greatest of, both times a positive number
//     or none, or their distance times what depends on
//     parameters alone, or exp2; times what does not depend
//     on m, and as elements of stages that compute that; and
//     in sums of weights                                      E0878
//  6. a sum's init is in its stage; further stages are named
//     once, and are not in the loop                           E0878
//  7. what moves reads nothing that is computed, or changed,
//     between its old place and the new one                   E0657
//  8. nothing has been said of the loops that stages leave    E0670

#include "passes/schedule/common/masked.h"
#include "passes/schedule/common/move.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/stage.h"
#include "passes/schedule/common/stage_nest.h"
#include "passes/schedule/common/weights.h"

// A stage that uses weights.
struct user {
    struct ir_stmt *stage;
    struct weight_use use;
    bool is_sum, moves; // into the loop
};

// What is rewritten.
struct online {
    struct pass *pass;
    struct ir_stmt *stage, *loop;
    struct sched_stores stores;
    struct weights weights;
    struct VEC(struct user) users; // in their order, those that move last
    struct ir_stmt *front;         // in the loop, holds the first of them
    struct sched_region_dim tile;  // of columns, in an iteration
    struct sched_region_dim *rows;
    struct ir_buffer *at, *factor;
};

// Report what a stage does with weights.
static bool refuse_use(const struct sched_call *c, const struct online *o,
                       struct ir_stmt *s, const char *why)
{
    return sched_refuse_two(c, o->stage, s, "the greatest, and what uses it",
                            D_online_use, sched_name_of(s),
                            o->weights.greatest->name, why);
}

// Report that the loop does not go along the sums.
static bool refuse_loop(const struct sched_call *c, const struct online *o,
                        struct ir_stmt *s, const char *why)
{
    return sched_refuse_two(c, o->loop, s, "the loop, and what it is around",
                            D_online_loop, sched_name_of(o->loop),
                            sched_name_of(s), why);
}

// Return the iteration variable of a stage that an expression is, or NULL.
static const struct ir_iter *iter_of(const struct ir_stmt *s,
                                     const struct ir_expr *x)
{
    int i = ir_stage_iter(&s->u.stage, x);
    return i < 0 ? NULL : &s->u.stage.iters.at[i];
}

// Check that a sum has a row for each element, and adds up columns.
static bool check_sum(const struct sched_call *c, const struct online *o,
                      const struct user *u)
{
    const struct ir_iter *column = iter_of(u->stage, u->use.column);
    bool ok = column && column->is_reduce;
    for (uint32_t d = 0; ok && d < o->weights.greatest->rank; d++) {
        const struct ir_iter *row = iter_of(u->stage, u->use.row[d]);
        ok = row && !row->is_reduce;
    }
    return ok ||
           refuse_use(c, o, u->stage, "it adds up other things than columns");
}

// Check that of the loop and those around it only that one counts a sum.
static bool check_loops(const struct sched_call *c, const struct online *o,
                        struct ir_stmt *s)
{
    struct ir_block loops = sched_loops(c->pass, o->loop);
    for (size_t i = 0; i < loops.n; i++) {
        bool reduces =
            ir_stage_role(&s->u.stage, loops.at[i]->u.loop.var) & STAGE_REDUCES;
        if (reduces != (loops.at[i] == o->loop))
            return refuse_loop(c, o, s,
                               reduces ? "one around it counts the sum, too"
                                       : "it does not count the sum");
    }
    return true;
}

// Find the columns of a stage in an iteration of the loop: base .. base + extent - 1.
static bool find_tile(const struct online *o, struct ir_stmt *s,
                      const struct ir_iter *column,
                      struct sched_region_dim *out)
{
    struct arena *a = o->pass->arena;
    struct affine rest, all = affine_of(a, column->binding);
    struct ir_block loops = sched_loops(o->pass, s);
    int64_t factor, extent, n = 1;
    for (size_t i = loops.n; i-- > 0 && loops.at[i] != o->loop;) {
        const struct ir_for *l = &loops.at[i]->u.loop;
        if (!affine_linear(a, &all, l->var, &factor, &rest) || factor < 0)
            return false;
        if (factor && (!ir_for_counts(l) || !ir_int_value(l->to, &extent)))
            return false;
        n += factor ? factor * (extent - 1) : 0;
        all = rest;
    }
    out->base = affine_expr(a, &all, type_scalar(TYPE_int));
    out->extent = ir_int(a, n);
    return affine_linear(a, &all, o->loop->u.loop.var, &factor, &rest) &&
           factor == n && affine_is_number(&rest) && rest.constant == 0;
}

// Check that a stage in the loop computes tiles of columns, those of the stages
// before it.
static bool check_tile(const struct sched_call *c, struct online *o,
                       const struct user *u)
{
    const struct ir_iter *column = iter_of(u->stage, u->use.column);
    struct sched_region_dim tile = {0};
    if (!column || !find_tile(o, u->stage, column, &tile))
        return refuse_loop(c, o, u->stage,
                           "its iterations are no tiles of columns");
    if (o->tile.extent && (!ir_expr_equal(tile.base, o->tile.base) ||
                           !ir_expr_equal(tile.extent, o->tile.extent)))
        return refuse_loop(c, o, u->stage,
                           "an iteration uses weights of other ones");
    o->tile = tile;
    return true;
}

// Check that the tiles are all columns.
static bool check_columns(const struct sched_call *c, const struct online *o)
{
    struct arena *a = c->pass->arena;
    struct facts f;
    facts_start(&f, c->pass->scratch, c->pass->kernel);
    return facts_at_most(&f, o->weights.column->extent,
                         ir_mul(a, o->loop->u.loop.to, o->tile.extent)) ||
           refuse_loop(c, o, o->stage, "it leaves columns out");
}

// Take a stage that reads the greatest elements, or weights.
static bool take(const struct sched_call *c, struct online *o,
                 struct ir_stmt *s, bool moves)
{
    struct user u = {.stage = s, .moves = moves};
    const char *wrong = weights_take(&o->weights, s, &u.use);
    u.is_sum = s->kind == STMT_stage && ir_stage_reduces(&s->u.stage);
    if (wrong)
        return refuse_use(c, o, s, wrong);
    vec_push(c->pass->scratch, &o->users, u);
    return (!u.is_sum || check_sum(c, o, &u)) &&
           (moves ||
            (check_tile(c, o, &u) && (!u.is_sum || check_loops(c, o, s))));
}

// Check that the further stages are not in the loop yet, and named once.
static bool check_more(const struct sched_call *c, const struct online *o)
{
    size_t n;
    struct ir_stmt **more = sched_arg_stmts(c, 2, &n);
    for (size_t i = 0; i < n; i++) {
        if (more[i] == o->stage || sched_is_below(c->pass, more[i], o->loop))
            return refuse_use(c, o, more[i], "it is no further stage");
        for (size_t k = 0; k < i; k++)
            if (more[k] == more[i])
                return refuse_use(c, o, more[i], "it is named twice");
    }
    return true;
}

// Take those of the further stages that are sums, or those that are not.
static bool take_more(const struct sched_call *c, struct online *o, bool sums)
{
    size_t n;
    struct ir_stmt **more = sched_arg_stmts(c, 2, &n);
    for (size_t i = 0; i < n; i++) {
        bool is_sum =
            more[i]->kind == STMT_stage && ir_stage_reduces(&more[i]->u.stage);
        if (is_sum == sums && !take(c, o, more[i], true))
            return false;
    }
    return true;
}

// Take what moves into the loop and stores weights, what is below it, in its order,
// and the sums that move there.
static bool take_all(const struct sched_call *c, struct online *o)
{
    size_t at;
    struct ir_block stages =
        ir_stages_of(c->pass->scratch, &o->loop->u.loop.body);
    if (!check_more(c, o) || !take_more(c, o, false))
        return false;
    vec_foreach_value(s, &stages) {
        if (!weights_read(&o->weights, s))
            continue;
        if (!take(c, o, s, false))
            return false;
        if (!o->front)
            o->front = sched_child_with(c->pass, o->loop, s, &at);
    }
    if (!o->front)
        return refuse_loop(c, o, o->stage, "nothing in it uses what it finds");
    return take_more(c, o, true) && check_columns(c, o);
}

// Return whether a stage is one of those that use weights.
static bool is_user(const struct online *o, const struct ir_stmt *s)
{
    vec_foreach(u, &o->users)
        if (u->stage == s)
            return true;
    return false;
}

// Check that nothing else reads an array, but behind the nest, if it may.
static bool check_readers(const struct sched_call *c, const struct online *o,
                          const struct ir_buffer *array, bool behind)
{
    struct pass *p = c->pass;
    struct sched_uses uses = sched_uses_of(p, array);
    vec_foreach_value(s, &uses.readers) {
        bool later = sched_order_of(p, s) > sched_order_of(p, o->loop) &&
                     !sched_is_below(p, s, o->loop);
        if (s != o->stage && !is_user(o, s) && !(behind && later))
            return sched_refuse_two(c, o->loop, s,
                                    "the loop, and what also reads it",
                                    D_move_outside, array->name, "also read",
                                    o->loop->u.loop.var->name);
    }
    return true;
}

// Report that something stands between the old and the new place of a stage.
static bool refuse_order(const struct sched_call *c, const struct online *o,
                         struct ir_stmt *s, struct ir_stmt *other,
                         const struct ir_buffer *b)
{
    struct sched_obstacle x = {
        .stage = s,
        .loop = o->loop,
        .other = other,
        .buffer = b,
        .fault = "read what is computed, or changed, meanwhile",
        .note = "the loop, and what is in the way"};
    return sched_refuse_order(c, &x);
}

// Check that what a stage reads, weights aside, is computed before another one.
static bool check_inputs(const struct sched_call *c, const struct online *o,
                         struct ir_stmt *s, const struct ir_stmt *before)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, s);
    struct sched_stores stores;
    if (!sched_check_movable(c, s, o->loop, &stores))
        return false;
    struct ir_stmt *change = sched_find_change(p, s, &stores.arrays, o->loop);
    vec_foreach_value(b, &inputs) {
        struct sched_uses uses = sched_uses_of(p, b);
        bool is_own =
            b == o->weights.greatest || sched_has_buffer(&stores.arrays, b);
        if (!sched_check_scope(c, o->loop, b))
            return false;
        vec_foreach_value(w, &uses.writers)
            if (!is_own && !is_user(o, w) &&
                sched_order_of(p, w) >= sched_order_of(p, before))
                return refuse_order(c, o, s, w, b);
    }
    return !change ||
           sched_refuse_two(c, change, s, "the loop that changes what it reads",
                            D_move_order, sched_name_of(s),
                            "read what has changed meanwhile");
}

// Check a stage that moves: what it stores is read in the loop, of a sum behind it.
static bool check_moved(const struct sched_call *c, const struct online *o,
                        const struct user *u)
{
    struct pass *p = c->pass;
    struct ir_stmt *s = u->stage;
    struct sched_stores stores;
    if (!sched_check_stores(c, s, &stores))
        return false;
    struct sched_uses uses = sched_uses_of_all(p, &stores.arrays);
    if (!sched_check_alone(c, s, &uses) || !sched_check_moved(c, s) ||
        !check_inputs(c, o, s, o->front))
        return false;
    vec_foreach_value(r, &uses.readers)
        if (u->is_sum && r != s &&
            (sched_order_of(p, r) < sched_order_of(p, o->loop) ||
             sched_is_below(p, r, o->loop)))
            return refuse_order(c, o, s, r, stores.arrays.at[0]);
    return true;
}

// Return the elements of an array that an iteration of the loop reads.
static struct sched_region region_read(const struct online *o,
                                       const struct ir_buffer *array)
{
    struct sched_region_query q = {.pass = o->pass,
                                   .loop = o->loop,
                                   .buffer = array,
                                   .access = REGION_loads};
    return sched_region_find(&q);
}

// Find the rows that an iteration of the loop uses: of the greatest elements, or of
// weights that move into it.
static void find_rows(struct online *o)
{
    uint32_t rank = o->weights.greatest->rank;
    struct sched_region rows = region_read(o, o->weights.greatest);
    o->rows = rows.dims;
    for (size_t i = 0; i < o->weights.arrays.n && !rows.any; i++) {
        const struct weight *w = &o->weights.arrays.at[i];
        struct sched_region read = region_read(o, w->array);
        if (!read.any)
            continue;
        rows.any = true;
        o->rows =
            arena_array(o->pass->scratch, struct sched_region_dim, rank + 1);
        for (uint32_t d = 0; d < rank; d++)
            for (uint32_t k = 0; k < w->array->rank; k++)
                if (ir_expr_equal(w->index[k], w->row[d]))
                    o->rows[d] = read.dims[k];
    }
}

// Check that an iteration uses the same rows as the others.
static bool check_rows(const struct sched_call *c, struct online *o)
{
    find_rows(o);
    for (uint32_t d = 0; d < o->weights.greatest->rank; d++)
        if (o->rows[d].base &&
            ir_mentions(o->rows[d].base, o->loop->u.loop.var))
            return refuse_loop(c, o, o->stage,
                               "its iterations have other rows");
    return true;
}

// Check everything and fill `o` in.
static bool check(const struct sched_call *c, struct online *o)
{
    struct sched_uses uses;
    if (!sched_check_movable(c, o->stage, o->loop, &o->stores))
        return false;
    uses = sched_uses_of_all(c->pass, &o->stores.arrays);
    if (!weights_start(&o->weights, c->pass, o->stage))
        return sched_refuse(c, o->stage, "is not", D_online_greatest,
                            sched_name_of(o->stage));
    if (!sched_check_alone(c, o->stage, &uses) ||
        !sched_check_moved(c, o->stage) || !sched_check_serial(c, o->loop) ||
        !sched_check_plain(c, o->loop) || !sched_check_from_zero(c, o->loop) ||
        !take_all(c, o) || !check_readers(c, o, o->weights.greatest, true) ||
        !check_inputs(c, o, o->stage, o->stage) || !check_rows(c, o))
        return false;
    vec_foreach(w, &o->weights.arrays)
        if (!check_readers(c, o, w->array, false))
            return false;
    vec_foreach(u, &o->users)
        if (u->moves && !check_moved(c, o, u))
            return false;
    return true;
}

// ---- The new tree ---------------------------------------------------------

// Return a new stage over rows, with its index.
static struct ir_stmt *row_stage(const struct online *o, const char *name,
                                 struct ir_expr ***index)
{
    struct pass *p = o->pass;
    uint32_t n = o->weights.greatest->rank;
    struct ir_expr **extents = arena_array(p->scratch, struct ir_expr *, n + 1);
    struct ir_stmt *s = ir_stmt_stage(p->arena, str_name(p->names, name));
    for (uint32_t d = 0; d < n; d++)
        extents[d] = iter_of(o->stage, o->weights.index[d])->extent;
    s->span = o->stage->span;
    *index = stage_nest_iters(p, s, n, extents);
    return s;
}

// Append a store of a row to a stage.
static void append_store(const struct online *o, struct ir_stmt *s,
                         struct ir_buffer *b, struct ir_expr **index,
                         struct ir_expr *value)
{
    struct arena *a = o->pass->arena;
    struct ir_stmt *store = ir_stmt_store(a, b, b->rank, index, value);
    store->span = s->span;
    ir_append(a, &s->u.stage.body, store);
}

// Return the stage that starts the greatest elements, and those that sums are for.
static struct ir_stmt *make_start(const struct online *o)
{
    struct ir_expr **index;
    struct ir_buffer *m = o->stores.arrays.n ? sched_stored(o->stage) : NULL;
    const char *name =
        arena_printf(o->pass->scratch, "%s.init", o->stage->u.stage.name);
    struct ir_stmt *s = row_stage(o, name, &index);
    append_store(o, s, m, index, o->stage->u.stage.init.at[0]->u.store.value);
    append_store(o, s, o->at, index, weights_lowest(&o->weights));
    return s;
}

// Return the stage that finds the factors, and notes what sums are for now.
static struct ir_stmt *make_note(const struct online *o)
{
    struct arena *a = o->pass->arena;
    struct ir_expr **index;
    struct ir_stmt *s = row_stage(o, o->factor->name, &index);
    struct ir_buffer *m = sched_stored(o->stage);
    struct ir_expr *to = ir_binary(a, OP_max, ir_load(a, m, m->rank, index),
                                   weights_lowest(&o->weights));
    struct ir_expr *from = ir_load(a, o->at, m->rank, index);
    append_store(o, s, o->factor, index, weights_factor(&o->weights, from, to));
    append_store(o, s, o->at, index, to);
    return s;
}

// Return the condition that a row of a stage exists, or NULL if each does.
static struct ir_expr *row_exists(const struct online *o,
                                  const struct ir_stmt *s,
                                  struct ir_expr *const *row)
{
    struct arena *a = o->pass->arena;
    struct ir_expr *all = NULL;
    for (uint32_t d = 0; d < o->weights.greatest->rank; d++) {
        struct ir_expr *end = iter_of(o->stage, o->weights.index[d])->extent;
        if (ir_expr_equal(iter_of(s, row[d])->extent, end))
            continue;
        struct ir_expr *one = ir_binary(a, OP_lt, row[d], end);
        all = all ? ir_binary(a, OP_and, all, one) : one;
    }
    return all;
}

// Return the stage that scales what a sum has so far; its variables are those of
// the sum that select elements.
static struct ir_stmt *make_scale(const struct online *o, const struct user *u)
{
    struct arena *a = o->pass->arena;
    const struct ir_stage *sum = &u->stage->u.stage;
    const struct ir_stmt *store = sum->body.at[0];
    struct ir_stmt *s = ir_stmt_stage(
        a, str_name(o->pass->names,
                    arena_printf(o->pass->scratch, "%s.scale", sum->name)));
    struct map vars = {.arena = o->pass->scratch};
    s->span = u->stage->span;
    for (size_t i = 0; i < sum->iters.n; i++) {
        struct ir_iter it = sum->iters.at[i];
        if (it.is_reduce)
            continue;
        it.var = ir_var_new(a, it.var->name, it.var->type, VAR_iter, s->span);
        it.binding = ir_int(a, 0);
        map_set(&vars, sum->iters.at[i].var, ir_read(a, it.var));
        vec_push(a, &s->u.stage.iters, it);
    }
    struct ir_buffer *b = store->u.store.buffer;
    struct ir_expr **index =
        ir_substitute_all(a, b->rank, store->u.store.index, &vars, NULL);
    struct ir_expr **row =
        ir_substitute_all(a, o->factor->rank, u->use.row, &vars, NULL);
    struct ir_expr *own = ir_load(a, b, b->rank, index);
    struct ir_expr *factor =
        ir_cast(a, own->type, ir_load(a, o->factor, o->factor->rank, row));
    struct ir_expr *exists = row_exists(o, s, row);
    if (exists)
        factor = ir_select(a, exists, factor, ir_const_float(a, own->type, 1));
    append_store(o, s, b, index, ir_binary(a, OP_mul, own, factor));
    return s;
}

// Return the region of a stage: what it is of the stage's rows and columns in an
// iteration of the loop; of other variables that of the sum, which goes on.
static struct sched_region_dim *region_of(const struct online *o,
                                          const struct ir_stmt *s,
                                          struct ir_expr *const *row,
                                          const struct ir_expr *column)
{
    struct sched_region_dim *region = stage_nest_region(o->pass, &s->u.stage);
    for (uint32_t d = 0; d < o->weights.greatest->rank; d++)
        region[ir_stage_iter(&s->u.stage, row[d])] = o->rows[d];
    if (column)
        region[ir_stage_iter(&s->u.stage, column)] = o->tile;
    return region;
}

// Return the region of a scale: that of the elements of the sum in an iteration.
static struct sched_region_dim *scale_region(const struct online *o,
                                             const struct user *u,
                                             const struct ir_stmt *scale)
{
    const struct ir_stmt *store = scale->u.stage.body.at[0];
    struct sched_region_query q = {.pass = o->pass,
                                   .loop = o->loop,
                                   .only = u->stage,
                                   .buffer = store->u.store.buffer,
                                   .access = REGION_stores};
    struct sched_region_dim *region =
        stage_nest_region(o->pass, &scale->u.stage);
    struct sched_region found = sched_region_find(&q);
    for (uint32_t d = 0; d < store->u.store.n; d++)
        region[ir_stage_iter(&scale->u.stage, store->u.store.index[d])] =
            found.dims[d];
    return region;
}

// Let a stage read the greatest elements that sums are for.
static struct ir_expr *read_noted(struct arena *a, struct ir_expr *x,
                                  void *context)
{
    const struct online *o = context;
    return x->op == OP_load && x->u.buffer == o->weights.greatest
               ? ir_at(a, ir_load(a, o->at, x->n, x->args), x->span)
               : x;
}

// Put a stage over rows in front of a statement.
static void put_rows(const struct online *o, struct ir_stmt *s,
                     const struct ir_stmt *before)
{
    struct sched_place place = sched_place_of(o->pass, before, false);
    stage_nest_put(o->pass, s, &place, o->rows);
}

// Put the scale of a sum in front of it in the loop: not in the first iteration, in
// which there is nothing yet.
static void put_scale(struct sched_call *c, const struct online *o,
                      const struct user *u)
{
    struct arena *a = o->pass->arena;
    size_t at;
    struct ir_stmt *s = make_scale(o, u);
    struct sched_place place = sched_place_of(
        o->pass, sched_child_with(o->pass, o->loop, u->stage, &at), false);
    struct ir_expr *later =
        ir_binary(a, OP_gt, ir_read(a, o->loop->u.loop.var), ir_int(a, 0));
    stage_nest_put(o->pass, s, &place, scale_region(o, u, s));
    s->u.stage.predicate =
        s->u.stage.predicate ? ir_binary(a, OP_and, s->u.stage.predicate, later)
                             : later;
    sched_result(c, VALUE_stage, s);
}

// Return whether a stage uses what another one in the loop stores.
static bool is_behind_loop_stages(const struct online *o, const struct user *u)
{
    struct sched_buffers inputs = sched_inputs_of(o->pass, u->stage);
    vec_foreach(other, &o->users)
        if (!other->moves && !other->is_sum &&
            sched_has_buffer(&inputs, sched_stored(other->stage)))
            return true;
    return false;
}

// Move a stage into the loop: in front of what uses the greatest elements, or to the
// end.
static void move(const struct online *o, struct ir_stmt *s,
                 struct ir_expr *const *row, const struct ir_expr *column,
                 bool to_end)
{
    const struct ir_block *body = &o->loop->u.loop.body;
    struct sched_region_dim *region = region_of(o, s, row, column);
    sched_remove(o->pass, s);
    struct sched_place place = sched_place_of(
        o->pass, to_end ? body->at[body->n - 1] : o->front, to_end);
    stage_nest_put(o->pass, s, &place, region);
}

// Rewrite.
static void rewrite(struct sched_call *c, struct online *o)
{
    struct pass *p = c->pass;
    const char *name = o->weights.greatest->name;
    struct ir_stmt *start, *note;
    o->at = sched_new_buffer(p, arena_printf(p->scratch, "%s_at", name),
                             o->weights.greatest, SPACE_global);
    o->factor = sched_new_buffer(p, arena_printf(p->scratch, "%s_factor", name),
                                 o->weights.greatest, SPACE_global);
    sched_hoist_arrays(p);
    start = make_start(o);
    note = make_note(o);
    move(o, o->stage, o->weights.index,
         ir_read(p->arena, o->weights.column->var), false);
    o->stage->u.stage.has_init = false;
    o->stage->u.stage.init = (struct ir_block){0};
    put_rows(o, start, o->loop);
    put_rows(o, note, o->front);
    sched_result(c, VALUE_stage, start);
    sched_result(c, VALUE_stage, note);
    vec_foreach(u, &o->users) {
        ir_rewrite_in(p->arena, &u->stage->u.stage.body, read_noted, o);
        if (u->moves)
            move(o, u->stage, u->use.row, u->use.column,
                 is_behind_loop_stages(o, u));
        if (u->is_sum)
            put_scale(c, o, u);
    }
}

// Leave out the last iterations of the loop if a mask leaves them no elements.
static void shorten(const struct online *o)
{
    struct ir_for *loop = &o->loop->u.loop;
    struct ir_expr *end =
        sched_masked_end(o->pass, o->loop, o->stage, o->weights.element);
    if (end)
        loop->to = ir_binary(o->pass->arena, OP_min, loop->to, end);
}

bool sched_online(struct sched_call *c)
{
    struct online o = {
        .pass = c->pass, .stage = sched_arg(c, 0), .loop = sched_arg(c, 1)};
    if (!check(c, &o))
        return false;
    rewrite(c, &o);
    shorten(&o);
    return true;
}
