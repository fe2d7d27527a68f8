// Copies of arrays whose indices are a stage's iteration variables.

#include "passes/schedule/common/recache.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"
#include "passes/schedule/common/index_map.h"
#include "passes/schedule/common/move.h"
#include "passes/schedule/common/stage_nest.h"

// A copy in the making.
struct plan {
    struct sched_call *c;
    const struct recache *want;
    struct ir_expr *const *index; // by which the stage reaches the array
    const char *fault;            // why there is no such index
    bool loads, stores;           // what the stage does
    bool is_in_init;              // its init does so
    struct ir_stmt *top;          // the statement of the outermost block
    struct sched_map map;         // over the variables in `used`
    uint32_t *used;
    struct ir_expr **extents; // of these
    struct index_map checked;
};

// Report a stage that has no plain index.
static bool refuse(const struct plan *x, const char *why)
{
    return sched_refuse(x->c, x->want->stage, "to be remapped", D_remap_stage,
                        x->want->stage->u.stage.name, why);
}

// Take the index of an access, which must be that of all others.
static void take_index(struct plan *x, uint32_t n, struct ir_expr *const *index)
{
    if (x->index && !ir_all_equal(n, x->index, index))
        x->fault = "it uses several elements of the array at once";
    x->index = index;
}

// Look at an expression; accesses under a condition count as faults.
static void take_expr(struct plan *x, struct ir_expr *e, bool sometimes)
{
    unsigned flags = ir_op_info(e->op)->flags;
    if ((flags & (OP_READS | OP_WRITES)) && e->u.buffer == x->want->array) {
        if (sometimes || e->op != OP_load)
            x->fault = sometimes ? "a condition decides on an access"
                                 : "it does atomics on the array";
        take_index(x, ir_index_count(e), e->args);
        x->loads = true;
    }
    for (uint32_t i = 0; i < e->n; i++)
        take_expr(x, e->args[i], sometimes || ((flags & OP_LAZY) && i));
}

// Look at the statements of a block.
static void take_block(struct plan *x, struct ir_block *block, bool sometimes)
{
    vec_foreach_value(s, block) {
        ir_foreach_place(place, s)
            take_expr(x, *place, sometimes);
        if (s->kind == STMT_store && s->u.store.buffer == x->want->array) {
            if (sometimes)
                x->fault = "a condition decides on an access";
            take_index(x, s->u.store.n, s->u.store.index);
            x->stores = true;
        }
        ir_foreach_block(inner, s)
            take_block(x, inner, true);
    }
}

// Return whether a condition only keeps an iteration variable below its
// extent.
static bool is_tail(const struct ir_stage *stage, const struct ir_expr *x)
{
    for (size_t i = 0; i < stage->iters.n && x->op == OP_lt; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        if (ir_expr_equal(x->args[0], it->binding) &&
            ir_expr_equal(x->args[1], it->extent))
            return true;
    }
    return false;
}

// Return whether the stage runs for all values of its variables.
static bool is_whole(const struct plan *x)
{
    const struct ir_stage *stage = &x->want->stage->u.stage;
    if (!stage->predicate)
        return true;
    struct conditions all = fold_split(x->c->pass->scratch, stage->predicate);
    for (size_t i = 0; i < all.n; i++)
        if (!is_tail(stage, all.at[i]))
            return false;
    return true;
}

// Return whether an index is made of parameters and the stage's variables.
static bool is_of_iters(const struct ir_stage *stage, struct ir_expr *index)
{
    ir_foreach_expr(x, index) {
        bool found = x->op != OP_var || x->u.var->kind == VAR_param;
        for (size_t i = 0; i < stage->iters.n && !found; i++)
            found = stage->iters.at[i].var == x->u.var;
        if (!found || !ir_is_pure(x, true))
            return false;
    }
    return true;
}

// Return whether the index of the array mentions a variable.
static bool indexes(const struct plan *x, const struct ir_var *var)
{
    return ir_any_mentions(x->want->array->rank, x->index, var);
}

// Return whether the index is proved to stay in the array for all values of
// the iteration variables: the copy is made for all, and the loops around the
// stage may leave some out.
static bool stays_inside(const struct plan *x)
{
    struct pass *p = x->c->pass;
    struct facts f;
    const struct ir_stage *stage = &x->want->stage->u.stage;
    bool inside = true;
    facts_start(&f, p->scratch, p->kernel);
    vec_foreach(it, &stage->iters) {
        struct ir_expr *v = ir_read(p->scratch, it->var);
        facts_assume(&f, ir_binary(p->scratch, OP_ge, v, ir_int(p->scratch, 0)),
                     true);
        facts_assume(&f, ir_binary(p->scratch, OP_lt, v, it->extent), true);
    }
    for (uint32_t i = 0; i < x->want->array->rank; i++) {
        struct ir_expr *at = x->index[i], *end = x->want->array->shape[i];
        struct ir_expr *low =
            ir_binary(p->scratch, OP_ge, at, ir_int(p->scratch, 0));
        struct ir_expr *high = ir_binary(p->scratch, OP_lt, at, end);
        inside &= facts_holds(&f, low) && facts_holds(&f, high);
    }
    return inside;
}

