// mbarriers, and the groups of TMA stores.
//
// Arrivals count in the block's own shared memory and order what the block
// does: a wider scope costs a fence of the whole GPU for each.

#include "nvptx/emit.h"

#include "ir/build.h"

// Return the 32 bits of operand `i` behind the element.
static LLVMValueRef operand(struct emitter *e, const struct ir_expr *x,
                            uint32_t i)
{
    const struct ir_expr *arg = x->args[ir_index_count(x) + i];
    return emit_convert(e, type_scalar(TYPE_u32), arg->type,
                        emit_value(e, arg));
}

// Return the value that such an operation has.
static LLVMValueRef nothing(struct emitter *e)
{
    return emit_int(e, type_scalar(TYPE_u64), 0);
}

LLVMValueRef emit_mbarrier(struct emitter *e, const struct ir_expr *x)
{
    static const char arrive[] =
        "llvm.nvvm.mbarrier.arrive.scope.cta.space.cta";
    emit_need(e, FEATURE_mbarrier, x->span, ir_op_info(x->op)->spelling);
    bool is_init = x->op == OP_mbarrier_init;
    bool is_expect = x->op == OP_mbarrier_expect;
    LLVMValueRef args[] = {emit_address(e, x->u.buffer, x->args[0]),
                           is_init || is_expect
                               ? operand(e, x, 0)
                               : emit_int(e, type_scalar(TYPE_u32), 1)};
    const char *name =
        is_init     ? "llvm.nvvm.mbarrier.init.shared"
        : is_expect ? "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta"
                    : arrive;
    emit_intrinsic(e, name, NULL, args, 2);
    return nothing(e);
}

LLVMValueRef emit_mbarrier_copied(struct emitter *e, const struct ir_expr *x)
{
    emit_need(e, FEATURE_mbarrier, x->span, ir_op_info(x->op)->spelling);
    LLVMValueRef barrier = emit_address(e, x->u.buffer, x->args[0]);
    emit_intrinsic(e, "llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared", NULL,
                   &barrier, 1);
    return nothing(e);
}

// Let nothing that comes behind be computed before.
static void emit_clobber(struct emitter *e)
{
    static const char memory[] = "~{memory}";
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, false);
    LLVMValueRef empty =
        LLVMGetInlineAsm(type, "", 0, memory, sizeof memory - 1, true, false,
                         LLVMInlineAsmDialectATT, false);
    emit_call_attribute(LLVMBuildCall2(e->builder, type, empty, NULL, 0, ""),
                        "nounwind");
}

// Try until the phase has ended:
//
//   wait:   if (try_wait(b, parity)) behind else wait
//   behind: ...
LLVMValueRef emit_mbarrier_wait(struct emitter *e, const struct ir_expr *x)
{
    emit_need(e, FEATURE_mbarrier, x->span, ir_op_info(x->op)->spelling);
    LLVMValueRef args[] = {emit_address(e, x->u.buffer, x->args[0]),
                           operand(e, x, 0)};
    LLVMBasicBlockRef wait = emit_new_block(e, "wait");
    LLVMBasicBlockRef behind = emit_new_block(e, "arrived");
    LLVMBuildBr(e->builder, wait);
    LLVMPositionBuilderAtEnd(e->builder, wait);
    LLVMValueRef ended = emit_intrinsic(
        e, "llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta", NULL, args,
        2);
    LLVMBuildCondBr(e->builder, ended, behind, wait);
    LLVMPositionBuilderAtEnd(e->builder, behind);
    emit_clobber(e);
    return nothing(e);
}

void emit_bulk_sync(struct emitter *e, const struct ir_stmt *s)
{
    LLVMValueRef n = emit_int(e, type_scalar(TYPE_u32), s->u.sync.n);
    emit_need(e, FEATURE_mbarrier, s->span, sync_spelling(s->u.sync.kind));
    switch ((int)s->u.sync.kind) {
    case SYNC_fence_mbarrier_init:
        emit_intrinsic(e, "llvm.nvvm.fence.mbarrier_init.release.cluster", NULL,
                       NULL, 0);
        break;
    case SYNC_bulk_commit:
        emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.commit.group", NULL, NULL,
                       0);
        break;
    case SYNC_bulk_wait_read:
        emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.wait.group.read", NULL, &n,
                       1);
        break;
    case SYNC_bulk_wait:
        emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.wait.group", NULL, &n, 1);
        break;
    }
}
