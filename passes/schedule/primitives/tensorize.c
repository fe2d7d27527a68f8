// tensorize -- let an instruction on matrices, or dp4a, do a loop nest.
//
//   for i in 0..16 { for j in 0..8 { for k in 0..16 {
//     stage D { D[i, j] = D[i, j] + f32(A[i, k]) * f32(B[k, j]) } } } }   =>
//   for i in 0..16 @tensorize(mma_m16n8k16_f16_f32) { ... }
//
// `mma` or `wgmma` instead of a name is the instruction of that kind that has
// the sizes and types of the nest; one that uses fewer bits than the operands
// have, only where its precision, `tf32`, is the third argument.  The pass
// `round_operands` then rounds the operands to nearest where they are stored.
//
// The instructions are those of ir/matrix.def.  The pass `fragments` puts
// them in the place of the nest, and spreads what is in fragments over the
// threads of the warp or warpgroup that runs it.
//
//   for k in 0..4 {
//     stage D { D[i] = D[i] + i32(A[i, k]) * i32(x[k]) } }   =>
//   for k in 0..4 @dp4a(1) { ... }
//
// `dp4a` is an instruction of one thread: it adds four products of i8 or u8, of
// whichever signs, to an i32 or a u32.  The pass `vectorize` puts it in the place
// of the loop.  Bytes that are neighbours, and proved to begin at a multiple of
// 4, are loaded as one word, others one by one; E0768 warns of neighbours.  At
// the end of a row that is no multiple of 4 products are added one by one.
//
// Requires:
//  1. the name is that of an instruction, or of a kind                E0214
//  2. the nest multiplies matrices of the instruction's size, types
//     and memory, or the loop is innermost, of 4 products             E0780

#include "ir/build.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/dot.h"
#include "passes/analysis/tensor.h"
#include "passes/schedule/prim.h"

#include <string.h>

// Mark a loop with an instruction.
static bool mark(struct sched_call *c, struct ir_stmt *loop,
                 struct ir_matrix op)
{
    struct buf name = {0};
    matrix_name(&name, op);
    ir_attr_set_word(c->pass->arena, loop, MARK_tensorize,
                     str_name(c->pass->names, name.data));
    buf_free(&name);
    return true;
}

// Return what keeps a nest from being any instruction of a kind with n columns;
// NULL, and the instruction, if it is one.
static const char *match_kind(struct sched_call *c, struct ir_stmt *loop,
                              int64_t n, struct ir_matrix *op)
{
    const char *precision = c->args.n > 2 ? c->args.at[2].key : NULL;
    const char *wrong = "none has as many columns, or operands of these types";
    struct tensor_nest nest;
    for (size_t i = 0; n > 0 && matrix_of_kind(c->args.at[1].key, precision,
                                               (uint32_t)n, i, op);
         i++)
        if (!(wrong = tensor_match(c->pass->scratch, loop, *op, &nest)))
            return NULL;
    return wrong;
}

// Find the instruction of a kind that a nest is: its columns are the iterations
// of one of the loops.
static bool tensorize_kind(struct sched_call *c, struct ir_stmt *loop)
{
    const char *wrong = "it has no loop of a constant extent";
    struct ir_block one = {.at = &loop, .n = 1};
    ir_foreach_stmt(s, &one) {
        struct ir_matrix op;
        int64_t n;
        if (s->kind != STMT_for ||
            !ir_int_value(ir_for_extent(c->pass->scratch, &s->u.loop), &n) ||
            n > UINT16_MAX)
            continue;
        if (!(wrong = match_kind(c, loop, n, &op)))
            return mark(c, loop, op);
    }
    return sched_refuse(c, loop, "no instruction's nest", D_not_a_product,
                        c->args.at[1].key, wrong);
}

// Mark the loop of four products.
static bool tensorize_dot(struct sched_call *c, struct ir_stmt *loop)
{
    const char *wrong = loop->u.loop.axis == AXIS_serial
                            ? dot_loop(c->pass->scratch, loop)
                            : "the loop is not serial";
    if (!wrong) {
        ir_attr_set(c->pass->arena, loop, MARK_dp4a, 1);
        return true;
    }
    sched_refuse(c, loop, "not four products", D_not_a_product, "dp4a", wrong);
    return diag_help(c->pass->diags,
                     "it takes the innermost loop of a sum, split by 4: `k0, "
                     "k1 = split(k, _, 4)`, `tensorize(k1, dp4a)`");
}

bool sched_tensorize(struct sched_call *c)
{
    struct ir_stmt *loop = sched_arg(c, 0);
    struct ir_matrix op;
    struct tensor_nest nest;
    const char *name = c->args.at[1].key;
    if (strcmp(name, "mma") == 0 || strcmp(name, "wgmma") == 0)
        return tensorize_kind(c, loop);
    if (strcmp(name, "dp4a") == 0)
        return tensorize_dot(c, loop);
    if (!matrix_find(name, &op))
        return diag_error(c->pass->diags, c->args.at[1].span, D_unknown_matrix,
                          name);
    const char *wrong = tensor_match(c->pass->scratch, loop, op, &nest);
    if (wrong)
        return sched_refuse(c, loop, "not the instruction's nest",
                            D_not_a_product, name, wrong);
    return mark(c, loop, op);
}
