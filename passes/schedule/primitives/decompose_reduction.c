// decompose_reduction -- give the init of a reduction loops of its own.
//
//   for i { for j { for k { stage C { init { C = 0 } C = C + ... } } } }
//     =>   init = decompose_reduction(C, k)
//   for i { for j { stage C.init { C = 0 }
//                   for k { stage C { C = C + ... } } } }
//
// The new stage goes in front of the loop, inside copies of those loops, from
// this one on, that select elements of C.
//
// Requires:
//  1. the stage has an init                               E0634
//  2. the loop is around the stage, and each loop from
//     there on serves it ...                              E0635
//  3. ... with only loops between them                    E0641
//  4. no loop further out counts a reduction              E0636
//  5. no loop selects elements and counts a reduction     E0637
//  6. no bounds depend on another one's variable          E0611
//  7. nothing in the loop writes what the init reads      E0866

#include "passes/schedule/common/move.h"
#include "passes/schedule/common/offer.h"
#include "passes/schedule/depend/depend.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"

// What is decomposed.
struct decomposition {
    struct pass *pass;
    struct ir_stmt *stage, *loop;
    struct ir_path path; // down to the stage
    uint32_t from;       // where the loop is on the path
    struct map vars;     // loops to their copies
};

// Report a loop that is in the way.
static bool refuse(const struct sched_call *c, enum diag_code code,
                   struct ir_stmt *s, const char *note)
{
    return sched_refuse(c, s, note, code, sched_name_of(s),
                        sched_name_of(sched_arg(c, 0)));
}

// Check that the loop is above the stage, and find it.
static bool check_place(const struct sched_call *c, struct decomposition *d)
{
    if (d->stage->kind != STMT_stage || !d->stage->u.stage.has_init)
        return refuse(c, D_decompose_init, d->stage, "has no init");
    d->path = sched_path(c->pass, d->stage);
    while (d->from < d->path.n && d->path.stmts[d->from] != d->loop)
        d->from++;
    if (d->from < d->path.n)
        return true;
    return refuse(c, D_decompose_place, d->loop, "not around the stage");
}

// Return whether different iterations of a loop compute the same element.
static bool repeats(const struct sched_call *c, const struct decomposition *d,
                    struct ir_stmt *loop)
{
    struct depend_conflict ignored;
    struct depend_flow flow = {.rewrites = true};
    struct sched_stores stores;
    if (!sched_stores_of(c->pass, d->stage, &stores))
        return false;
    for (size_t i = 0; i < stores.arrays.n; i++) {
        flow.written = flow.used = stores.arrays.at[i];
        if (depend_flows(c->pass, loop, &flow, &ignored))
            return true;
    }
    return false;
}

// Check that the init finds the same in front of the loop.
static bool check_init(const struct sched_call *c, struct decomposition *d)
{
    ir_foreach_expr_in(x, &d->stage->u.stage.init)
        if (ir_op_info(x->op)->flags & OP_READS &&
            ir_block_writes(&d->loop->u.loop.body, x->u.buffer))
            return refuse(c, D_decompose_reads, d->loop,
                          "writes what the init reads");
    return true;
}

// Check what the loops on the path do.
static bool check(const struct sched_call *c, struct decomposition *d)
{
    if (!check_place(c, d))
        return false;
    for (uint32_t i = 0; i + 1 < d->path.n; i++) {
        struct ir_stmt *s = d->path.stmts[i];
        if (s->kind != STMT_for && i < d->from)
            continue;
        if (s->kind != STMT_for)
            return refuse(c, D_decompose_between, d->stage, "not directly");
        unsigned role = ir_stage_role(&d->stage->u.stage, s->u.loop.var);
        if (i < d->from && (role & STAGE_REDUCES))
            return refuse(c, D_decompose_outer, s, "counts a reduction");
        if (i >= d->from && !role && !ir_is_int_const(s->u.loop.to, 1))
            return refuse(c, D_decompose_place, s,
                          "computes all of the stage again");
        if (i >= d->from && role == (STAGE_SELECTS | STAGE_REDUCES))
            return refuse(c, D_decompose_mixed, s, "does both");
        if (i >= d->from && role == STAGE_SELECTS && repeats(c, d, s))
            return refuse(c, D_decompose_place, s,
                          "computes elements of the stage again");
    }
    return check_init(c, d) && sched_check_rectangle(c, d->path.stmts + d->from,
                                                     d->path.n - 1 - d->from);
}

