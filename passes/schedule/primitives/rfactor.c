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

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/analysis/reducer.h"
#include "passes/opt/fold.h"

// A factoring in the making.
struct factoring {
    struct pass *pass;
    struct ir_stmt *loop, *stage;
    struct ir_path path; // down to the stage
    uint32_t top;        // from here on: only loops, each alone in its block
    uint32_t axis;
    struct reducer reducer;
    struct ir_buffer *parts[REDUCER_ARRAYS]; // of the partial results
};

// Return what a loop does for the stage; nothing, other statements.
static unsigned role_of(const struct factoring *f, const struct ir_stmt *s)
{
    return s->kind == STMT_for
               ? ir_stage_role(&f->stage->u.stage, s->u.loop.var)
               : 0;
}

// Report a statement that is in the way.
static bool refuse(const struct sched_call *c, enum diag_code code,
                   struct ir_stmt *s, const struct ir_stmt *other,
                   const char *note)
{
    diag_error(c->pass->diags, c->span, code, sched_name_of(s),
               sched_name_of(other));
    return sched_blame_one(c, s, note);
}

// Find the stage below the loop and the loops around it.
static bool find_nest(const struct sched_call *c, struct factoring *f)
{
    struct ir_stmt *s = f->loop;
    while (s->kind == STMT_for && s->u.loop.body.n == 1)
        s = s->u.loop.body.at[0];
    if (s->kind != STMT_stage)
        return refuse(c, D_rfactor_nest, f->loop, s, "not around one stage");
    f->stage = s;
    f->path = sched_path(c->pass, s);
    f->top = f->path.n - 1;
    while (f->top > 0 && f->path.stmts[f->top - 1]->kind == STMT_for &&
           f->path.blocks[f->top]->n == 1)
        f->top--;
    return true;
}

// Check what the loops around the stage do.
static bool check_roles(const struct sched_call *c, struct factoring *f)
{
    struct ir_stage *stage = &f->stage->u.stage;
    if (!reducer_find(c->pass, stage, &f->reducer)) {
        refuse(c, D_rfactor_reducer, f->stage, f->stage, "not any order");
        diag_help(c->pass->diags,
                  "sums, products, extremes, `any`, `all`, positions of "
                  "extremes and reductions declared with `reduce` can be");
        return false;
    }
    for (uint32_t i = 0; i + 1 < f->path.n; i++) {
        struct ir_stmt *s = f->path.stmts[i];
        unsigned role = role_of(f, s);
        if (i < f->top && (role & STAGE_REDUCES))
            return refuse(c, D_rfactor_nest, s, f->stage,
                          "not around it alone");
        if (role == (STAGE_SELECTS | STAGE_REDUCES) ||
            (s == f->loop && role != STAGE_REDUCES))
            return refuse(c, D_rfactor_loop, s, f->stage,
                          role & STAGE_REDUCES ? "does both" : "no reduction");
        if (role == STAGE_REDUCES && !sched_check_from_zero(c, s))
            return false;
    }
    return sched_check_rectangle(c, f->path.stmts + f->top,
                                 f->path.n - 1 - f->top);
}

// Check and set the place of the new dimension.
static bool check_axis(const struct sched_call *c, struct factoring *f)
{
    int64_t axis = c->args.n > 1 ? c->args.at[1].number : 0;
    int64_t rank = f->reducer.values[0].store->u.store.n;
    for (size_t i = 1; i < f->reducer.n; i++) {
        int64_t other = f->reducer.values[i].store->u.store.n;
        rank = other < rank ? other : rank;
    }
    f->axis = (uint32_t)(axis < 0 ? axis + rank + 1 : axis);
    if (axis >= -rank - 1 && axis <= rank)
        return true;
    diag_error(c->pass->diags, c->span, D_rfactor_axis, (long long)axis,
               (long long)rank + 1);
    return sched_blame_one(c, f->stage, "its elements");
}

// Note a variable that a shape cannot mention.
static void see_local(struct ir_expr *x, void *context)
{
    *(bool *)context |=
        (x->op == OP_var && x->u.var->kind != VAR_param) || x->op == OP_load;
}

