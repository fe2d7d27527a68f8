// Stages that get loops of their own.

#include "passes/schedule/move.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/analysis/facts.h"

#include <string.h>

struct sched_place sched_place_of(struct pass *p, const struct ir_stmt *s,
                                  bool behind)
{
    struct sched_place place = {0};
    struct ir_path path = sched_path(p, s);
    struct ir_path outer = path;
    outer.n--;
    place.block = path.blocks[path.n - 1];
    place.at = path.index[path.n - 1] + behind;
    place.around = sched_loops(p, &outer, &place.n);
    return place;
}

void sched_hoist_arrays(struct pass *p)
{
    struct ir_block *body = &p->kernel->body;
    size_t front = 0;
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        if (s->kind != STMT_alloc)
            continue;
        ir_splice(p->arena, body, i, &(struct ir_block){0});
        ir_insert(p->arena, body, front++, s);
    }
}

// Look for the declaration of an array: the context of see_alloc.
struct alloc_search {
    const struct ir_buffer *buffer;
    struct ir_stmt *found;
};

// Note the declaration.
static void see_alloc(struct ir_stmt *s, void *context)
{
    struct alloc_search *f = context;
    if (s->kind == STMT_alloc && s->u.buffer == f->buffer)
        f->found = s;
}

bool sched_check_scope(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer)
{
    struct pass *p = c->pass;
    struct alloc_search f = {.buffer = buffer};
    ir_each_stmt(&p->kernel->body, see_alloc, &f);
    struct ir_path path = {0};
    if (f.found)
        path = sched_path(p, f.found);
    if (path.n < 2 || sched_is_below(p, loop, path.stmts[path.n - 2]))
        return true;
    struct ir_stmt *both[] = {loop, f.found};
    diag_error(p->diags, c->span, D_move_order, sched_name_of(sched_arg(c, 0)),
               "leave the block that declares what it uses");
    return sched_blame(c, both, 2, "the loop, and the array");
}

// Make a variable that no loop around has the name of.
static struct ir_var *fresh_var(struct pass *p, const struct sched_place *place,
                                const char *name, struct span span)
{
    const char *text = name;
    for (int k = 0;; k++) {
        bool taken = false;
        text = k ? arena_printf(p->scratch, "%s_%d", name, k) : name;
        for (size_t i = 0; i < place->n; i++)
            taken |= strcmp(place->around[i]->u.loop.var->name, text) == 0;
        if (!taken)
            break;
    }
    return ir_var_new(p->arena, str_name(p->names, text), type_scalar(TYPE_int),
                      VAR_loop, span);
}

struct ir_stmt *sched_copy_stage(struct pass *p, const char *name,
                                 struct ir_buffer *from, struct ir_buffer *to,
                                 struct span span)
{
    struct arena *a = p->arena;
    struct ir_stmt *s = ir_stmt_stage(a, str_name(p->names, name));
    struct ir_expr **index = arena_array(a, struct ir_expr *, from->rank + 1);
    for (uint32_t i = 0; i < from->rank; i++) {
        const char *v = arena_printf(p->scratch, "v%u", i);
        struct ir_iter it = {.extent = from->shape[i], .binding = ir_int(a, 0)};
        it.var = ir_var_new(a, str_name(p->names, v), type_scalar(TYPE_int),
                            VAR_iter, span);
        index[i] = ir_read(a, it.var);
        vec_push(a, &s->u.stage.iters, it);
    }
    struct ir_expr *value = ir_load(a, from, from->rank, index);
    struct ir_stmt *store = ir_stmt_store(a, to, to->rank, index, value);
    s->span = store->span = span;
    ir_append(a, &s->u.stage.body, store);
    return s;
}

struct box_dim *sched_box_of_iters(struct pass *p, const struct ir_stage *stage)
{
    size_t n = stage->iters.n;
    struct ir_expr **extents = arena_array(p->scratch, struct ir_expr *, n + 1);
    for (size_t i = 0; i < n; i++)
        extents[i] = stage->iters.at[i].extent;
    return box_over(p, n, extents);
}

// The facts at a place inside of new loops.
struct corner {
    struct pass *p;
    struct facts facts;
    struct ir_expr *predicate; // so far, or NULL
};

