// Replaces marked nests by the matrix instructions that compute them.

#include "passes/lower/fragments.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

// Return a multiple of a number over it.
static struct ir_expr *over(struct arena *a, struct ir_expr *x, int64_t by)
{
    struct affine number = affine_number(by), quotient, rest,
                  all = affine_of(a, x);
    affine_divide(a, &all, &number, &quotient, &rest);
    return affine_expr(a, &quotient, x->type);
}

// Return the registers that a thread has of an operand.
static struct ir_tile registers(struct fragments *f,
                                const struct tensor_nest *nest,
                                const struct tensor_operand *x)
{
    struct arena *a = f->p->arena;
    const struct fragment *fragment = fragment_of(f, x->buffer);
    struct ir_expr *index[IR_TILE_RANK];
    struct ir_tile t = {0};
    for (uint32_t d = 0; d < x->n; d++) {
        index[d] = tensor_base(a, nest, x->index[d]);
        for (int side = 0; side < 2; side++)
            if (d == fragment->dim[side])
                index[d] = over(a, index[d], fragment->tile[side]);
        t.extent[d] = 1;
    }
    index[x->n] = ir_int(a, 0);
    t.extent[x->n] = fragment->layout.elements;
    t.at = ir_place(a, fragment->local, x->n + 1, index);
    return t;
}

// Simplify the indices of a nest's operands under what its loops say.
static void simplify(struct fragments *f, struct tensor_nest *nest)
{
    struct facts facts = facts_around(f->p->scratch, f->p->kernel, nest->stage);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        struct tensor_operand *x = &nest->part[i];
        for (uint32_t d = 0; d < x->n; d++)
            x->index[d] = fold_expr(f->p->arena, &facts, x->index[d]);
    }
}

// Return whether the reduction of a stage goes over a loop.
static bool adds_over(const struct ir_stage *stage, const struct ir_stmt *s)
{
    bool found = false;
    for (size_t i = 0; s->kind == STMT_for && i < stage->iters.n; i++)
        found |= stage->iters.at[i].is_reduce &&
                 ir_mentions(stage->iters.at[i].binding, s->u.loop.var);
    return found;
}

// Return whether a loop has an iteration.
static bool runs(struct fragments *f, const struct ir_stmt *s)
{
    struct facts facts = facts_around(f->p->scratch, f->p->kernel, s);
    return facts_runs(&facts, &s->u.loop);
}

// Return whether the first instruction of every accumulator runs, which
// overwrites what is there if the stage has an init.
static bool begins_sums(struct fragments *f, const struct tensor_nest *nest)
{
    const struct ir_stage *stage = &nest->stage->u.stage;
    struct ir_path path;
    bool adds = false, begins = true;
    ir_find(f->p->scratch, &f->p->kernel->body, nest->stage, &path);
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        adds |= adds_over(stage, path.stmts[i]);
        if (path.stmts[i]->kind != STMT_for)
            begins &= !adds;
        else if (adds_over(stage, path.stmts[i]))
            begins &= runs(f, path.stmts[i]);
    }
    return begins;
}

bool fragments_refuse(struct fragments *f, const struct ir_stmt *loop,
                      struct ir_matrix op, const char *why)
{
    struct buf name = {0};
    matrix_name(&name, op);
    diag_error(f->p->diags, loop->span, D_not_a_product, name.data, why);
    buf_free(&name);
    return false;
}

bool fragments_multiply(struct fragments *f, struct ir_stmt *loop,
                        struct ir_stmt **out)
{
    struct ir_matrix op;
    struct tensor_nest nest;
    if (!tensor_marked(loop, &op) || tensor_match(f->p->arena, loop, op, &nest))
        return false;
    if (nest.keep && !begins_sums(f, &nest))
        return fragments_refuse(
            f, loop, op,
            "without any instruction the accumulator would keep its value; "
            "decompose_reduction takes its init away");
    simplify(f, &nest);
    struct ir_stmt *s =
        ir_stmt_from(ir_stmt_matrix(f->p->arena, op), nest.stage);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        struct ir_tile *t = &s->u.matrix.tiles[i];
        enum matrix_operand which = (enum matrix_operand)i;
        struct matrix_layout layout;
        const char *wrong = NULL;
        if (matrix_layout(op, which, &layout))
            *t = registers(f, &nest, &nest.part[i]);
        else
            wrong = fragments_shared(f, &nest, which, t);
        if (wrong)
            return diag_error(f->p->diags, loop->span, D_operand_layout,
                              nest.part[i].buffer->name, wrong);
    }
    s->u.matrix.keep = nest.keep;
    *out = s;
    return true;
}
