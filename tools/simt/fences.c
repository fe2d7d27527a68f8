// What fences and atomics of the module put in order: their scopes and
// orderings, for model.c.

#include "tools/simt/code.h"

#define FUNCTION(f) ((void (*)(void))(f))

// Return the scope of an atomic or a fence.
static enum reach reach_of(struct rewriter *w, LLVMValueRef i)
{
    unsigned id = LLVMGetAtomicSyncScopeID(i);
    if (id == LLVMGetSyncScopeID(w->context, "block", 5))
        return REACH_BLOCK;
    return id == LLVMGetSyncScopeID(w->context, "cluster", 7) ? REACH_CLUSTER
                                                              : REACH_GPU;
}

// Return what an instruction with an ordering of LLVM puts in order.
static unsigned ordering_of(LLVMAtomicOrdering o)
{
    switch (o) {
    case LLVMAtomicOrderingAcquire: return ORDER_ACQUIRE;
    case LLVMAtomicOrderingRelease: return ORDER_RELEASE;
    case LLVMAtomicOrderingAcquireRelease:
    case LLVMAtomicOrderingSequentiallyConsistent:
        return ORDER_ACQUIRE | ORDER_RELEASE;
    case LLVMAtomicOrderingNotAtomic:
    case LLVMAtomicOrderingUnordered:
    case LLVMAtomicOrderingMonotonic: break;
    }
    return ORDER_RELAXED;
}

// Return the ordering of an atomic, or of a volatile access, which has none.
static unsigned ordering_at(LLVMValueRef i)
{
    if (LLVMIsAAtomicCmpXchgInst(i))
        return ordering_of(LLVMGetCmpXchgSuccessOrdering(i));
    return LLVMIsAtomic(i) ? ordering_of(LLVMGetOrdering(i)) : ORDER_RELAXED;
}

void code_set_atomic(struct rewriter *w, struct site *s, LLVMValueRef i)
{
    bool is_used = LLVMGetFirstUse(i);
    bool is_exchange = LLVMIsAAtomicRMWInst(i) &&
                       LLVMGetAtomicRMWBinOp(i) == LLVMAtomicRMWBinOpXchg;
    s->is_used = is_used;
    s->kind |= ACCESS_ATOMIC | (is_exchange && !is_used ? ACCESS_BLIND : 0);
    s->reach = LLVMIsAtomic(i) ? reach_of(w, i) : REACH_GPU;
    s->ordering = ordering_at(i);
    if (is_used || s->ordering)
        code_need_order(w, s->ordering != ORDER_RELAXED);
}

void code_watch_fence(struct rewriter *w, LLVMValueRef i)
{
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMValueRef args[] = {
        code_address(w, w->code->machine),
        LLVMConstInt(w->half, (unsigned)reach_of(w, i), false),
        LLVMConstInt(w->half, ordering_of(LLVMGetOrdering(i)), false)};
    code_call(w, FUNCTION(simt_fence), NULL, args, 3);
    code_need_order(w, true);
}

// Return the address that an atomic, or a volatile access, goes to, if it brings
// a value of memory that blocks share; else NULL.
static LLVMValueRef polled_by(LLVMValueRef i)
{
    uint32_t bytes;
    size_t n;
    if (!LLVMGetFirstUse(i))
        return NULL;
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        return LLVMGetOperand(i, 0);
    if (LLVMIsALoadInst(i) && (LLVMIsAtomic(i) || LLVMGetVolatile(i)))
        return LLVMGetOperand(i, 0);
    if (!LLVMIsACallInst(i) || !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
        return NULL;
    const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(i), &n);
    return atomic_parse(text, &bytes) < 0 ? NULL : LLVMGetOperand(i, 0);
}

// Return whether a function polls memory that blocks share.
static bool polls(LLVMValueRef function)
{
    LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function);
    for (; b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef i = LLVMGetFirstInstruction(b);
        for (; i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef at = polled_by(i);
            if (at && LLVMGetPointerAddressSpace(LLVMTypeOf(at)) !=
                          space_number(SPACE_shared))
                return true;
        }
    }
    return false;
}

bool code_meets_blocks(struct rewriter *w)
{
    bool any = false;
    for (size_t i = 0; i < w->code->entries.n; i++) {
        struct code_entry *e = &w->code->entries.at[i];
        LLVMValueRef f = LLVMGetNamedFunction(w->module, e->launch->name);
        e->meets_blocks = f && polls(f);
        any |= e->meets_blocks;
    }
    return any;
}
