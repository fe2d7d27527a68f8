// fuse -- replace nested loops by one.
//
//   for i in 0..m { for j in 0..n { C[i, j] } }
//     =>   f = fuse(i, j)
//   for i_j_fused in 0..m * n { C[i_j_fused / n, i_j_fused % n] }
//
// The order of the iterations stays, so no dependence is in the way. A loop alone
// that counts from 0 stays what it is.
//
// Requires:
//  1. the loops are serial and have no annotation   E0607 E0608
//  2. none is named twice                           E0612
//  3. each holds the next one and nothing else      E0609 E0610
//  4. no bounds depend on another one's variable    E0611
//  5. the product of the extents fits in 64 bits    E0613
//  6. where some select elements of a stage and one
//     counts its reduction, this and all others that
//     count it have an iteration: else none would be
//     left for the init                             E0699

#include "passes/schedule/common/offer.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "ir/text.h"
#include "passes/analysis/facts.h"

#include <string.h>

enum { NAME_MOST = 64 }; // characters of what is fused

// Check that the product of constant extents fits.
static bool check_product(const struct sched_call *c,
                          struct ir_expr *const *extents,
                          struct ir_stmt *const *loops, size_t n)
{
    int64_t product = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t extent;
        if (!ir_int_value(extents[i], &extent) ||
            num_mul(product, extent, &product))
            continue;
        diag_error(c->pass->diags, c->span, D_fuse_overflow);
        return sched_blame(c, loops, n, "to be fused");
    }
    return true;
}

// Return a loop around a stage that counts its reduction and may be empty, or
// NULL.
static struct ir_stmt *find_empty(struct pass *p, struct ir_stmt *s)
{
    struct facts f;
    struct ir_stmt *found = NULL;
    struct ir_path path = sched_path(p, s);
    facts_start(&f, p->scratch, p->kernel);
    for (uint32_t i = 0; i + 1 < path.n && !found; i++) {
        struct ir_stmt *loop = path.stmts[i];
        bool reduces =
            loop->kind == STMT_for &&
            (ir_stage_role(&s->u.stage, loop->u.loop.var) & STAGE_REDUCES);
        if (reduces &&
            facts_decide(&f, ir_binary(p->scratch, OP_lt, loop->u.loop.from,
                                       loop->u.loop.to)) != TRUTH_TRUE)
            found = loop;
        facts_enter(&f, loop);
    }
    return found;
}

// Return a loop around a stage that may be empty, if the new loop would select
// elements of the stage and count its reduction; or NULL.
static struct ir_stmt *find_loss(struct pass *p, struct ir_stmt *stage,
                                 struct ir_stmt *const *loops, size_t n)
{
    unsigned role = 0;
    for (size_t i = 0; i < n; i++)
        role |= ir_stage_role(&stage->u.stage, loops[i]->u.loop.var);
    return role == (STAGE_SELECTS | STAGE_REDUCES) ? find_empty(p, stage)
                                                   : NULL;
}

// Report that the init would be lost.
static bool refuse_empty(const struct sched_call *c, struct ir_stmt *s,
                         struct ir_stmt *empty)
{
    struct pass *p = c->pass;
    struct buf extent = {0};
    struct ir_stmt *both[] = {empty, s};
    const char *loop = empty->u.loop.var->name, *stage = sched_name_of(s);
    ir_print_expr(&extent, ir_for_extent(p->scratch, &empty->u.loop));
    diag_error(p->diags, c->span, D_fuse_empty, loop, stage);
    diag_note(p->diags, s->span,
              "where `%s` is 0, every iteration of the loops around `%s` still "
              "sets its element of `%s`; the fused loop would have none",
              extent.data, loop, stage);
    sched_blame(c, both, 2, "may be empty, then only the init runs");
    diag_help(p->diags,
              "fuse without `%s`, decompose_reduction(%s, %s) first, or let "
              "the kernel say that there is an iteration: `where %s > 0`",
              loop, stage, loop, extent.data);
    buf_free(&extent);
    return false;
}

// Check that no init is lost where a reduction is empty.
static bool check_empty(const struct sched_call *c,
                        struct ir_stmt *const *loops, size_t n)
{
    ir_foreach_stmt(s, &loops[n - 1]->u.loop.body) {
        struct ir_stmt *empty = s->kind == STMT_stage && s->u.stage.has_init
                                    ? find_loss(c->pass, s, loops, n)
                                    : NULL;
        if (empty)
            return refuse_empty(c, s, empty);
    }
    return true;
}

