// fuse_block_iter_var -- count neighbouring iteration variables of a stage as one.
//
//   for i in 0..m { for j in 0..n { stage C(vi = i, vj = j) { C[vi, vj] } } }
//     =>   f = fuse_block_iter_var(i, j)
//   for i_j_fused in 0..m * n { stage C(v0 = i_j_fused) { C[v0] } }
//
// The loops are fused, and the stage knows one variable in their place: rows of
// images, or of heads and positions, are the rows of one matrix. Neighbouring
// dimensions of arrays that are always indexed by the parts of such variables
// become one; other indices are quotients and rests. What reads an array of a
// stage keeps its dimensions until it counts in the same way.
//
// Requires:
//  1. the loops are around a stage                             E0653
//  2. the stage's loops are its iteration variables, one by
//     one, with nothing else between them and no predicate;
//     the loops are neighbours, and all count a reduction, or
//     none does                                                E0683
//  3. they can be fused (see fuse)       E0607 E0608 E0611 E0612 E0613

#include "passes/opt/collapse.h"
#include "passes/schedule/common/iter_loops.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

// Variables that become one.
struct fusion {
    struct sched_iter_loops of;
    size_t first, n; // so many of them
};

// Return the first stage below a loop, or NULL.
static struct ir_stmt *stage_below(struct ir_stmt *loop)
{
    ir_foreach_stmt(s, &loop->u.loop.body)
        if (s->kind == STMT_stage)
            return s;
    return NULL;
}

// Check that loops are those of neighbouring variables of one kind.
static bool check_neighbours(const struct sched_call *c, struct fusion *f,
                             struct ir_stmt *const *loops)
{
    struct ir_stage *stage = &f->of.stage->u.stage;
    while (f->first < f->of.n && f->of.loops[f->first] != loops[0])
        f->first++;
    bool are = f->first + f->n <= f->of.n;
    for (size_t i = 0; i < f->n && are; i++)
        are = f->of.loops[f->first + i] == loops[i];
    if (!are)
        return sched_refuse_remap(
            c, f->of.stage,
            "these loops are not neighbours, from the outermost inward");
    for (size_t i = 1; i < f->n; i++)
        if (stage->iters.at[f->first + i].is_reduce !=
            stage->iters.at[f->first].is_reduce)
            return sched_refuse_remap(
                c, f->of.stage, "an index mixes elements with the reduction");
    return true;
}

// Put the parts of a variable in the place of those that it stands for: of four
// values of i, five of j and six of k these are v / 30, v / 6 % 5 and v % 6.
static void rename_parts(struct pass *p, const struct fusion *f,
                         const struct ir_var *one)
{
    struct arena *a = p->arena;
    struct map parts = {.arena = p->scratch};
    struct ir_stage *stage = &f->of.stage->u.stage;
    struct ir_expr *v = ir_read(a, (struct ir_var *)one), *below = NULL;
    for (size_t i = f->first + f->n; i-- > f->first;) {
        const struct ir_iter *it = &stage->iters.at[i];
        struct ir_expr *part = below ? ir_binary(a, OP_div, v, below) : v;
        if (i > f->first)
            part = ir_binary(a, OP_mod, part, it->extent);
        map_set(&parts, it->var, part);
        below = below ? ir_mul(a, it->extent, below) : it->extent;
    }
    ir_substitute_in(a, &stage->init, &parts, NULL);
    ir_substitute_in(a, &stage->body, &parts, NULL);
}

// Let one iteration variable over a loop stand for some.
static void join_iters(struct pass *p, const struct fusion *f,
                       struct ir_stmt *loop)
{
    struct ir_stage *stage = &f->of.stage->u.stage;
    struct ir_iter one = stage->iters.at[f->first];
    one.extent = loop->u.loop.to;
    one.binding = ir_read(p->arena, loop->u.loop.var);
    const char *name = arena_printf(p->scratch, "v_%s", loop->u.loop.var->name);
    one.var = ir_var_new(p->arena, str_name(p->names, name),
                         type_scalar(TYPE_int), VAR_iter, one.var->span);
    rename_parts(p, f, one.var);
    stage->iters.at[f->first] = one;
    for (size_t i = f->first + f->n; i < stage->iters.n; i++)
        stage->iters.at[i - f->n + 1] = stage->iters.at[i];
    stage->iters.n -= f->n - 1;
}

bool sched_fuse_block_iter_var(struct sched_call *c)
{
    struct fusion f = {.first = 0};
    struct ir_stmt **loops = sched_arg_stmts(c, 0, &f.n);
    struct ir_stmt *stage = stage_below(loops[0]);
    if (!stage)
        return sched_refuse(c, loops[0], "not around a stage", D_stage_wanted,
                            sched_name_of(loops[0]));
    if (!sched_find_iter_loops(c, stage, &f.of) ||
        !check_neighbours(c, &f, loops) || !sched_fuse(c))
        return false;
    join_iters(c->pass, &f, c->results.at[c->results.n - 1].stmt);
    collapse_dims(c->pass, true);
    return true;
}