// Check how the stage reaches the array.
static bool check_index(struct plan *x)
{
    const struct recache *r = x->want;
    struct ir_stage *stage = &r->stage->u.stage;
    take_block(x, &stage->init, false);
    x->is_in_init = x->index != NULL;
    take_block(x, &stage->body, false);
    if (!x->index || (r->writes && !x->stores))
        return sched_refuse(x->c, r->stage, "named here", D_cache_unused,
                            stage->name, r->writes ? "write" : "read",
                            r->array->name);
    for (uint32_t i = 0; i < r->array->rank; i++)
        if (!is_of_iters(stage, x->index[i]))
            x->fault = "the index is made of more than iteration variables";
    if (!x->fault && !r->writes && x->stores)
        x->fault = "it writes the array, too";
    if (!x->fault && r->writes && x->loads && !stage->has_init)
        x->fault = "it reads elements that it has not written";
    if (!x->fault && !is_whole(x))
        x->fault = "its condition leaves iterations out";
    if (!x->fault && !r->writes && !stays_inside(x))
        x->fault = "its index may leave the array where no loop reaches";
    return !x->fault || refuse(x, x->fault);
}

// Check that nothing in the same statement of the outermost block is in the
// way.  An array that the stage writes has no other writer at all, which may
// compute what the copy would overwrite.
static bool check_others(struct plan *x)
{
    struct pass *p = x->c->pass;
    const struct recache *r = x->want;
    struct sched_uses uses = sched_uses_of(p, r->array);
    x->top = sched_path(p, r->stage).stmts[0];
    for (size_t i = 0; i < uses.writers.n + uses.readers.n; i++) {
        bool reads = i >= uses.writers.n;
        struct ir_stmt *s =
            reads ? uses.readers.at[i - uses.writers.n] : uses.writers.at[i];
        bool other = r->writes && !reads;
        if (s == r->stage || (reads && !r->writes) ||
            (!other && !sched_is_below(p, s, x->top)))
            continue;
        return sched_refuse(x->c, s, reads ? "reads it" : "writes it",
                            D_cache_changed, r->array->name,
                            r->stage->u.stage.name);
    }
    return true;
}

// Check that the array is there on top of the kernel.
static bool check_declared(const struct plan *x)
{
    const struct ir_block *body = &x->c->pass->kernel->body;
    bool found = x->want->array->role != ROLE_alloc;
    for (size_t i = 0; i < body->n; i++)
        found |= body->at[i]->kind == STMT_alloc &&
                 body->at[i]->u.buffer == x->want->array;
    return found || refuse(x, "the array is declared inside of a statement");
}

// Return the map of the variables of the array's index, in their order.
static struct sched_map own_map(struct plan *x)
{
    struct pass *p = x->c->pass;
    const struct ir_stage *stage = &x->want->stage->u.stage;
    struct sched_map m = {.span = x->c->span};
    m.n = (uint32_t)stage->iters.n;
    m.vars = arena_array(p->scratch, struct ir_var *, m.n);
    m.to = arena_array(p->scratch, struct ir_expr *, m.n);
    for (uint32_t i = 0; i < m.n; i++) {
        m.vars[i] = stage->iters.at[i].var;
        if (indexes(x, m.vars[i]))
            m.to[m.m++] = ir_read(p->arena, m.vars[i]);
    }
    return m;
}

// Keep what the map uses of the variables, and check that this is what the
// index needs.
static bool check_map(struct plan *x)
{
    struct pass *p = x->c->pass;
    const struct ir_stage *stage = &x->want->stage->u.stage;
    struct sched_map m = x->want->map ? *x->want->map : own_map(x);
    if (m.n != stage->iters.n)
        return diag_error(p->diags, m.span, D_map_shape, stage->name,
                          (long long)stage->iters.n, (long long)m.n,
                          (long long)m.m);
    x->map = m;
    x->map.n = 0;
    x->map.vars = arena_array(p->scratch, struct ir_var *, m.n);
    x->used = arena_array(p->scratch, uint32_t, m.n);
    x->extents = arena_array(p->scratch, struct ir_expr *, m.n);
    for (uint32_t i = 0; i < m.n; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        bool uses = ir_any_mentions(m.m, m.to, m.vars[i]),
             needs = indexes(x, it->var);
        const char *name = it->var->name;
        if (needs && !uses)
            return refuse(
                x, arena_printf(p->scratch, "the map leaves `%s` out", name));
        if (uses && x->want->writes && (!needs || it->is_reduce))
            return refuse(
                x, arena_printf(p->scratch, "`%s` selects no element", name));
        if (uses && x->is_in_init && it->is_reduce)
            return refuse(x, arena_printf(p->scratch,
                                          "`%s` has no value in the init, "
                                          "which reads the array",
                                          name));
        if (!uses)
            continue;
        x->used[x->map.n] = i;
        x->extents[x->map.n] = it->extent;
        x->map.vars[x->map.n++] = m.vars[i];
    }
    if (!x->map.m)
        return refuse(x, "the array has one element for all iterations");
    return index_map_check(x->c, &x->map, x->extents, x->map.n, stage->name,
                           &x->checked);
}

