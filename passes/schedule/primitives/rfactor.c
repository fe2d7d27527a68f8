// rfactor -- reduce over all loops but one first, over that one at the end.
//
//   for i { for k0 { for k1 {
//     stage S(vi = i, reduce vk = k0 * 8 + k1) { init { S[vi] = 0 }
//                                                S[vi] = S[vi] + X[vi, vk] }
//   } } }
//     =>   rf = rfactor(k0)
//   for i { for k0 { for k1 {
//     stage S_rf(vk0 = k0, vi = i, reduce vk1 = k1) {
//       init { S_rf[vk0, vi] = 0 }
//       S_rf[vk0, vi] = S_rf[vk0, vi] + X[vi, vk0 * 8 + vk1] }
//   } } }
//   for i { for k0 {
//     stage S(vi = i, reduce vk0 = k0) { init { S[vi] = 0 }
//                                        S[vi] = S[vi] + S_rf[vk0, vi] }
//   } }
//
// The new dimension of the partial results is number `axis`, 0 unless given;
// a negative one counts from the end.  Loops keep their names in both nests.
// Conditions on the reduction move into the body of the partial stage, so
// that each of its elements has a value.
//
// Requires:
//  1. the loop is around one stage, with only loops in between    E0645
//  2. partial results may be combined in any order                E0646
//  3. the loop counts the reduction, and no loop of the nest both
//     counts it and selects elements                              E0647
//  4. the axis is one of the partial results'                     E0648
//  5. the extent follows from the sizes                           E0649
//  6. conditions on the reduction do not mix it with elements     E0650
//  7. the loop is serial                                          E0607
//  8. loops of the reduction count from 0 in steps of 1           E0623
//  9. no bounds depend on another loop's variable                 E0611

#include "passes/schedule/common/parts.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"

// A factoring in the making.
struct factoring {
    struct parts parts;
    uint32_t axis; // of the new dimension
};

// Check that the loop counts the reduction.
static bool check_loop(const struct sched_call *c, const struct parts *f)
{
    return parts_role(f, f->loop) == STAGE_REDUCES ||
           parts_refuse(c, D_rfactor_loop, f->loop, f->stage, "no reduction");
}

// Check and set the place of the new dimension.
static bool check_axis(const struct sched_call *c, struct factoring *f)
{
    int64_t axis = c->args.n > 1 ? c->args.at[1].number : 0;
    int64_t rank = f->parts.reducer.values[0].store->u.store.n;
    for (size_t i = 1; i < f->parts.reducer.n; i++) {
        int64_t other = f->parts.reducer.values[i].store->u.store.n;
        rank = other < rank ? other : rank;
    }
    f->axis = (uint32_t)(axis < 0 ? axis + rank + 1 : axis);
    if (axis >= -rank - 1 && axis <= rank)
        return true;
    return sched_refuse(c, f->parts.stage, "its elements", D_rfactor_axis,
                        (long long)axis, (long long)rank + 1);
}

// Check that the predicate comes apart.
static bool check_predicate(const struct sched_call *c, const struct parts *f)
{
    struct ir_expr *x = parts_predicate(f, true);
    return !x || !parts_mention(f, x, STAGE_SELECTS) ||
           parts_refuse(c, D_rfactor_predicate, f->stage, f->loop,
                        "its condition depends on both");
}

// Copy the loops of the nest, all of them or those that the final stage
// needs, around `inner`; `vars` maps the old variables to the new ones.
static struct ir_stmt *copy_loops(const struct parts *f, bool all,
                                  struct ir_block **innermost, struct map *vars)
{
    struct ir_block nest = {0};
    struct ir_block *inner = NULL;
    for (uint32_t i = f->top; i + 1 < f->path.n; i++) {
        const struct ir_stmt *old = f->path.stmts[i];
        if (!all && old != f->loop && (parts_role(f, old) & STAGE_REDUCES))
            continue;
        struct ir_stmt *s = parts_copy_loop(f, old, old->u.loop.to);
        map_set(vars, old->u.loop.var, ir_read(f->pass->arena, s->u.loop.var));
        ir_append(f->pass->arena, inner ? inner : &nest, s);
        inner = &s->u.loop.body;
    }
    *innermost = inner;
    return nest.at[0];
}