// Check that the partial results can be declared on top of the kernel.
static bool check_extent(const struct sched_call *c, struct factoring *f)
{
    bool found = false;
    ir_each_expr(f->loop->u.loop.to, see_local, &found);
    return !found ||
           refuse(c, D_rfactor_extent, f->loop, f->stage, "its extent varies");
}

// Return whether an expression mentions a loop of the nest that has that role.
static bool mentions(const struct factoring *f, const struct ir_expr *x,
                     unsigned role)
{
    for (uint32_t i = f->top; i + 1 < f->path.n; i++) {
        struct ir_stmt *s = f->path.stmts[i];
        if ((role_of(f, s) & role) && ir_mentions(x, s->u.loop.var))
            return true;
    }
    return false;
}

// Return the conjuncts of the predicate that the reduction decides, or the
// others; NULL for none.
static struct ir_expr *part_of_predicate(const struct factoring *f,
                                         bool reduction)
{
    struct conditions all = {0}, kept = {0};
    struct pass *p = f->pass;
    if (f->stage->u.stage.predicate)
        fold_split(p->scratch, f->stage->u.stage.predicate, &all);
    for (size_t i = 0; i < all.n; i++) {
        if (mentions(f, all.at[i], STAGE_REDUCES) == reduction)
            vec_push(p->scratch, &kept, all.at[i]);
    }
    return kept.n ? fold_all(p->arena, kept.at, kept.n) : NULL;
}

// Check that the predicate comes apart.
static bool check_predicate(const struct sched_call *c, struct factoring *f)
{
    struct ir_expr *x = part_of_predicate(f, true);
    return !x || !mentions(f, x, STAGE_SELECTS) ||
           refuse(c, D_rfactor_predicate, f->stage, f->loop,
                  "its condition depends on both");
}

// Copy the loops of the nest, all of them or those that the final stage
// needs, around `inner`; `vars` maps the old variables to the new ones.
static struct ir_stmt *copy_loops(const struct factoring *f, bool all,
                                  struct ir_block **innermost, struct map *vars)
{
    struct arena *a = f->pass->arena;
    struct ir_block nest = {0};
    *innermost = &nest;
    for (uint32_t i = f->top; i + 1 < f->path.n; i++) {
        struct ir_stmt *old = f->path.stmts[i];
        const struct ir_for *l = &old->u.loop;
        if (!all && old != f->loop && (role_of(f, old) & STAGE_REDUCES))
            continue;
        struct ir_var *var =
            ir_var_new(a, l->var->name, l->var->type, VAR_loop, l->var->span);
        struct ir_stmt *s =
            ir_stmt_for(a, var, l->from, l->to, l->step, l->axis);
        s->span = old->span;
        for (size_t k = 0; k < l->attrs.n; k++)
            vec_push(a, &s->u.loop.attrs, l->attrs.at[k]);
        map_set(vars, l->var, ir_read(a, var));
        ir_append(a, *innermost, s);
        *innermost = &s->u.loop.body;
    }
    return nest.at[0];
}

// Add an iteration variable to a stage.
static struct ir_var *add_iter(const struct factoring *f,
                               struct ir_stage *stage, const char *name,
                               struct ir_expr *extent, struct ir_expr *binding,
                               bool is_reduce)
{
    struct arena *a = f->pass->arena;
    struct ir_iter it = {.extent = extent, .binding = binding};
    it.var = ir_var_new(a, str_name(f->pass->names, name),
                        type_scalar(TYPE_int), VAR_iter, f->loop->span);
    it.is_reduce = is_reduce;
    vec_push(a, &stage->iters, it);
    return it.var;
}

// Return the name of the iteration variable of a loop: that of the stage's
// own which is bound to the loop alone, or `v` and the loop's name.
static const char *iter_name(const struct factoring *f,
                             const struct ir_stmt *loop)
{
    const struct ir_stage *stage = &f->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_expr *x = stage->iters.at[i].binding;
        if (x->op == OP_var && x->u.var == loop->u.loop.var)
            return stage->iters.at[i].var->name;
    }
    return arena_printf(f->pass->scratch, "v%s", loop->u.loop.var->name);
}