// Redirects accesses: the context of redirect and redirect_store.
struct redirection {
    struct plan *x;
    struct ir_buffer *copy;
    struct ir_expr **index;
};

// Let a load read the copy.
static struct ir_expr *redirect(struct arena *a, struct ir_expr *e,
                                void *context)
{
    const struct redirection *r = context;
    if (e->op != OP_load || e->u.buffer != r->x->want->array)
        return e;
    return ir_at(a, ir_load(a, r->copy, r->copy->rank, r->index), e->span);
}

// Let a store write the copy.
static void redirect_store(const struct redirection *r, struct ir_stmt *s)
{
    if (s->kind != STMT_store || s->u.store.buffer != r->x->want->array)
        return;
    s->u.store.buffer = r->copy;
    s->u.store.index = r->index;
    s->u.store.n = r->copy->rank;
}

// Return the stage that copies: the index of the array has the
// variables that the new indices stand for.
static struct ir_stmt *make_copy(struct plan *x, struct ir_buffer *copy)
{
    struct pass *p = x->c->pass;
    struct arena *a = p->arena;
    struct ir_buffer *array = x->want->array;
    struct map vars = {.arena = p->scratch};
    struct ir_stmt *stage = ir_stmt_stage(a, copy->name);
    stage->span = sched_load_span(x->want->stage, array);
    struct ir_expr **new = stage_nest_iters(p, stage, copy->rank, copy->shape);
    struct ir_expr **old = index_map_invert(p, &x->checked, new);
    for (uint32_t i = 0; i < x->map.n; i++)
        map_set(&vars, x->want->stage->u.stage.iters.at[x->used[i]].var,
                old[i]);
    struct ir_expr **index =
        ir_substitute_all(a, array->rank, x->index, &vars, NULL);
    struct ir_buffer *from = x->want->writes ? copy : array;
    struct ir_buffer *to = x->want->writes ? array : copy;
    struct ir_expr **from_at = x->want->writes ? new : index;
    struct ir_expr **to_at = x->want->writes ? index : new;
    struct ir_expr *value =
        ir_at(a, ir_load(a, from, from->rank, from_at), stage->span);
    struct ir_expr *inside = index_map_inside(p, &x->checked, old);
    if (inside && !x->want->writes)
        value = ir_select(a, inside, value, ir_zero(a, from->elem));
    struct ir_stmt *store = ir_stmt_store(a, to, to->rank, to_at, value);
    struct ir_block *body = &stage->u.stage.body;
    store->span = stage->span;
    if (inside && x->want->writes) {
        struct ir_stmt *branch = ir_stmt_if(a, inside);
        branch->span = stage->span;
        ir_append(a, body, branch);
        body = &branch->u.branch.then;
    }
    ir_append(a, body, store);
    return stage;
}

// Make the copy and put everything in its place.
static void build(struct plan *x)
{
    struct pass *p = x->c->pass;
    const struct recache *want = x->want;
    const char *name =
        arena_printf(p->scratch, "%s_%s", want->array->name, want->suffix);
    struct ir_buffer shape = *want->array;
    shape.rank = x->map.m;
    shape.shape = x->checked.extents;
    struct ir_buffer *copy = sched_new_buffer(p, name, &shape, want->space);
    struct ir_stmt *made = make_copy(x, copy);
    struct ir_expr **at = arena_array(p->scratch, struct ir_expr *, x->map.n);
    for (uint32_t i = 0; i < x->map.n; i++)
        at[i] =
            ir_read(p->arena, want->stage->u.stage.iters.at[x->used[i]].var);
    struct redirection r = {x, copy, index_map_apply(p, &x->map, at)};
    ir_rewrite_in(p->arena, ir_alone(want->stage), redirect, &r);
    ir_foreach_stmt_from(t, want->stage)
        redirect_store(&r, t);
    struct sched_place place = sched_place_of(p, x->top, want->writes);
    stage_nest_put(p, made, &place, stage_nest_region(p, &made->u.stage));
    sched_result(x->c, VALUE_stage, made);
}

bool recache(struct sched_call *c, const struct recache *r)
{
    struct plan x = {.c = c, .want = r};
    if (r->stage->kind != STMT_stage)
        return sched_refuse(c, r->stage, "not a stage", D_stage_wanted,
                            sched_name_of(r->stage));
    if (r->space == SPACE_constant)
        return sched_refuse(c, r->stage, "named here", D_cache_space,
                            "constant");
    if (!check_index(&x) || !check_declared(&x) || !check_others(&x) ||
        !check_map(&x))
        return false;
    build(&x);
    return true;
}
