// f8e4m3 and f8e5m2: rounded to nearest even, saturating to the greatest
// finite number, every NaN becoming 0x7f.
//
// From sm_89 on the machine converts; below, integer arithmetic gives the
// same bits.

#include "nvptx/emit.h"

// The layout of a type.
struct f8_layout {
    int mantissa;     // bits
    int bias;         // of the exponent
    int greatest;     // bits of the greatest finite number
    const char *into; // intrinsic from two f32
    const char *from; // intrinsic to two f16
};

// Return the layout of an f8 type.
static const struct f8_layout *layout_of(struct type t)
{
    static const struct f8_layout e4m3 = {3, 7, 0x7e,
                                          "llvm.nvvm.ff.to.e4m3x2.rn",
                                          "llvm.nvvm.e4m3x2.to.f16x2.rn"};
    static const struct f8_layout e5m2 = {2, 15, 0x7b,
                                          "llvm.nvvm.ff.to.e5m2x2.rn",
                                          "llvm.nvvm.e5m2x2.to.f16x2.rn"};
    return t.kind == TYPE_f8e4m3 ? &e4m3 : &e5m2;
}

// A 32-bit constant.
static LLVMValueRef word(struct emitter *e, int64_t value)
{
    return emit_int(e, type_scalar(TYPE_u32), value);
}

// Round the magnitude of a normal f8 number: add half of the last kept bit,
// to even, cut, and move the exponent to the new bias.
static LLVMValueRef round_normal(struct emitter *e, const struct f8_layout *l,
                                 LLVMValueRef magnitude)
{
    LLVMBuilderRef b = e->builder;
    int cut = 23 - l->mantissa;
    LLVMValueRef last = LLVMBuildLShr(b, magnitude, word(e, cut), "");
    last = LLVMBuildAnd(b, last, word(e, 1), "");
    LLVMValueRef half = word(e, (1 << (cut - 1)) - 1);
    LLVMValueRef sum = LLVMBuildAdd(b, magnitude, half, "");
    sum = LLVMBuildAdd(b, sum, last, "");
    LLVMValueRef kept = LLVMBuildLShr(b, sum, word(e, cut), "");
    return LLVMBuildSub(b, kept, word(e, (127 - l->bias) << l->mantissa), "");
}

// Round the magnitude of a subnormal f8 number: added to a power of two whose
// last bit is worth as much as theirs, the sum is rounded by the machine.
static LLVMValueRef round_subnormal(struct emitter *e,
                                    const struct f8_layout *l,
                                    LLVMValueRef magnitude)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef f32 = LLVMFloatTypeInContext(e->context);
    int exponent = 1 - l->bias - l->mantissa + 23;
    LLVMValueRef power = word(e, (int64_t)(exponent + 127) << 23);
    LLVMValueRef sum = LLVMBuildFAdd(b, LLVMBuildBitCast(b, magnitude, f32, ""),
                                     LLVMBuildBitCast(b, power, f32, ""), "");
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, LLVMTypeOf(magnitude), "");
    return LLVMBuildSub(b, bits, power, "");
}

// Return the f8 magnitude of an f32 magnitude, both as bits; not of NaN.
static LLVMValueRef round_magnitude(struct emitter *e,
                                    const struct f8_layout *l,
                                    LLVMValueRef magnitude)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef least_normal = word(e, (int64_t)(1 - l->bias + 127) << 23);
    LLVMValueRef is_small =
        LLVMBuildICmp(b, LLVMIntULT, magnitude, least_normal, "");
    LLVMValueRef normal = round_normal(e, l, magnitude);
    LLVMValueRef subnormal = round_subnormal(e, l, magnitude);
    LLVMValueRef rounded = LLVMBuildSelect(b, is_small, subnormal, normal, "");
    LLVMValueRef args[] = {rounded, word(e, l->greatest)};
    return emit_intrinsic(e, "llvm.umin", LLVMTypeOf(rounded), args, 2);
}

