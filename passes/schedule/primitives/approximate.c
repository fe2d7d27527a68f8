// approximate -- compute a stage's exponentials by the instruction of the GPU.
//
//   P[i] = exp((X[i] - M) * c)
//     =>
//   P[i] = ex2((X[i] - M) * (c * 1.442695))
//
// exp is right to the last bit or two, which takes eight instructions; ex2 is one
// (ex2.approx.ftz.f32 of the PTX ISA), and has a relative error of 2^-22. The product in
// front of it adds |x| * 2^-24, and nothing where X[i] is M, however large both are: one
// fma with M * c would be off by |M * c| * 2^-24, which is no weight at all where a mask
// left only elements of -1e30. So this is for what is rounded to fewer bits, as operands
// of Tensor Cores are; `fast_math` in the head of a kernel allows it, and more,
// everywhere.
//
// Requires:
//  1. the stage computes exp or exp2 of f32     E0883

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

// log2(e): 2^(x * log2(e)) is e^x.
static const double log2_e = 1.4426950408889634;

// Return a product with a number: where one factor stays the same in all iterations, of
// that factor.
static struct ir_expr *scaled(struct arena *a, struct ir_expr *x)
{
    struct ir_expr *number = ir_const_float(a, x->type, log2_e);
    if (x->op != OP_mul)
        return ir_binary(a, OP_mul, x, number);
    for (int i = 0; i < 2; i++) {
        bool varies = false;
        ir_foreach_expr(e, x->args[i])
            varies |= e->op == OP_load ||
                      (e->op == OP_var && e->u.var->kind != VAR_param);
        if (!varies)
            return ir_binary(a, OP_mul, x->args[1 - i],
                             ir_binary(a, OP_mul, x->args[i], number));
    }
    return ir_binary(a, OP_mul, x, number);
}

// Replace an exponential of f32; notes that there is one.
static struct ir_expr *replace(struct arena *a, struct ir_expr *x, void *found)
{
    bool is_natural = x->op == OP_exp;
    if ((!is_natural && x->op != OP_exp2) || x->type.kind != TYPE_f32)
        return x;
    struct ir_expr *of = is_natural ? scaled(a, x->args[0]) : x->args[0];
    *(bool *)found = true;
    return ir_at(a, ir_call(a, OP_ex2, 1, &of), x->span);
}

bool sched_approximate(struct sched_call *c)
{
    struct ir_stmt *stage = sched_arg(c, 0);
    bool found = false;
    ir_rewrite_in(c->pass->arena, &stage->u.stage.body, replace, &found);
    return found || sched_refuse(c, stage, "named here", D_approximate,
                                 sched_name_of(stage));
}
