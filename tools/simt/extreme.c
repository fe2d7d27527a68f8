// The least and the greatest of two numbers, of which LLVM 21 makes wrong
// machine code for this machine where both are numbers: written as choices.

#include "tools/simt/code.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

enum { RIGHT_SINCE = 22 };

// Return the type of the bits of a value, or of those of its lanes.
static LLVMTypeRef bits_of(struct rewriter *w, LLVMTypeRef type)
{
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef one = is_vector ? LLVMGetElementType(type) : type;
    LLVMTypeKind kind = LLVMGetTypeKind(one);
    unsigned n = kind == LLVMDoubleTypeKind  ? 64
                 : kind == LLVMFloatTypeKind ? 32
                                             : 16;
    LLVMTypeRef bits = LLVMIntTypeInContext(w->context, n);
    return is_vector ? LLVMVectorType(bits, LLVMGetVectorSize(type)) : bits;
}

// Return the value of a and b, which are equal: of zeros the one that comes
// first or last.
static LLVMValueRef of_equal(struct rewriter *w, LLVMValueRef a, LLVMValueRef b,
                             bool is_most)
{
    LLVMTypeRef type = LLVMTypeOf(a), bits = bits_of(w, type);
    LLVMValueRef x = LLVMBuildBitCast(w->builder, a, bits, "");
    LLVMValueRef y = LLVMBuildBitCast(w->builder, b, bits, "");
    LLVMValueRef v = is_most ? LLVMBuildAnd(w->builder, x, y, "")
                             : LLVMBuildOr(w->builder, x, y, "");
    return LLVMBuildBitCast(w->builder, v, type, "");
}

bool code_replace_extreme(struct rewriter *w, LLVMValueRef call,
                          const char *name)
{
    LLVMBuilderRef at = w->builder;
    bool is_most = strncmp(name, "llvm.maximumnum.", 16) == 0;
    bool is_least = strncmp(name, "llvm.minimumnum.", 16) == 0;
    if (LLVM_VERSION_MAJOR >= RIGHT_SINCE || (!is_most && !is_least))
        return false;
    LLVMValueRef a = LLVMGetOperand(call, 0), b = LLVMGetOperand(call, 1);
    LLVMRealPredicate first = is_most ? LLVMRealOGT : LLVMRealOLT;
    LLVMValueRef v =
        LLVMBuildSelect(at, LLVMBuildFCmp(at, first, a, b, ""), a, b, "");
    v = LLVMBuildSelect(at, LLVMBuildFCmp(at, LLVMRealOEQ, a, b, ""),
                        of_equal(w, a, b, is_most), v, "");
    v = LLVMBuildSelect(at, LLVMBuildFCmp(at, LLVMRealUNO, a, a, ""), b, v, "");
    v = LLVMBuildSelect(at, LLVMBuildFCmp(at, LLVMRealUNO, b, b, ""), a, v, "");
    LLVMReplaceAllUsesWith(call, v);
    LLVMInstructionEraseFromParent(call);
    return true;
}
