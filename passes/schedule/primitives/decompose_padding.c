// decompose_padding -- fill an array first, then copy what is inside.
//
//   for i in 0..n + 2 { stage P { P[vi] = 1 <= vi && vi < n + 1 ? A[vi - 1]
//                                                               : 0.0 } }
//     =>   fill = decompose_padding(P, i)
//   for i_pad in 0..n + 2 { stage P_pad_const { P[vi] = 0.0 } }
//   for i in 0..n { stage P { P[vi] = A[vi - 1] } }          vi = i + 1
//
// The fill goes in front of the loop, inside copies of the loops from there
// on.  A serial loop that is an iteration variable runs over its inside only;
// what else the condition asks becomes a predicate.
//
// Requires:
//  1. the stage is one store, to an element of its own, of
//     `c ? x : constant` or `c ? constant : x`, and x does
//     not read the array                                    E0693
//  2. the loop is around the stage, with only loops between E0694

#include "passes/schedule/prim.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"

// What is decomposed.
struct padding {
    struct pass *pass;
    struct ir_stmt *stage, *loop;
    struct ir_path path;  // down to the stage
    uint32_t from;        // where the loop is on the path
    struct ir_expr *fill; // the constant
    struct ir_expr *copy; // the value inside
    struct conditions inside;
    struct facts facts; // around the loop being narrowed
};

// Return whether the stage stores each element once: its indices are all of
// its iteration variables.
static bool has_own_element(const struct ir_stage *stage,
                            const struct ir_stmt *store)
{
    return store->u.store.n == stage->iters.n &&
           ir_stage_selecting(stage) == stage->iters.n &&
           ir_stage_owns(stage, store->u.store.n, store->u.store.index);
}

// Add what has to hold for a condition not to hold.
static void add_opposite(struct padding *d, struct ir_expr *x)
{
    static const enum ir_op opposites[][2] = {
        {OP_lt, OP_ge}, {OP_le, OP_gt}, {OP_gt, OP_le}, {OP_ge, OP_lt}};
    struct arena *a = d->pass->arena;
    if (x->op == OP_or) {
        add_opposite(d, x->args[0]);
        add_opposite(d, x->args[1]);
        return;
    }
    struct ir_expr *opposite = ir_unary(a, OP_not, x);
    for (size_t i = 0; i < sizeof opposites / sizeof *opposites; i++)
        if (x->op == opposites[i][0] && type_is_integer(x->args[0]->type))
            opposite = ir_binary(a, opposites[i][1], x->args[0], x->args[1]);
    vec_push(d->pass->scratch, &d->inside, opposite);
}

// Take the stage apart; false if it is no padding.
static bool take_apart(struct padding *d)
{
    struct ir_block *body = &d->stage->u.stage.body;
    if (d->stage->kind != STMT_stage || d->stage->u.stage.has_init ||
        body->n != 1 || body->at[0]->kind != STMT_store ||
        !has_own_element(&d->stage->u.stage, body->at[0]))
        return false;
    struct ir_expr *x = body->at[0]->u.store.value;
    if (x->op != OP_select || !ir_is_pure(x, false) ||
        !ir_is_pure(x->args[0], true) ||
        ir_block_reads(body, body->at[0]->u.store.buffer))
        return false;
    bool swapped = !ir_is_of_params(x->args[2]);
    d->fill = x->args[swapped ? 1 : 2];
    d->copy = x->args[swapped ? 2 : 1];
    if (swapped)
        add_opposite(d, x->args[0]);
    else
        d->inside = fold_split(d->pass->scratch, x->args[0]);
    return ir_is_of_params(d->fill);
}

// Check every precondition.
static bool check(const struct sched_call *c, struct padding *d)
{
    if (!take_apart(d))
        return sched_refuse(c, d->stage, "to be decomposed", D_padding_shape,
                            sched_name_of(d->stage));
    d->path = sched_path(c->pass, d->stage);
    while (d->from < d->path.n && d->path.stmts[d->from] != d->loop)
        d->from++;
    bool good = d->from < d->path.n;
    for (uint32_t i = d->from; good && i + 1 < d->path.n; i++)
        good = d->path.stmts[i]->kind == STMT_for &&
               d->path.stmts[i]->u.loop.body.n == 1;
    if (good)
        return true;
    return sched_refuse(c, d->loop, "not around the stage alone",
                        D_padding_loop, sched_name_of(d->loop),
                        sched_name_of(d->stage));
}