// Check every precondition.
static bool check(const struct sched_call *c, struct ir_stmt *const *loops,
                  size_t n, struct ir_expr *const *extents)
{
    for (size_t i = 0; i < n; i++)
        if (!sched_check_serial(c, loops[i]) || !sched_check_plain(c, loops[i]))
            return false;
    return sched_check_distinct(c, loops, n) &&
           sched_check_nested(c, loops, n, false) &&
           sched_check_rectangle(c, loops, n) &&
           check_product(c, extents, loops, n) && check_empty(c, loops, n);
}

// Check a loop and the one directly inside.
static bool check_next(const struct sched_call *c, struct ir_stmt *loop)
{
    struct arena *a = c->pass->scratch;
    struct ir_block *body = &loop->u.loop.body;
    if (body->n != 1 || body->at[0]->kind != STMT_for)
        return false;
    struct ir_stmt *loops[] = {loop, body->at[0]};
    struct ir_expr *extents[] = {ir_for_extent(a, &loops[0]->u.loop),
                                 ir_for_extent(a, &loops[1]->u.loop)};
    return check(c, loops, 2, extents);
}

// Say which loops of the nest can be fused.
static void offer(const struct sched_call *c, struct ir_stmt *loop)
{
    struct buf text = {0};
    struct ir_block loops = sched_loops(c->pass, sched_innermost(loop));
    for (size_t i = 0; i + 1 < loops.n; i++)
        if (sched_would_accept(c, loops.at[i], check_next))
            buf_printf(&text, "%s`%s` and `%s`", text.n ? "; " : "",
                       loops.at[i]->u.loop.var->name,
                       loops.at[i + 1]->u.loop.var->name);
    if (text.n)
        diag_help(c->pass->diags, "these could be fused: %s", text.data);
    buf_free(&text);
}

// Return the name of the new loop: `i_j_fused`, or `fused` if that is long: it
// would double with each round of fuse and split.
static const char *fused_name(struct pass *p, struct ir_stmt *const *loops,
                              size_t n)
{
    const char *name = loops[0]->u.loop.var->name;
    for (size_t i = 1; i < n; i++)
        name =
            arena_printf(p->scratch, "%s_%s", name, loops[i]->u.loop.var->name);
    return strlen(name) > NAME_MOST
               ? "fused"
               : arena_printf(p->scratch, "%s_fused", name);
}

// Make the new loop.
static struct ir_stmt *make_loop(struct pass *p, struct ir_stmt *const *loops,
                                 size_t n, struct ir_expr *const *extents)
{
    struct ir_expr *extent = extents[0];
    for (size_t i = 1; i < n; i++)
        extent = ir_mul(p->arena, extent, extents[i]);
    struct ir_var *var = sched_new_var(p, loops[0], fused_name(p, loops, n),
                                       loops[0]->u.loop.var->span);
    return sched_new_loop(p, var, extent, loops[0]->span);
}

// Replace the variables of the loops by parts of the new loop's.  Loops of
// one iteration take no part in it.
static void renumber(struct pass *p, struct ir_stmt *const *loops, size_t n,
                     struct ir_expr *const *extents,
                     const struct ir_stmt *fused)
{
    struct ir_expr *number = ir_read(p->arena, fused->u.loop.var);
    size_t first = 0;
    while (first + 1 < n && ir_is_int_const(extents[first], 1))
        first++;
    for (size_t i = n; i-- > 0;) {
        struct ir_expr *part = ir_int(p->arena, 0);
        if (i == first) {
            part = number;
        } else if (i > first && !ir_is_int_const(extents[i], 1)) {
            part = ir_binary(p->arena, OP_mod, number, extents[i]);
            number = ir_binary(p->arena, OP_div, number, extents[i]);
        }
        sched_renumber(p, loops[i], part);
    }
}

bool sched_fuse(struct sched_call *c)
{
    size_t n;
    struct pass *p = c->pass;
    struct ir_stmt **loops = sched_arg_stmts(c, 0, &n);
    struct ir_expr **extents = arena_array(p->scratch, struct ir_expr *, n);
    for (size_t i = 0; i < n; i++)
        extents[i] = ir_for_extent(p->arena, &loops[i]->u.loop);
    if (!check(c, loops, n, extents)) {
        offer(c, loops[0]);
        return false;
    }
    bool stays = n == 1 && ir_for_counts(&loops[0]->u.loop);
    struct ir_stmt *fused = stays ? loops[0] : make_loop(p, loops, n, extents);
    sched_result(c, VALUE_loop, fused);
    if (stays)
        return true;
    renumber(p, loops, n, extents, fused);
    sched_replace(p, loops[0], fused);
    fused->u.loop.body = loops[n - 1]->u.loop.body;
    return true;
}
