// Elements of 16 bits to f32, from words that hold two of them: one instruction
// each.
//
//   word: b[1] b[0]   =>   bf16: f32(b[0]) = bits of (word << 16)
//                                f32(b[1]) = bits of (word & 0xffff0000)
//
// An element of a local array is converted anew wherever it is used, which LLVM
// would not do: rows of 16 bits that stay in registers then take half as many as
// they would in f32. A conversion of elements one by one would take each out of
// its word before.

#include "nvptx/emit.h"

#include "ir/build.h"

#include <string.h>

enum { HALF_BITS = 16 };

// What converts the lower and the upper half of a word.
static const char *const halves[TYPE_COUNT][2] = {
    [TYPE_bf16] = {"shl.b32 $0, $1, 16;", "and.b32 $0, $1, 0xffff0000;"},
    [TYPE_f16] = {"{.reg .b16 low, high; mov.b32 {low, high}, $1; "
                  "cvt.f32.f16 $0, low;}",
                  "{.reg .b16 low, high; mov.b32 {low, high}, $1; "
                  "cvt.f32.f16 $0, high;}"},
};

// Return words that hold the elements of a vector; those that nobody has set
// leave the others of their word as they are.
static LLVMValueRef words_of(struct emitter *e, LLVMValueRef v, unsigned lanes)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    return LLVMBuildBitCast(e->builder, LLVMBuildFreeze(e->builder, v, ""),
                            lanes == 2 ? i32 : LLVMVectorType(i32, lanes / 2),
                            "");
}

// Return element k of those in a vector of words of bf16.
static LLVMValueRef vector_half(struct emitter *e, unsigned k, void *words)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMValueRef at = LLVMConstInt(i32, k / 2, false), word = words;
    if (LLVMGetTypeKind(LLVMTypeOf(word)) == LLVMVectorTypeKind)
        word = LLVMBuildExtractElement(e->builder, word, at, "");
    LLVMValueRef shift = LLVMConstInt(i32, HALF_BITS, false);
    LLVMValueRef mask = LLVMConstInt(i32, UINT32_C(0xffff0000), false);
    word = k % 2 ? LLVMBuildAnd(e->builder, word, mask, "")
                 : LLVMBuildShl(e->builder, word, shift, "");
    return LLVMBuildBitCast(e->builder, word,
                            LLVMFloatTypeInContext(e->context), "");
}

LLVMValueRef emit_unpack_vector(struct emitter *e, unsigned lanes,
                                LLVMValueRef v)
{
    return emit_each_lane(e, (struct type){TYPE_f32, (uint8_t)lanes},
                          vector_half, words_of(e, v, lanes));
}

LLVMValueRef emit_unpack_element(struct emitter *e, const struct ir_expr *x)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMTypeRef f32 = LLVMFloatTypeInContext(e->context);
    int64_t k;
    if (x->op != OP_load || x->u.buffer->space != SPACE_local ||
        x->type.lanes != 1 || !halves[x->type.kind][0] ||
        !ir_int_value(x->args[0], &k))
        return NULL;
    LLVMValueRef array = map_get(&e->arrays, x->u.buffer);
    uint64_t length = LLVMGetArrayLength2(LLVMGetAllocatedType(array));
    if (k < 0 || ((uint64_t)k | 1) >= length)
        return NULL;
    LLVMTypeRef pair = emit_type(e, (struct type){x->type.kind, 2});
    LLVMValueRef at = LLVMConstInt(i32, (uint64_t)k / 2, false);
    at = LLVMBuildGEP2(e->builder, pair, array, &at, 1, "");
    LLVMValueRef word = LLVMBuildLoad2(e->builder, pair, at, "");
    const char *text = halves[x->type.kind][k % 2];
    LLVMTypeRef type = LLVMFunctionType(f32, &i32, 1, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), "=f,r", strlen("=f,r"), true,
                         false, LLVMInlineAsmDialectATT, false);
    word = words_of(e, word, 2);
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, code, &word, 1, "");
    emit_call_attribute(call, "nounwind");
    return call;
}
