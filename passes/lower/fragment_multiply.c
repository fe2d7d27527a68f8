// Instructions on matrices in the places of the nests that they do.

#include "passes/lower/fragments.h"

#include "ir/affine.h"
#include "ir/build.h"

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
        for (int side = 0; side < 2; side++) {
            if (d == fragment->dim[side])
                index[d] = over(a, index[d], fragment->tile[side]);
        }
        t.extent[d] = 1;
    }
    index[x->n] = ir_int(a, 0);
    t.extent[x->n] = fragment->layout.elements;
    t.at = ir_place(a, fragment->local, x->n + 1, index);
    return t;
}

bool fragments_multiply(struct fragments *f, struct ir_stmt *loop,
                        struct ir_stmt **out)
{
    struct ir_matrix op;
    struct tensor_nest nest;
    if (!tensor_marked(loop, &op) || tensor_match(f->p->arena, loop, op, &nest))
        return false;
    struct ir_stmt *s =
        ir_stmt_from(ir_stmt_matrix(f->p->arena, op), nest.stage);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        s->u.matrix.tiles[i] = registers(f, &nest, &nest.part[i]);
    s->u.matrix.keep = nest.keep;
    *out = s;
    return true;
}
