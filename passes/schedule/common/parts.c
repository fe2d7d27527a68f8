// A reduction that is done in parts.

#include "passes/schedule/common/parts.h"

#include "ir/build.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"

unsigned parts_role(const struct parts *f, const struct ir_stmt *s)
{
    return s->kind == STMT_for
               ? ir_stage_role(&f->stage->u.stage, s->u.loop.var)
               : 0;
}

bool parts_refuse(const struct sched_call *c, enum diag_code code,
                  struct ir_stmt *s, const struct ir_stmt *other,
                  const char *note)
{
    return sched_refuse(c, s, note, code, sched_name_of(s),
                        sched_name_of(other));
}

bool parts_find_nest(const struct sched_call *c, struct parts *f)
{
    struct ir_stmt *s = sched_innermost(f->loop);
    if (s->kind != STMT_stage)
        return parts_refuse(c, D_rfactor_nest, f->loop, s,
                            "not around one stage");
    f->stage = s;
    f->path = sched_path(c->pass, s);
    f->top = f->path.n - 1;
    while (f->top > 0 && f->path.stmts[f->top - 1]->kind == STMT_for &&
           f->path.blocks[f->top]->n == 1)
        f->top--;
    return true;
}

// Find how the stage reduces.
static bool find_reducer(const struct sched_call *c, struct parts *f)
{
    if (reducer_find(c->pass, &f->stage->u.stage, &f->reducer))
        return true;
    parts_refuse(c, D_rfactor_reducer, f->stage, f->stage, "not any order");
    return diag_help(c->pass->diags,
                     "sums, products, extremes, `any`, `all`, positions of "
                     "extremes and reductions declared with `reduce` can be");
}

bool parts_check_roles(const struct sched_call *c, struct parts *f)
{
    if (!find_reducer(c, f))
        return false;
    for (uint32_t i = 0; i + 1 < f->path.n; i++) {
        struct ir_stmt *s = f->path.stmts[i];
        unsigned role = parts_role(f, s);
        if (i < f->top && (role & STAGE_REDUCES))
            return parts_refuse(c, D_rfactor_nest, s, f->stage,
                                "not around it alone");
        if (role == (STAGE_SELECTS | STAGE_REDUCES))
            return parts_refuse(c, D_rfactor_loop, s, f->stage, "does both");
        if (role == STAGE_REDUCES && !sched_check_from_zero(c, s))
            return false;
    }
    return sched_check_rectangle(c, f->path.stmts + f->top,
                                 f->path.n - 1 - f->top);
}

bool parts_check_extent(const struct sched_call *c, const struct parts *f,
                        struct ir_stmt *loop)
{
    return ir_is_of_params(loop->u.loop.to) ||
           parts_refuse(c, D_rfactor_extent, loop, f->stage,
                        "its extent varies");
}

struct ir_expr *parts_extent(const struct parts *f, const struct ir_stmt *loop)
{
    struct arena *a = f->pass->arena;
    struct facts facts;
    facts_start(&facts, f->pass->scratch, f->pass->kernel);
    return fold_expr(a, &facts, ir_for_extent(a, &loop->u.loop));
}

bool parts_mention(const struct parts *f, const struct ir_expr *x,
                   unsigned role)
{
    for (uint32_t i = f->top; i + 1 < f->path.n; i++) {
        struct ir_stmt *s = f->path.stmts[i];
        if ((parts_role(f, s) & role) && ir_mentions(x, s->u.loop.var))
            return true;
    }
    return false;
}

struct ir_expr *parts_predicate(const struct parts *f, bool reduction)
{
    struct conditions kept = {0};
    struct pass *p = f->pass;
    struct conditions all = fold_split(p->scratch, f->stage->u.stage.predicate);
    for (size_t i = 0; i < all.n; i++)
        if (parts_mention(f, all.at[i], STAGE_REDUCES) == reduction)
            vec_push(p->scratch, &kept, all.at[i]);
    return kept.n ? fold_all(p->arena, kept.at, kept.n) : NULL;
}

struct ir_stmt *parts_copy_loop(const struct parts *f,
                                const struct ir_stmt *old, struct ir_expr *to)
{
    struct arena *a = f->pass->arena;
    const struct ir_for *l = &old->u.loop;
    struct ir_var *var =
        ir_var_new(a, l->var->name, l->var->type, VAR_loop, l->var->span);
    struct ir_stmt *s = ir_stmt_for(a, var, l->from, to, l->step, l->axis);
    s->span = old->span;
    vec_append(a, &s->u.loop.attrs, &l->attrs);
    ir_rings_copy(a, &s->u.loop, l);
    return s;
}

struct ir_buffer *parts_declare(struct parts *f, size_t i, const char *suffix,
                                uint32_t rank)
{
    struct pass *p = f->pass;
    const struct ir_buffer *old = f->reducer.values[i].store->u.store.buffer;
    const char *name = arena_printf(p->scratch, "%s_%s", old->name, suffix);
    struct ir_buffer *b = sched_new_buffer(p, name, old, SPACE_global);
    b->shape = arena_array(p->arena, struct ir_expr *, rank);
    b->rank = rank;
    f->buffers[i] = b;
    return b;
}

struct ir_stmt *parts_new_stage(const struct parts *f, const char *name)
{
    struct ir_stmt *s = ir_stmt_stage(f->pass->arena, name);
    s->span = f->stage->span;
    s->u.stage.attrs = f->stage->u.stage.attrs;
    s->u.stage.has_init = true;
    return s;
}

struct ir_var *parts_add_iter(const struct parts *f, struct ir_stage *stage,
                              const char *name, struct ir_expr *extent,
                              struct ir_expr *binding, bool is_reduce)
{
    struct arena *a = f->pass->arena;
    struct ir_iter it = {.extent = extent, .binding = binding};
    it.var = ir_var_new(a, str_name(f->pass->names, name),
                        type_scalar(TYPE_int), VAR_iter, f->loop->span);
    it.is_reduce = is_reduce;
    vec_push(a, &stage->iters, it);
    return it.var;
}

const char *parts_iter_name(const struct parts *f, const struct ir_stmt *loop)
{
    const struct ir_stage *stage = &f->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_expr *x = stage->iters.at[i].binding;
        if (x->op == OP_var && x->u.var == loop->u.loop.var)
            return stage->iters.at[i].var->name;
    }
    return arena_printf(f->pass->scratch, "v%s", loop->u.loop.var->name);
}

struct ir_block parts_init(const struct parts *f,
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

void parts_guard(const struct parts *f, struct ir_stmt *stage,
                 struct ir_expr *condition)
{
    struct arena *a = f->pass->arena;
    struct ir_stmt *branch = ir_stmt_if(a, condition);
    branch->span = stage->span;
    ir_enclose(a, &stage->u.stage.body, branch, &branch->u.branch.then);
}

void parts_replace(const struct parts *f, struct ir_stmt *first,
                   struct ir_stmt *last)
{
    struct ir_block both = {0};
    struct ir_path at = sched_path(f->pass, f->path.stmts[f->top]);
    ir_append(f->pass->arena, &both, first);
    ir_append(f->pass->arena, &both, last);
    ir_splice(f->pass->arena, at.blocks[at.n - 1], at.index[at.n - 1], &both);
}