// The variables of a new stage.
struct variables {
    struct map loops; // of the nest, to the new loops
    struct map iters; // of the old stage, to what they are in the new one
    struct map inner; // loops of the reduction, to the new stage's variables
    struct ir_expr *factor; // the factored loop's variable
};

// Add a variable for a loop of the reduction.
static void add_loop_iter(const struct parts *f, struct ir_stage *stage,
                          const struct ir_stmt *loop, bool is_reduce,
                          struct variables *v)
{
    const struct ir_for *l = &loop->u.loop;
    struct ir_var *var =
        parts_add_iter(f, stage, parts_iter_name(f, loop), l->to,
                       map_get(&v->loops, l->var), is_reduce);
    struct ir_expr *x = ir_read(f->pass->arena, var);
    map_set(&v->inner, l->var, x);
    if (loop == f->loop)
        v->factor = x;
}

// Give a new stage variables for its elements and, at place `axis` among
// them, for the partial results; for the reductions behind.
static void add_iters(const struct factoring *f, struct ir_stage *stage,
                      bool is_final, struct variables *v)
{
    const struct ir_stage *old = &f->parts.stage->u.stage;
    struct arena *a = f->parts.pass->arena;
    uint32_t spatial = 0;
    for (uint32_t i = f->parts.top; i + 1 < f->parts.path.n; i++) {
        const struct ir_var *var = f->parts.path.stmts[i]->u.loop.var;
        if (map_has(&v->loops, var))
            map_set(&v->iters, var, map_get(&v->loops, var));
    }
    vec_foreach(it, &old->iters) {
        if (it->is_reduce)
            continue;
        if (!is_final && spatial++ == f->axis)
            add_loop_iter(&f->parts, stage, f->parts.loop, false, v);
        struct ir_expr *binding =
            ir_substitute(a, it->binding, &v->loops, NULL);
        struct ir_var *var = parts_add_iter(&f->parts, stage, it->var->name,
                                            it->extent, binding, false);
        map_set(&v->iters, it->var, ir_read(a, var));
    }
    if (!v->factor)
        add_loop_iter(&f->parts, stage, f->parts.loop, is_final, v);
    for (uint32_t i = f->parts.top; i + 1 < f->parts.path.n && !is_final; i++) {
        struct ir_stmt *s = f->parts.path.stmts[i];
        if (s != f->parts.loop && (parts_role(&f->parts, s) & STAGE_REDUCES))
            add_loop_iter(&f->parts, stage, s, true, v);
    }
    for (size_t i = 0; i < old->iters.n && !is_final; i++) {
        const struct ir_iter *it = &old->iters.at[i];
        if (it->is_reduce)
            map_set(&v->iters, it->var,
                    ir_substitute(a, it->binding, &v->inner, NULL));
    }
}

// Return the place of a partial result, or of the result.
static struct reducer_place place_of(const struct factoring *f, size_t i,
                                     bool is_part, const struct variables *v)
{
    struct arena *a = f->parts.pass->arena;
    const struct ir_stmt *store = f->parts.reducer.values[i].store;
    struct reducer_place at = {.buffer = store->u.store.buffer};
    at.index = arena_array(a, struct ir_expr *, store->u.store.n + 1);
    if (is_part)
        at.buffer = f->parts.buffers[i];
    for (uint32_t k = 0; k <= store->u.store.n; k++) {
        if (is_part && k == f->axis)
            at.index[at.n++] = v->factor;
        if (k < store->u.store.n)
            at.index[at.n++] =
                ir_substitute(a, store->u.store.index[k], &v->iters, NULL);
    }
    return at;
}

// Return no variables.
static struct variables variables_new(const struct factoring *f)
{
    struct arena *a = f->parts.pass->scratch;
    return (struct variables){
        .loops = {.arena = a}, .iters = {.arena = a}, .inner = {.arena = a}};
}