// Let the predicate hold a condition unless it is proved.
static void require(struct corner *k, enum ir_op op, struct ir_expr *x,
                    struct ir_expr *y)
{
    struct arena *a = k->p->arena;
    struct ir_expr *test = ir_binary(a, op, x, y);
    if (facts_decide(&k->facts, test) == TRUTH_TRUE)
        return;
    k->predicate =
        k->predicate ? ir_binary(a, OP_and, k->predicate, test) : test;
}

// Make the loop of one dimension and bind the iteration variable to it.
static struct ir_stmt *make_loop(struct pass *p,
                                 const struct sched_place *place, size_t i,
                                 const struct box_dim *dim, struct ir_iter *it,
                                 struct span span)
{
    const char *name = arena_printf(p->scratch, "ax%zu", i);
    struct ir_var *var = fresh_var(p, place, name, it->var->span);
    struct ir_stmt *loop = sched_new_loop(p, var, dim->extent, span);
    it->binding = ir_read(p->arena, var);
    if (dim->base)
        it->binding = ir_add(p->arena, dim->base, it->binding);
    return loop;
}

void sched_put_stage(struct pass *p, struct ir_stmt *stage,
                     const struct sched_place *place, const struct box_dim *box,
                     struct span span)
{
    struct ir_block nest = {0}, *into = &nest;
    struct corner k = {.p = p};
    facts_start(&k.facts, p->scratch, p->kernel);
    for (size_t i = 0; i < place->n; i++)
        facts_enter(&k.facts, place->around[i]);
    for (size_t i = 0; i < stage->u.stage.iters.n; i++) {
        struct ir_iter *it = &stage->u.stage.iters.at[i];
        struct ir_stmt *loop = make_loop(p, place, i, &box[i], it, span);
        ir_append(p->arena, into, loop);
        into = &loop->u.loop.body;
        facts_enter(&k.facts, loop);
    }
    for (size_t i = 0; i < stage->u.stage.iters.n; i++) {
        const struct ir_iter *it = &stage->u.stage.iters.at[i];
        if (!box[i].base)
            continue;
        require(&k, OP_ge, it->binding, ir_int(p->arena, 0));
        require(&k, OP_lt, it->binding, it->extent);
    }
    stage->u.stage.predicate = k.predicate;
    ir_append(p->arena, into, stage);
    ir_insert(p->arena, place->block, place->at, nest.at[0]);
}

// A search for what reads or writes an array.
struct use_search {
    struct pass *p;
    const struct ir_buffer *buffer;
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

// Look at an expression.
static void see_load(struct ir_expr *x, void *context)
{
    struct use_search *f = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if ((flags & (OP_READS | OP_WRITES)) && x->u.buffer == f->buffer)
        note(f, flags & OP_READS, flags & OP_WRITES);
}

// Look at the expression at a place.
static void see_place(struct ir_expr **place, void *context)
{
    ir_each_expr(*place, see_load, context);
}

// Look at the statements of a block; inside of a stage the stage counts.
static void see_uses(struct use_search *f, struct ir_block *block,
                     struct ir_stmt *stage)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inside[IR_BLOCKS_MOST];
        f->at = stage ? stage : s;
        ir_stmt_exprs(s, see_place, f);
        if (s->kind == STMT_store && s->u.store.buffer == f->buffer)
            note(f, false, true);
        uint32_t n = ir_stmt_blocks(s, inside);
        for (uint32_t k = 0; k < n; k++)
            see_uses(f, inside[k],
                     stage                   ? stage
                     : s->kind == STMT_stage ? s
                                             : NULL);
    }
}

struct sched_uses sched_uses_of(struct pass *p, const struct ir_buffer *buffer)
{
    struct use_search f = {.p = p, .buffer = buffer};
    see_uses(&f, &p->kernel->body, NULL);
    return f.uses;
}

