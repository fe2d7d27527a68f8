// split -- replace a loop by several nested ones.
//
//   for i in 0..n { C[i] }
//     =>   i_0, i_1 = split(i, _, 32)
//   for i_0 in 0..ceildiv(n, 32) {
//     for i_1 in 0..32 { C[i_0 * 32 + i_1] if i_0 * 32 + i_1 < n } }
//
// The order of the iterations stays, so every loop can be split.  Where the
// factors do not divide the extent for sure, stages below get the predicate
// and other statements an `if` inside the innermost loops.
//
// Requires:
//  1. the loop is serial and has no annotation   E0607 E0608
//  2. factors are at least 1                      E0601
//  3. at most one factor is `_`                   E0602
//  4. without `_`: a constant extent, or one that
//     `where` or `when` bounds ...                E0603
//  5. ... that the factors cover                  E0604
//  6. the product fits in 64 bits                 E0605
//  7. no tail is needed around a barrier          E0606

#include "passes/schedule/prim.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "passes/analysis/facts.h"

// What a split is going to make.
struct plan {
    struct ir_stmt *loop;
    struct ir_expr *extent;   // of the loop
    size_t n;                 // new loops
    size_t inferred;          // which is inferred; n if none is
    int64_t product;          // of the other factors
    struct ir_expr **extents; // of the new loops
    bool divides;             // no tail
};

// Return the extent of a new loop that a factor asks for; NULL for `_`.
static struct ir_expr *factor_extent(const struct sched_call *c, size_t i)
{
    const struct sched_value *v = &c->args.at[1 + i];
    return v->kind == VALUE_any ? NULL : ir_int(c->pass->arena, v->number);
}

// Read the factors into the plan.
static bool check_factors(const struct sched_call *c, struct plan *plan)
{
    plan->product = 1;
    plan->inferred = plan->n;
    for (size_t i = 0; i < plan->n; i++) {
        const struct sched_value *v = &c->args.at[1 + i];
        plan->extents[i] = factor_extent(c, i);
        if (v->kind == VALUE_any && plan->inferred < plan->n)
            return sched_refuse_at(c, v->span, plan->loop, "to be split",
                                   D_split_two_inferred);
        if (v->kind == VALUE_any) {
            plan->inferred = i;
        } else if (v->number < 1) {
            return sched_refuse_at(c, v->span, plan->loop, "to be split",
                                   D_split_factor, (long long)v->number);
        } else if (!num_mul(plan->product, v->number, &plan->product)) {
            return sched_refuse(c, plan->loop, "to be split", D_split_overflow);
        }
    }
    return true;
}

// Return whether the extent is known to be at most the product of the factors.
static bool is_covered(struct pass *p, const struct plan *plan)
{
    struct facts f = facts_around(p->scratch, p->kernel, plan->loop);
    return facts_at_most(&f, plan->extent, ir_int(p->scratch, plan->product));
}

// Check that factors without `_` reach every iteration.
static bool check_cover(const struct sched_call *c, const struct plan *plan)
{
    int64_t extent;
    if (plan->inferred < plan->n || is_covered(c->pass, plan))
        return true;
    const char *name = plan->loop->u.loop.var->name;
    if (!ir_int_value(plan->extent, &extent)) {
        sched_refuse(c, plan->loop, "its extent is not a constant",
                     D_split_extent, name, (long long)plan->product);
        diag_help(c->pass->diags, "leave one factor open: write `_` for it; or "
                                  "say in `when` how long it is at most");
        return false;
    }
    if (plan->product >= extent)
        return true;
    sched_refuse(c, plan->loop, "to be split", D_split_cover,
                 (long long)plan->product, name, (long long)extent);
    return diag_help(c->pass->diags, "leave one factor open: write `_` for it");
}

