// Choices between values that must not both be evaluated, such as `i < n ? A[i]
// : 0`. LLVM does not see that two of them are the same.

#include "nvptx/emit.h"

#include "ir/equal.h"
#include "ir/walk.h"

enum { CHOSEN_MOST = 16 }; // choices that are looked back at

// Return whether an expression has the same value wherever it is evaluated.
static bool is_constant(const struct emitter *e, const struct ir_expr *root)
{
    ir_foreach_expr(x, root) {
        unsigned flags = ir_op_info(x->op)->flags;
        if (flags & (OP_WRITES | OP_TOGETHER) ||
            (x->op == OP_var && x->u.var->kind == VAR_mutable) ||
            ((flags & OP_READS) && !emit_is_unchanging(e, x->u.buffer)))
            return false;
    }
    return true;
}

LLVMValueRef emit_known_choice(struct emitter *e, const struct ir_expr *x)
{
    size_t n = e->chosen.n;
    for (size_t i = n; i > 0 && i + CHOSEN_MOST > n; i--) {
        const struct emit_chosen *c = &e->chosen.at[i - 1];
        if (ir_expr_equal(c->x, x))
            return c->value;
    }
    return NULL;
}

// Remember a choice that would give the same again.
static void remember(struct emitter *e, const struct ir_expr *x,
                     LLVMValueRef value)
{
    struct emit_chosen chosen = {x, value};
    if (is_constant(e, x))
        vec_push(e->arena, &e->chosen, chosen);
}

LLVMValueRef emit_one_of(struct emitter *e, const struct ir_expr *x,
                         LLVMValueRef cond, struct ir_expr *const *arms)
{
    LLVMBasicBlockRef blocks[2] = {emit_new_block(e, "then"),
                                   emit_new_block(e, "else")};
    LLVMBasicBlockRef end = emit_new_block(e, "end");
    LLVMBuildCondBr(e->builder, cond, blocks[0], blocks[1]);
    LLVMValueRef values[2];
    size_t around = e->chosen.n;
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(e->builder, blocks[i]);
        values[i] = emit_value(e, arms[i]);
        blocks[i] = LLVMGetInsertBlock(e->builder);
        LLVMBuildBr(e->builder, end);
        e->chosen.n = around;
    }
    LLVMPositionBuilderAtEnd(e->builder, end);
    LLVMValueRef phi = LLVMBuildPhi(e->builder, emit_type(e, x->type), "");
    LLVMAddIncoming(phi, values, blocks, 2);
    remember(e, x, phi);
    return phi;
}
