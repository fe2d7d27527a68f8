// loop_partition -- cut a loop into consecutive ones.
//
//   for i in 0..n { C[i] }
//     =>   i_0, i_1, i_2 = loop_partition(i, 2, 64)
//   for i_0 in 0..min(2, n)              { C[i_0] }
//   for i_1 in 0..max(min(64, n) - 2, 0) { C[i_1 + 2] }
//   for i_2 in 0..max(n - 64, 0)         { C[i_2 + 64] }
//
// The points count iterations from the first.  Where the loop is known to
// reach a point, its min and max disappear.  The order of the iterations
// stays, so every loop can be cut.  The stages of later parts are called C_1,
// C_2 ...; where the loop counts a reduction they have no init, as that of the
// first part runs before; where it selects elements as well, the init is in
// their bodies, at the beginning of an element's reduction.
//
// Requires:
//  1. the loop is serial and has no annotation    E0607 E0608
//  2. the points rise from at least 1, below the
//     extent if that is constant                  E0688
//  3. a reduction that it counts, but no elements,
//     begins with the first iteration: not at
//     k - skew, as align_loop leaves it           E0852

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "passes/analysis/facts.h"

#include <string.h>

// What is cut.
struct partition {
    struct pass *pass;
    struct ir_stmt *loop;
    struct ir_expr *extent;
    struct facts facts; // around the loop
};

// Return the first iteration of part `k`.
static int64_t point(const struct sched_call *c, size_t k)
{
    return k ? c->args.at[k].number : 0;
}

// Check the points.
static bool check_points(const struct sched_call *c,
                         const struct partition *part)
{
    int64_t extent;
    bool known = ir_int_value(part->extent, &extent);
    for (size_t k = 1; k < c->args.n; k++) {
        if (point(c, k) > point(c, k - 1) && (!known || point(c, k) < extent))
            continue;
        sched_refuse_at(c, c->args.at[k].span, part->loop, "to be cut",
                        D_partition_point, part->loop->u.loop.var->name,
                        (long long)point(c, k));
        return diag_help(c->pass->diags,
                         "the points are numbers of iterations, each greater "
                         "than the one before");
    }
    return true;
}

// Return whether the loop reaches a point for sure.
static bool reaches(const struct partition *part, int64_t at)
{
    struct affine rest = affine_of(part->pass->scratch, part->extent);
    struct affine number = affine_number(at);
    rest = affine_add(part->pass->scratch, &rest, -1, &number);
    return facts_nonnegative(&part->facts, &rest);
}

// Return the number of iterations from one point to another; `to` may be the
// end, 0.
static struct ir_expr *length(const struct partition *part, int64_t from,
                              int64_t to)
{
    struct arena *a = part->pass->arena;
    struct ir_expr *end = part->extent;
    if (to)
        end = reaches(part, to)
                  ? ir_int(a, to)
                  : ir_binary(a, OP_min, ir_int(a, to), part->extent);
    struct ir_expr *n = ir_sub(a, end, ir_int(a, from));
    return reaches(part, from) ? n : ir_binary(a, OP_max, n, ir_int(a, 0));
}

// Return whether a stage of the kernel has that name.
static bool is_taken(const struct ir_kernel *kernel, const char *name)
{
    ir_foreach_stmt(s, &kernel->body)
        if (s->kind == STMT_stage && strcmp(s->u.stage.name, name) == 0)
            return true;
    return false;
}

// Return `name` with a number before its first dot that no stage has yet.
static const char *new_name(struct pass *p, const char *name)
{
    int base = (int)strcspn(name, ".");
    const char *free = name;
    for (int k = 1; k == 1 || is_taken(p->kernel, free); k++)
        free =
            arena_printf(p->scratch, "%.*s_%d%s", base, name, k, name + base);
    return str_name(p->names, free);
}

// Put the init of a stage into its body, where the reduction is at 0.
static void init_in_body(struct arena *a, struct ir_stage *stage)
{
    struct ir_expr *first = ir_bool(a, true);
    vec_foreach(it, &stage->iters) {
        struct ir_expr *at = ir_read(a, it->var);
        if (it->is_reduce)
            first = ir_binary(a, OP_and, first,
                              ir_binary(a, OP_eq, at, ir_int(a, 0)));
    }
    struct ir_stmt *branch = ir_stmt_if(a, first);
    branch->u.branch.then = stage->init;
    ir_insert(a, &stage->body, 0, branch);
}