bool sched_is_below(struct pass *p, const struct ir_stmt *s,
                    struct ir_stmt *above)
{
    struct ir_path path = {0};
    struct ir_block alone = {&above, 1, 1};
    return ir_find(p->scratch, &alone, s, &path);
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

// Count statements up to one: the context of see_order.
struct order {
    const struct ir_stmt *wanted;
    size_t n, found;
};

// Number a statement.
static void see_order(struct ir_stmt *s, void *context)
{
    struct order *o = context;
    o->n++;
    if (s == o->wanted)
        o->found = o->n;
}

size_t sched_order_of(struct pass *p, const struct ir_stmt *s)
{
    struct order o = {.wanted = s};
    ir_each_stmt(&p->kernel->body, see_order, &o);
    return o.found;
}

struct ir_stmt *sched_plain_store(struct ir_stmt *stage)
{
    struct ir_block *body = &stage->u.stage.body;
    struct ir_stmt *s = body->n ? body->at[body->n - 1] : NULL;
    for (size_t i = 0; i + 1 < body->n; i++) {
        if (body->at[i]->kind != STMT_let)
            return NULL;
    }
    if (!s || s->kind != STMT_store)
        return NULL;
    for (uint32_t i = 0; i < s->u.store.n; i++) {
        const struct ir_expr *x = s->u.store.index[i];
        if (x->op != OP_var || x->u.var->kind != VAR_iter)
            return NULL;
        for (uint32_t j = 0; j < i; j++) {
            if (s->u.store.index[j]->u.var == x->u.var)
                return NULL;
        }
    }
    return s;
}

bool sched_reduces(const struct ir_stage *stage)
{
    for (size_t i = 0; i < stage->iters.n; i++) {
        if (stage->iters.at[i].is_reduce)
            return true;
    }
    return false;
}

// Collect arrays: the context of see_input.
struct inputs {
    struct pass *p;
    struct sched_buffers found;
};

// Note an array that is read.
static void see_input(struct ir_expr *x, void *context)
{
    struct inputs *in = context;
    if (!(ir_op_info(x->op)->flags & OP_READS))
        return;
    for (size_t i = 0; i < in->found.n; i++) {
        if (in->found.at[i] == x->u.buffer)
            return;
    }
    vec_push(in->p->scratch, &in->found, x->u.buffer);
}

struct sched_buffers sched_inputs_of(struct pass *p, struct ir_stmt *stage)
{
    struct inputs in = {.p = p};
    struct ir_block alone = {&stage, 1, 1};
    ir_each_expr_in(&alone, see_input, &in);
    return in.found;
}

int sched_iter_of(const struct ir_stage *stage, const struct ir_expr *index)
{
    for (size_t i = 0; i < stage->iters.n; i++) {
        if (index->op == OP_var && stage->iters.at[i].var == index->u.var)
            return (int)i;
    }
    return -1;
}

// Return how many iteration variables of a stage select elements.
static uint32_t spatial_iters(const struct ir_stage *stage)
{
    uint32_t n = 0;
    for (size_t i = 0; i < stage->iters.n; i++)
        n += !stage->iters.at[i].is_reduce;
    return n;
}

bool sched_check_movable(const struct sched_call *c, struct ir_stmt *stage,
                         const struct sched_uses *uses)
{
    struct diag_list *diags = c->pass->diags;
    const char *note = NULL;
    if (stage->kind != STMT_stage) {
        diag_error(diags, c->span, D_stage_wanted, sched_name_of(stage));
        return sched_blame_one(c, stage, "not a stage");
    }
    struct ir_stmt *store = sched_plain_store(stage);
    if (!store || store->u.store.n != spatial_iters(&stage->u.stage))
        note = "not one store to its own iteration variables";
    else if (uses->writers.n != 1)
        note = "not the only one that writes its array";
    if (!note)
        return true;
    diag_error(diags, c->span, D_move_shape, sched_name_of(stage));
    return sched_blame_one(c, stage, note);
}

bool sched_check_below(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer, const char *how,
                       struct ir_stmt *const *all, size_t n,
                       const struct ir_stmt *except)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i] == except || sched_is_below(c->pass, all[i], loop))
            continue;
        struct ir_stmt *both[] = {loop, all[i]};
        diag_error(c->pass->diags, c->span, D_move_outside, buffer->name, how,
                   loop->u.loop.var->name);
        return sched_blame(c, both, 2, "the loop, and the other stage");
    }
    return true;
}