// Encode without the instruction.
static LLVMValueRef encode_slowly(struct emitter *e, const struct f8_layout *l,
                                  LLVMValueRef value)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMValueRef bits = LLVMBuildBitCast(b, value, i32, "");
    LLVMValueRef magnitude = LLVMBuildAnd(b, bits, word(e, 0x7fffffff), "");
    LLVMValueRef sign = LLVMBuildLShr(b, bits, word(e, 24), "");
    sign = LLVMBuildAnd(b, sign, word(e, 0x80), "");
    LLVMValueRef number =
        LLVMBuildOr(b, round_magnitude(e, l, magnitude), sign, "");
    LLVMValueRef is_nan =
        LLVMBuildICmp(b, LLVMIntUGT, magnitude, word(e, 0x7f800000), "");
    return LLVMBuildSelect(b, is_nan, word(e, 0x7f), number, "");
}

LLVMValueRef emit_f8_encode(struct emitter *e, struct type to,
                            LLVMValueRef value)
{
    const struct f8_layout *l = layout_of(to);
    LLVMValueRef args[] = {LLVMConstNull(LLVMTypeOf(value)), value};
    LLVMValueRef bits = emit_prefer(e, FEATURE_f8_convert)
                            ? emit_intrinsic(e, l->into, NULL, args, 2)
                            : encode_slowly(e, l, value);
    return LLVMBuildTrunc(e->builder, bits, emit_type(e, type_scalar(to.kind)),
                          "");
}

// Return the f16 of these 16 bits.
static LLVMValueRef as_half(struct emitter *e, LLVMValueRef bits)
{
    return LLVMBuildBitCast(e->builder, bits, LLVMHalfTypeInContext(e->context),
                            "");
}

// Decode e4m3 without the instruction: its bits are those of an f16 that is
// smaller by the difference of the biases, 2^8.
static LLVMValueRef decode_e4m3_slowly(struct emitter *e, LLVMValueRef bits)
{
    LLVMBuilderRef b = e->builder;
    struct type u16 = type_scalar(TYPE_u16), f16 = type_scalar(TYPE_f16);
    LLVMValueRef sign = LLVMBuildAnd(b, bits, emit_int(e, u16, 0x80), "");
    sign = LLVMBuildShl(b, sign, emit_int(e, u16, 8), "");
    LLVMValueRef magnitude = LLVMBuildAnd(b, bits, emit_int(e, u16, 0x7f), "");
    LLVMValueRef moved = LLVMBuildShl(b, magnitude, emit_int(e, u16, 7), "");
    LLVMValueRef small = as_half(e, LLVMBuildOr(b, sign, moved, ""));
    LLVMValueRef number = LLVMBuildFMul(b, small, emit_float(e, f16, 256), "");
    LLVMValueRef is_nan =
        LLVMBuildICmp(b, LLVMIntEQ, magnitude, emit_int(e, u16, 0x7f), "");
    LLVMValueRef nan = as_half(e, emit_int(e, u16, 0x7fff));
    return LLVMBuildSelect(b, is_nan, nan, number, "");
}

LLVMValueRef emit_f8_decode(struct emitter *e, struct type from,
                            LLVMValueRef value)
{
    struct type u16 = type_scalar(TYPE_u16);
    LLVMValueRef bits = LLVMBuildZExt(e->builder, value, emit_type(e, u16), "");
    if (emit_prefer(e, FEATURE_f8_convert)) {
        LLVMValueRef both =
            emit_intrinsic(e, layout_of(from)->from, NULL, &bits, 1);
        return emit_extract(e, (struct type){TYPE_f16, 2}, both, 0);
    }
    if (from.kind == TYPE_f8e4m3)
        return decode_e4m3_slowly(e, bits);
    return as_half(e, LLVMBuildShl(e->builder, bits, emit_int(e, u16, 8), ""));
}
