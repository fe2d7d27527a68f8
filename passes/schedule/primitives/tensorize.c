// tensorize -- let an instruction on matrices do a loop nest.
//
//   for i in 0..16 { for j in 0..8 { for k in 0..16 {
//     stage D { D[i, j] = D[i, j] + f32(A[i, k]) * f32(B[k, j]) } } } }   =>
//   for i in 0..16 @tensorize(mma_m16n8k16_f16_f32) { ... }
//
// The instructions are those of ir/matrix.def.  The pass `fragments` puts
// them in the place of the nest, and spreads what is in fragments over the
// threads of the warp or warpgroup that runs it.
//
// Requires:
//  1. the name is that of an instruction                              E0214
//  2. the nest multiplies matrices of the instruction's size, types
//     and memory                                                      E0780

#include "ir/marks.h"
#include "passes/analysis/tensor.h"
#include "passes/schedule/prim.h"

bool sched_tensorize(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    struct ir_matrix op;
    struct tensor_nest nest;
    const char *name = c->args.at[1].key;
    if (!matrix_find(name, &op))
        return diag_error(c->pass->diags, c->args.at[1].span, D_unknown_matrix,
                          name);
    const char *wrong = tensor_match(c->pass->scratch, loop, op, &nest);
    if (wrong)
        return sched_refuse(c, loop, "not the instruction's nest",
                            D_not_a_product, name, wrong);
    ir_attr_set_word(c->pass->arena, loop, MARK_tensorize, name);
    return true;
}
