// Registers that nobody has set: what LLVM knows to be undefined becomes the
// bytes that arrays of a block hold at first.
//
// LLVM turns local arrays into registers, and what is read of them unwritten
// into `undef` or `poison`, of which it may make anything.  A kernel that is
// right gives the same for each of them.

#include "tools/simt/code.h"

// Return whether a type has a value of numbers: one, or a vector of them.
static bool is_of_numbers(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMVectorTypeKind)
        return is_of_numbers(LLVMGetElementType(type));
    return kind == LLVMIntegerTypeKind || kind == LLVMHalfTypeKind ||
           kind == LLVMBFloatTypeKind || kind == LLVMFloatTypeKind ||
           kind == LLVMDoubleTypeKind;
}

// Return whether a constant of numbers, or a lane of it, is undefined.
static bool is_undefined(LLVMValueRef v)
{
    if (LLVMIsUndef(v) || LLVMIsPoison(v))
        return true;
    if (!LLVMIsAConstantVector(v))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(v); i++) {
        if (is_undefined(LLVMGetOperand(v, (unsigned)i)))
            return true;
    }
    return false;
}

// Return the bytes as a number of a type.
static LLVMValueRef as_number(struct rewriter *w, LLVMValueRef bytes,
                              LLVMTypeRef type)
{
    unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind
                        ? LLVMGetIntTypeWidth(type)
                        : 8 * code_size_of(type);
    LLVMTypeRef number = LLVMIntTypeInContext(w->context, bits);
    bytes = LLVMBuildIntCast2(w->builder, bytes, number, true, "");
    return LLVMBuildBitCast(w->builder, bytes, type, "");
}

// Return a value like a constant, with the bytes where it is undefined.
static LLVMValueRef defined(struct rewriter *w, LLVMValueRef bytes,
                            LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return is_undefined(v) ? as_number(w, bytes, type) : v;
    LLVMValueRef all = LLVMConstNull(type);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef lane = LLVMGetAggregateElement(v, i);
        all = LLVMBuildInsertElement(w->builder, all, defined(w, bytes, lane),
                                     LLVMConstInt(w->half, i, false), "");
    }
    return all;
}

// Return whether an operand is one that instructions leave undefined where it
// has no part in the result: what a vector is put together in.
static bool is_place(LLVMValueRef i, unsigned operand)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    return (op == LLVMInsertElement && operand == 0) || op == LLVMShuffleVector;
}

// Put what is defined in the place of the operands of an instruction.
static void define_operands(struct rewriter *w, LLVMValueRef bytes,
                            LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (LLVMIsConstant(v) && is_of_numbers(LLVMTypeOf(v)) &&
            is_undefined(v) && !is_place(i, (unsigned)k))
            LLVMSetOperand(i, (unsigned)k, defined(w, bytes, v));
    }
}

void code_define(struct rewriter *w, LLVMValueRef function)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    LLVMPositionBuilderBefore(w->builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef bytes = LLVMBuildLoad2(
        w->builder, w->word, code_address(w, &w->code->machine->poison), "");
    for (LLVMBasicBlockRef b = entry; b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
             i = LLVMGetNextInstruction(i))
            define_operands(w, bytes, i);
    }
    if (!LLVMGetFirstUse(bytes))
        LLVMInstructionEraseFromParent(bytes);
}