// The variables of a new stage.
struct variables {
    struct map loops; // of the nest, to the new loops
    struct map iters; // of the old stage, to what they are in the new one
    struct map inner; // loops of the reduction, to the new stage's variables
    struct ir_expr *factor; // the factored loop's variable
};

// Add a variable for a loop of the reduction.
static void add_loop_iter(const struct factoring *f, struct ir_stage *stage,
                          const struct ir_stmt *loop, bool is_reduce,
                          struct variables *v)
{
    const struct ir_for *l = &loop->u.loop;
    struct ir_var *var = add_iter(f, stage, iter_name(f, loop), l->to,
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
    const struct ir_stage *old = &f->stage->u.stage;
    struct arena *a = f->pass->arena;
    uint32_t spatial = 0;
    for (size_t i = 0; i < old->iters.n; i++) {
        const struct ir_iter *it = &old->iters.at[i];
        if (it->is_reduce)
            continue;
        if (!is_final && spatial++ == f->axis)
            add_loop_iter(f, stage, f->loop, false, v);
        struct ir_expr *binding =
            ir_substitute(a, it->binding, &v->loops, NULL);
        struct ir_var *var =
            add_iter(f, stage, it->var->name, it->extent, binding, false);
        map_set(&v->iters, it->var, ir_read(a, var));
    }
    if (!v->factor)
        add_loop_iter(f, stage, f->loop, is_final, v);
    for (uint32_t i = f->top; i + 1 < f->path.n && !is_final; i++) {
        struct ir_stmt *s = f->path.stmts[i];
        if (s != f->loop && (role_of(f, s) & STAGE_REDUCES))
            add_loop_iter(f, stage, s, true, v);
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
    struct arena *a = f->pass->arena;
    const struct ir_stmt *store = f->reducer.values[i].store;
    struct reducer_place at = {.buffer = store->u.store.buffer};
    at.index = arena_array(a, struct ir_expr *, store->u.store.n + 1);
    if (is_part)
        at.buffer = f->parts[i];
    for (uint32_t k = 0; k <= store->u.store.n; k++) {
        if (is_part && k == f->axis)
            at.index[at.n++] = v->factor;
        if (k < store->u.store.n)
            at.index[at.n++] =
                ir_substitute(a, store->u.store.index[k], &v->iters, NULL);
    }
    return at;
}

// Return the init of a new stage.
static struct ir_block make_init(const struct factoring *f,
                                 const struct reducer_place *places)
{
    struct ir_block init = {0};
    for (size_t i = 0; i < f->reducer.n; i++) {
        struct ir_stmt *s = reducer_write(f->pass->arena, &places[i],
                                          f->reducer.values[i].identity);
        s->span = f->reducer.values[i].store->span;
        ir_append(f->pass->arena, &init, s);
    }
    return init;
}

// Return no variables.
static struct variables variables_new(const struct factoring *f)
{
    struct arena *a = f->pass->scratch;
    return (struct variables){
        .loops = {.arena = a}, .iters = {.arena = a}, .inner = {.arena = a}};
}

// Make the stage of the partial results with its loops.
static struct ir_stmt *make_partial(const struct factoring *f,
                                    struct ir_stmt **stage)
{
    struct pass *p = f->pass;
    struct variables v = variables_new(f);
    struct reducer_place places[REDUCER_ARRAYS];
    struct ir_block *innermost;
    struct ir_stmt *nest = copy_loops(f, true, &innermost, &v.loops);
    struct ir_stmt *s = ir_stmt_stage(p->arena, f->parts[0]->name);
    struct ir_expr *inner = part_of_predicate(f, true);
    struct ir_expr *outer = part_of_predicate(f, false);
    s->span = f->stage->span;
    s->u.stage.attrs = f->stage->u.stage.attrs;
    add_iters(f, &s->u.stage, false, &v);
    for (size_t i = 0; i < f->reducer.n; i++)
        places[i] = place_of(f, i, true, &v);
    s->u.stage.has_init = true;
    s->u.stage.init = make_init(f, places);
    s->u.stage.body = reducer_body(p, &f->reducer, places, &v.iters);
    if (outer)
        s->u.stage.predicate = ir_substitute(p->arena, outer, &v.loops, NULL);
    if (inner) {
        inner = ir_substitute(p->arena, inner, &v.inner, NULL);
        struct ir_stmt *branch = ir_stmt_if(p->arena, inner);
        branch->span = s->span;
        branch->u.branch.then = s->u.stage.body;
        s->u.stage.body = (struct ir_block){0};
        ir_append(p->arena, &s->u.stage.body, branch);
    }
    ir_append(p->arena, innermost, s);
    *stage = s;
    return nest;
}

// Make the stage that reduces over the partial results with its loops.
static struct ir_stmt *make_final(const struct factoring *f)
{
    struct pass *p = f->pass;
    struct variables v = variables_new(f);
    struct reducer_place places[REDUCER_ARRAYS];
    struct ir_expr *right[REDUCER_ARRAYS];
    struct ir_block *innermost;
    struct ir_stmt *nest = copy_loops(f, false, &innermost, &v.loops);
    struct ir_stmt *s = ir_stmt_stage(p->arena, f->stage->u.stage.name);
    struct ir_expr *predicate = part_of_predicate(f, false);
    s->span = f->stage->span;
    s->u.stage.attrs = f->stage->u.stage.attrs;
    add_iters(f, &s->u.stage, true, &v);
    for (size_t i = 0; i < f->reducer.n; i++) {
        struct reducer_place part = place_of(f, i, true, &v);
        places[i] = place_of(f, i, false, &v);
        right[i] = reducer_read(p->arena, &part);
    }
    s->u.stage.has_init = true;
    s->u.stage.init = make_init(f, places);
    s->u.stage.body = reducer_combine(p, &f->reducer, places, right, &v.iters);
    if (predicate)
        s->u.stage.predicate =
            ir_substitute(p->arena, predicate, &v.loops, NULL);
    ir_append(p->arena, innermost, s);
    return nest;
}

// Declare the arrays of the partial results.
static void declare_parts(struct factoring *f)
{
    struct pass *p = f->pass;
    for (size_t i = 0; i < f->reducer.n; i++) {
        const struct ir_buffer *old =
            f->reducer.values[i].store->u.store.buffer;
        const char *name = arena_printf(p->scratch, "%s_rf", old->name);
        struct ir_buffer *b = sched_new_buffer(p, name, old, SPACE_global);
        b->shape = arena_array(p->arena, struct ir_expr *, old->rank + 1);
        b->rank = 0;
        for (uint32_t k = 0; k <= old->rank; k++) {
            if (k == f->axis)
                b->shape[b->rank++] = f->loop->u.loop.to;
            if (k < old->rank)
                b->shape[b->rank++] = old->shape[k];
        }
        f->parts[i] = b;
    }
}

bool sched_rfactor(struct sched_call *c)
{
    struct factoring f = {.pass = c->pass, .loop = sched_arg(c, 0)};
    struct ir_stmt *partial;
    if (!sched_check_serial(c, f.loop) || !find_nest(c, &f) ||
        !check_roles(c, &f) || !check_axis(c, &f) || !check_extent(c, &f) ||
        !check_predicate(c, &f))
        return false;
    declare_parts(&f);
    struct ir_stmt *old = f.path.stmts[f.top];
    struct ir_stmt *first = make_partial(&f, &partial);
    struct ir_stmt *last = make_final(&f);
    struct ir_block both = {0};
    struct ir_path at = sched_path(c->pass, old);
    ir_append(c->pass->arena, &both, first);
    ir_append(c->pass->arena, &both, last);
    ir_splice(c->pass->arena, at.blocks[at.n - 1], at.index[at.n - 1], &both);
    sched_result(c, VALUE_stage, partial);
    return true;
}