// Name the copies of the loops, and turn the copy of the stage into the fill.
static void finish_copy(struct padding *d, struct ir_stmt *s)
{
    struct pass *p = d->pass;
    if (s->kind == STMT_for) {
        const char *name =
            arena_printf(p->scratch, "%s_pad", s->u.loop.var->name);
        s->u.loop.var->name = str_name(p->names, name);
    } else if (s->kind == STMT_stage) {
        const char *name =
            arena_printf(p->scratch, "%s_pad_const", s->u.stage.name);
        s->u.stage.name = str_name(p->names, name);
        s->u.stage.body.at[0]->u.store.value = d->fill;
    }
}

// Return the iteration variable that a loop is, or NULL.
static const struct ir_iter *iter_of(const struct padding *d,
                                     const struct ir_stmt *loop)
{
    const struct ir_stage *stage = &d->stage->u.stage;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_expr *x = stage->iters.at[i].binding;
        if (x->op == OP_var && x->u.var == loop->u.loop.var)
            return &stage->iters.at[i];
    }
    return NULL;
}

// Take from the conditions one that bounds an iteration variable by sizes,
// from below or from above; NULL if there is none.
static struct ir_expr *take_bound(struct padding *d, const struct ir_var *var,
                                  bool below)
{
    struct arena *a = d->pass->arena;
    for (size_t i = 0; i < d->inside.n; i++) {
        struct affine form, rest, zero = affine_number(0);
        int64_t factor;
        if (!facts_form(a, d->inside.at[i], &form) ||
            !affine_linear(a, &form, var, &factor, &rest) ||
            factor != (below ? 1 : -1))
            continue;
        if (below)
            rest = affine_add(a, &zero, -1, &rest);
        else
            rest.constant++;
        struct ir_expr *bound = affine_expr(a, &rest, type_scalar(TYPE_int));
        if (!ir_is_of_params(bound))
            continue;
        d->inside.at[i] = ir_bool(a, true);
        return bound;
    }
    return NULL;
}

// Let a loop run over the inside of its iteration variable only.
static void narrow(struct padding *d, struct ir_stmt *loop)
{
    struct arena *a = d->pass->arena;
    struct ir_for *f = &loop->u.loop;
    const struct ir_iter *it = iter_of(d, loop);
    if (!it || f->axis != AXIS_serial || !ir_for_counts(f))
        return;
    struct ir_expr *low = take_bound(d, it->var, true);
    struct ir_expr *high = take_bound(d, it->var, false);
    struct ir_expr *zero = ir_int(a, 0);
    if (!low)
        low = zero;
    else if (!facts_at_most(&d->facts, zero, low))
        low = ir_binary(a, OP_max, low, zero);
    if (!high)
        high = f->to;
    else if (!facts_at_most(&d->facts, high, f->to))
        high = ir_binary(a, OP_min, high, f->to);
    struct affine from = affine_of(a, low), length = affine_of(a, high);
    length = affine_add(a, &length, -1, &from);
    struct ir_expr *n = affine_expr(a, &length, type_scalar(TYPE_int));
    f->to =
        facts_at_most(&d->facts, zero, n) ? n : ir_binary(a, OP_max, n, zero);
    sched_renumber(d->pass, loop, ir_add(a, ir_read(a, f->var), low));
}

// Let the stage copy, and only inside.
static void make_copy(struct padding *d)
{
    struct arena *a = d->pass->arena;
    struct ir_stage *stage = &d->stage->u.stage;
    struct map bindings = ir_stage_bindings(d->pass->scratch, stage);
    stage->body.at[0]->u.store.value = d->copy;
    facts_start(&d->facts, d->pass->scratch, d->pass->kernel);
    for (uint32_t i = 0; i + 1 < d->path.n; i++) {
        if (i >= d->from)
            narrow(d, d->path.stmts[i]);
        facts_enter(&d->facts, d->path.stmts[i]);
    }
    struct conditions all = fold_split(d->pass->scratch, stage->predicate);
    for (size_t i = 0; i < d->inside.n; i++)
        vec_push(d->pass->scratch, &all,
                 ir_substitute(a, d->inside.at[i], &bindings, NULL));
    struct ir_expr *predicate = fold_all(a, all.at, all.n);
    stage->predicate = ir_is_true(predicate) ? NULL : predicate;
}

bool sched_decompose_padding(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct padding d = {
        .pass = p, .stage = sched_arg(c, 0), .loop = sched_arg(c, 1)};
    if (!check(c, &d))
        return false;
    struct ir_stmt *nest = ir_copy_stmt(p->arena, d.loop, NULL, NULL);
    struct ir_stmt *fill = nest;
    ir_foreach_stmt_from(s, nest)
        finish_copy(&d, s);
    while (fill->kind == STMT_for)
        fill = fill->u.loop.body.at[0];
    make_copy(&d);
    ir_insert(p->arena, d.path.blocks[d.from], d.path.index[d.from], nest);
    sched_result(c, VALUE_stage, fill);
    return true;
}