// Return whether the factors are known to divide the extent.
static bool divides(struct pass *p, const struct plan *plan)
{
    int64_t extent;
    if (plan->inferred == plan->n)
        return ir_int_value(plan->extent, &extent) && extent == plan->product;
    struct facts f = facts_around(p->scratch, p->kernel, plan->loop);
    struct affine x = affine_of(p->scratch, plan->extent);
    return facts_multiple(&f, &x, plan->product);
}

// Check that no barrier would stand behind the guard of a tail.
static bool check_barrier(const struct sched_call *c, const struct plan *plan)
{
    struct ir_block *body = &plan->loop->u.loop.body;
    if (plan->divides || !ir_has(body, STMT_barrier))
        return true;
    sched_refuse(c, plan->loop, "has a barrier inside", D_split_barrier,
                 plan->loop->u.loop.var->name);
    diag_help(c->pass->diags, "choose factors that divide the extent, or "
                              "require it: `where n %% 128 == 0`");
    return false;
}

// Check everything and fill the plan in.
static bool make_plan(struct sched_call *c, struct plan *plan)
{
    plan->loop = sched_arg(c, 0);
    plan->n = c->args.n - 1;
    plan->extents = arena_array(c->pass->arena, struct ir_expr *, plan->n);
    plan->extent = ir_for_extent(c->pass->arena, &plan->loop->u.loop);
    if (!sched_check_serial(c, plan->loop) ||
        !sched_check_plain(c, plan->loop) || !check_factors(c, plan) ||
        !check_cover(c, plan))
        return false;
    plan->divides = divides(c->pass, plan);
    if (plan->inferred < plan->n)
        plan->extents[plan->inferred] =
            ir_binary(c->pass->arena, OP_ceildiv, plan->extent,
                      ir_int(c->pass->arena, plan->product));
    return check_barrier(c, plan);
}

// Make the new loops, each inside the one before it.
static struct ir_stmt **make_loops(struct pass *p, const struct plan *plan)
{
    const struct ir_var *old = plan->loop->u.loop.var;
    struct ir_stmt **loops = arena_array(p->scratch, struct ir_stmt *, plan->n);
    for (size_t i = 0; i < plan->n; i++) {
        const char *name = arena_printf(p->scratch, "%s_%zu", old->name, i);
        struct ir_var *var = sched_new_var(p, plan->loop, name, old->span);
        loops[i] = sched_new_loop(p, var, plan->extents[i], plan->loop->span);
        if (i)
            ir_append(p->arena, &loops[i - 1]->u.loop.body, loops[i]);
    }
    return loops;
}

// Return the number of the iteration of the old loop: the sum of the new
// variables, each times the extents behind it.
static struct ir_expr *iteration(struct pass *p, const struct plan *plan,
                                 struct ir_stmt *const *loops)
{
    struct ir_expr *number = ir_int(p->arena, 0);
    for (size_t i = 0; i < plan->n; i++) {
        struct ir_expr *weight = ir_int(p->arena, 1);
        for (size_t j = i + 1; j < plan->n; j++)
            weight = ir_mul(p->arena, weight, plan->extents[j]);
        struct ir_expr *v = ir_read(p->arena, loops[i]->u.loop.var);
        number = ir_add(p->arena, number, ir_mul(p->arena, v, weight));
    }
    return number;
}

bool sched_check_split(struct sched_call *c)
{
    struct plan plan;
    return make_plan(c, &plan);
}

bool sched_split(struct sched_call *c)
{
    struct plan plan;
    struct pass *p = c->pass;
    if (!make_plan(c, &plan))
        return false;
    struct ir_stmt **loops = make_loops(p, &plan);
    struct ir_expr *number = iteration(p, &plan, loops);
    sched_renumber(p, plan.loop, number);
    struct ir_block *body = &loops[plan.n - 1]->u.loop.body;
    sched_replace(p, plan.loop, loops[0]);
    *body = plan.loop->u.loop.body;
    if (!plan.divides)
        sched_guard(p, body, ir_binary(p->arena, OP_lt, number, plan.extent));
    for (size_t i = 0; i < plan.n; i++)
        sched_result(c, VALUE_loop, loops[i]);
    return true;
}