// Rename the stages of a later part, and take away the inits that have run.
static void finish_copy(const struct partition *part, struct ir_stmt *s)
{
    if (s->kind != STMT_stage)
        return;
    s->u.stage.name = new_name(part->pass, s->u.stage.name);
    unsigned role = ir_stage_role(&s->u.stage, part->loop->u.loop.var);
    if (!s->u.stage.has_init || !(role & STAGE_REDUCES))
        return;
    if (role & STAGE_SELECTS)
        init_in_body(part->pass->arena, &s->u.stage);
    s->u.stage.has_init = false;
    s->u.stage.init = (struct ir_block){0};
}

// Make part `k` with a body that still counts with the old variable.
static struct ir_stmt *make_part(struct sched_call *c, struct partition *part,
                                 size_t k, struct ir_block body)
{
    struct pass *p = c->pass;
    const struct ir_for *old = &part->loop->u.loop;
    const char *name = arena_printf(p->scratch, "%s_%zu", old->var->name, k);
    struct ir_var *var = sched_new_var(p, part->loop, name, old->var->span);
    int64_t to = k + 1 < c->args.n ? point(c, k + 1) : 0;
    struct ir_stmt *loop =
        sched_new_loop(p, var, length(part, point(c, k), to), part->loop->span);
    struct ir_expr *number =
        ir_add(p->arena, ir_read(p->arena, var), ir_int(p->arena, point(c, k)));
    ir_replace_in(
        p->arena, &body, old->var,
        ir_add(p->arena, old->from, ir_mul(p->arena, number, old->step)));
    loop->u.loop.body = body;
    return loop;
}

// Return whether the reduction of a stage is at 0 where its loops begin.
static bool begins_first(struct arena *a, const struct ir_stage *stage,
                         const struct map *begin)
{
    vec_foreach(it, &stage->iters)
        if (it->is_reduce &&
            !ir_is_int_const(ir_substitute(a, it->binding, begin, NULL), 0))
            return false;
    return true;
}

// Check that the init of each reduction that the loop counts is in the first part.
static bool check_inits(const struct sched_call *c,
                        const struct partition *part)
{
    struct pass *p = c->pass;
    const struct ir_var *var = part->loop->u.loop.var;
    struct map begin = {.arena = p->scratch};
    ir_foreach_stmt(s, &p->kernel->body)
        if (s->kind == STMT_for)
            map_set(&begin, s->u.loop.var, s->u.loop.from);
    ir_foreach_stmt(s, &part->loop->u.loop.body)
        if (s->kind == STMT_stage && s->u.stage.has_init &&
            ir_stage_role(&s->u.stage, var) == STAGE_REDUCES &&
            !begins_first(p->scratch, &s->u.stage, &begin))
            return sched_refuse(c, s, "begins later", D_partition_init,
                                var->name, sched_name_of(s));
    return true;
}

bool sched_loop_partition(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct partition part = {.pass = p, .loop = sched_arg(c, 0)};
    part.extent = ir_for_extent(p->arena, &part.loop->u.loop);
    if (!sched_check_serial(c, part.loop) || !sched_check_plain(c, part.loop) ||
        !check_points(c, &part) || !check_inits(c, &part))
        return false;
    struct ir_path path = sched_path(p, part.loop);
    part.facts = facts_around(p->scratch, p->kernel, part.loop);
    struct ir_block *around = path.blocks[path.n - 1];
    size_t at = path.index[path.n - 1];
    struct ir_block body = part.loop->u.loop.body;
    for (size_t k = 1; k < c->args.n; k++) {
        struct ir_block copy = ir_copy_block(p->arena, &body, NULL, NULL);
        ir_foreach_stmt(s, &copy)
            finish_copy(&part, s);
        ir_insert(p->arena, around, at + k, make_part(c, &part, k, copy));
    }
    around->at[at] = make_part(c, &part, 0, body);
    for (size_t k = 0; k < c->args.n; k++)
        sched_result(c, VALUE_loop, around->at[at + k]);
    return true;
}