// Return an expression over the copies of the loops.
static struct ir_expr *over_copies(const struct decomposition *d,
                                   struct ir_expr *x)
{
    return ir_substitute(d->pass->arena, x, &d->vars, NULL);
}

// Return the parts of a predicate that no reduction loop decides, or NULL.
static struct ir_expr *keep_predicate(const struct decomposition *d,
                                      struct ir_expr *x)
{
    if (x->op == OP_and) {
        struct ir_expr *a = keep_predicate(d, x->args[0]);
        struct ir_expr *b = keep_predicate(d, x->args[1]);
        return !a ? b : !b ? a : ir_binary(d->pass->arena, OP_and, a, b);
    }
    for (uint32_t i = d->from; i + 1 < d->path.n; i++) {
        const struct ir_var *var = d->path.stmts[i]->u.loop.var;
        if (!map_has(&d->vars, var) && ir_mentions(x, var))
            return NULL;
    }
    return over_copies(d, x);
}

// Make the stage of the init.
static struct ir_stmt *make_stage(struct decomposition *d)
{
    struct arena *a = d->pass->arena;
    const struct ir_stage *old = &d->stage->u.stage;
    const char *name = arena_printf(d->pass->scratch, "%s.init", old->name);
    struct ir_stmt *s = ir_stmt_stage(a, str_name(d->pass->names, name));
    struct map iters = {.arena = d->pass->scratch};
    s->span = d->stage->span;
    for (size_t i = 0; i < old->iters.n; i++) {
        struct ir_iter it = old->iters.at[i];
        if (it.is_reduce)
            continue;
        it.var =
            ir_var_new(a, it.var->name, it.var->type, VAR_iter, it.var->span);
        it.binding = over_copies(d, it.binding);
        map_set(&iters, old->iters.at[i].var, ir_read(a, it.var));
        vec_push(a, &s->u.stage.iters, it);
    }
    for (uint32_t i = d->from; i + 1 < d->path.n; i++) {
        const struct ir_var *var = d->path.stmts[i]->u.loop.var;
        if (map_has(&d->vars, var))
            map_set(&iters, var, map_get(&d->vars, var));
    }
    if (old->predicate)
        s->u.stage.predicate = keep_predicate(d, old->predicate);
    s->u.stage.body = ir_copy_block(a, &old->init, &iters, NULL);
    return s;
}

// Return a copy of a loop without its body.
static struct ir_stmt *copy_loop(struct decomposition *d,
                                 const struct ir_stmt *loop)
{
    const struct ir_for *f = &loop->u.loop;
    const char *name = arena_printf(d->pass->scratch, "%s_init", f->var->name);
    struct ir_var *var = sched_new_var(d->pass, d->loop, name, f->var->span);
    struct ir_stmt *s =
        ir_stmt_for(d->pass->arena, var, over_copies(d, f->from),
                    over_copies(d, f->to), f->step, f->axis);
    s->span = loop->span;
    vec_append(d->pass->arena, &s->u.loop.attrs, &f->attrs);
    map_set(&d->vars, f->var, ir_read(d->pass->arena, var));
    return s;
}

// Return whether a reduction may be decomposed at a loop.
static bool accepts(const struct sched_call *c, struct ir_stmt *loop)
{
    struct decomposition d = {
        .pass = c->pass, .stage = sched_arg(c, 0), .loop = loop};
    return check(c, &d);
}

bool sched_decompose_reduction(struct sched_call *c)
{
    struct decomposition d = {
        .pass = c->pass, .stage = sched_arg(c, 0), .loop = sched_arg(c, 1)};
    struct ir_block nest = {0}, *into = &nest;
    d.vars.arena = c->pass->scratch;
    if (!check(c, &d)) {
        sched_offer_loops(c, &d.stage, 1, accepts);
        return false;
    }
    for (uint32_t i = d.from; i + 1 < d.path.n; i++) {
        struct ir_stmt *s = d.path.stmts[i];
        if (ir_stage_role(&d.stage->u.stage, s->u.loop.var) != STAGE_SELECTS)
            continue;
        struct ir_stmt *loop = copy_loop(&d, s);
        ir_append(c->pass->arena, into, loop);
        into = &loop->u.loop.body;
    }
    struct ir_stmt *stage = make_stage(&d);
    ir_append(c->pass->arena, into, stage);
    ir_insert(c->pass->arena, d.path.blocks[d.from], d.path.index[d.from],
              nest.at[0]);
    d.stage->u.stage.has_init = false;
    d.stage->u.stage.init = (struct ir_block){0};
    sched_result(c, VALUE_stage, stage);
    return true;
}