// Make the stage of the partial results with its loops.
static struct ir_stmt *make_partial(const struct factoring *f,
                                    struct ir_stmt **stage)
{
    struct pass *p = f->parts.pass;
    struct variables v = variables_new(f);
    struct reducer_place places[REDUCER_ARRAYS];
    struct ir_block *innermost;
    struct ir_stmt *nest = copy_loops(&f->parts, true, &innermost, &v.loops);
    struct ir_stmt *s = parts_new_stage(&f->parts, f->parts.buffers[0]->name);
    struct ir_expr *inner = parts_predicate(&f->parts, true);
    struct ir_expr *outer = parts_predicate(&f->parts, false);
    add_iters(f, &s->u.stage, false, &v);
    for (size_t i = 0; i < f->parts.reducer.n; i++)
        places[i] = place_of(f, i, true, &v);
    s->u.stage.init = parts_init(&f->parts, places);
    s->u.stage.body = reducer_body(p, &f->parts.reducer, places, &v.iters);
    if (outer)
        s->u.stage.predicate = ir_substitute(p->arena, outer, &v.loops, NULL);
    if (inner)
        parts_guard(&f->parts, s,
                    ir_substitute(p->arena, inner, &v.inner, NULL));
    ir_append(p->arena, innermost, s);
    *stage = s;
    return nest;
}

// Make the stage that reduces over the partial results with its loops.
static struct ir_stmt *make_final(const struct factoring *f)
{
    struct pass *p = f->parts.pass;
    struct variables v = variables_new(f);
    struct reducer_place places[REDUCER_ARRAYS];
    struct ir_expr *right[REDUCER_ARRAYS];
    struct ir_block *innermost;
    struct ir_stmt *nest = copy_loops(&f->parts, false, &innermost, &v.loops);
    struct ir_stmt *s =
        parts_new_stage(&f->parts, f->parts.stage->u.stage.name);
    struct ir_expr *predicate = parts_predicate(&f->parts, false);
    add_iters(f, &s->u.stage, true, &v);
    for (size_t i = 0; i < f->parts.reducer.n; i++) {
        struct reducer_place part = place_of(f, i, true, &v);
        places[i] = place_of(f, i, false, &v);
        right[i] = reducer_read(p->arena, &part);
    }
    s->u.stage.init = parts_init(&f->parts, places);
    s->u.stage.body =
        reducer_combine(p, &f->parts.reducer, places, right, &v.iters);
    if (predicate)
        s->u.stage.predicate =
            ir_substitute(p->arena, predicate, &v.loops, NULL);
    ir_append(p->arena, innermost, s);
    return nest;
}

// Declare the arrays of the partial results.
static void declare_parts(struct factoring *f)
{
    for (size_t i = 0; i < f->parts.reducer.n; i++) {
        const struct ir_buffer *old =
            f->parts.reducer.values[i].store->u.store.buffer;
        struct ir_buffer *b = parts_declare(&f->parts, i, "rf", old->rank + 1);
        for (uint32_t k = 0; k <= old->rank; k++) {
            if (k == f->axis)
                b->shape[k] = parts_extent(&f->parts, f->parts.loop);
            else
                b->shape[k] = old->shape[k < f->axis ? k : k - 1];
        }
    }
}

bool sched_rfactor(struct sched_call *c)
{
    struct factoring f = {.parts = {.pass = c->pass, .loop = sched_arg(c, 0)}};
    struct ir_stmt *partial;
    if (!sched_check_serial(c, f.parts.loop) || !parts_find_nest(c, &f.parts) ||
        !parts_check_roles(c, &f.parts) || !check_loop(c, &f.parts) ||
        !check_axis(c, &f) || !parts_check_extent(c, &f.parts, f.parts.loop) ||
        !check_predicate(c, &f.parts))
        return false;
    declare_parts(&f);
    struct ir_stmt *first = make_partial(&f, &partial);
    struct ir_stmt *last = make_final(&f);
    parts_replace(&f.parts, first, last);
    sched_result(c, VALUE_stage, partial);
    return true;
}
