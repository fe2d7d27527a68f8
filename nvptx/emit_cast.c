// Conversions between types.
//
// Where a type is reached in two roundings, the first one is to odd: it
// keeps the lowest bit set if anything was lost, so that the second rounding
// gives the number nearest to the first value.

#include "nvptx/emit.h"

// A conversion of one lane after another.
struct lane_conversion {
    struct type to, from; // of the whole value
    LLVMValueRef value;
};

// Every number of a type of so many bits, other than f32, is one of f32.
enum { SINGLE_BITS = 16 };

// Return the intrinsic that cuts a number of 32 or 64 bits to f32.
static const char *cutter(struct type from)
{
    if (type_is_float(from))
        return "llvm.nvvm.d2f.rz";
    if (type_bits(from) == 32)
        return type_is_signed(from) ? "llvm.nvvm.i2f.rz" : "llvm.nvvm.ui2f.rz";
    return type_is_signed(from) ? "llvm.nvvm.ll2f.rz" : "llvm.nvvm.ull2f.rz";
}

// Return lane k of a number of 32 or 64 bits in f32, rounded to odd.
static LLVMValueRef lane_to_odd(struct emitter *e, unsigned k, void *context)
{
    const struct lane_conversion *c = context;
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    struct type from = type_scalar((enum type_kind)c->from.kind);
    struct type f32 = type_scalar(TYPE_f32);
    LLVMValueRef lane = emit_extract(e, c->from, c->value, k);
    LLVMValueRef cut = emit_intrinsic(e, cutter(from), NULL, &lane, 1);
    LLVMValueRef back = emit_convert(e, from, f32, cut);
    LLVMValueRef differs = type_is_float(from)
                               ? LLVMBuildFCmp(b, LLVMRealUNE, back, lane, "")
                               : LLVMBuildICmp(b, LLVMIntNE, back, lane, "");
    LLVMValueRef bits = LLVMBuildBitCast(b, cut, i32, "");
    bits = LLVMBuildOr(b, bits, LLVMBuildZExt(b, differs, i32, ""), "");
    return LLVMBuildBitCast(b, bits, emit_type(e, f32), "");
}

// Return lane k encoded as f8.
static LLVMValueRef lane_to_f8(struct emitter *e, unsigned k, void *context)
{
    const struct lane_conversion *c = context;
    return emit_f8_encode(e, c->to, emit_extract(e, c->from, c->value, k));
}

// Return lane k decoded from f8.
static LLVMValueRef lane_from_f8(struct emitter *e, unsigned k, void *context)
{
    const struct lane_conversion *c = context;
    return emit_f8_decode(e, c->from, emit_extract(e, c->from, c->value, k));
}

// Convert an integer, wrapping.
static LLVMValueRef int_to_int(struct emitter *e, struct type to,
                               struct type from, LLVMValueRef value)
{
    return LLVMBuildIntCast2(e->builder, value, emit_type(e, to),
                             type_is_signed(from), "");
}

// Convert an integer to f16, f32 or f64.
static LLVMValueRef int_to_float(struct emitter *e, struct type to,
                                 struct type from, LLVMValueRef value)
{
    LLVMTypeRef type = emit_type(e, to);
    if (type_is_signed(from))
        return LLVMBuildSIToFP(e->builder, value, type, "");
    return LLVMBuildUIToFP(e->builder, value, type, "");
}

// Convert f32 or f64 to an integer: truncate, saturate, NaN to 0.
static LLVMValueRef float_to_int(struct emitter *e, struct type to,
                                 struct type from, LLVMValueRef value)
{
    const char *name =
        type_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    unsigned id = LLVMLookupIntrinsicID(name, 15);
    LLVMTypeRef types[] = {emit_type(e, to), emit_type(e, from)};
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, types, 2);
    return LLVMBuildCall2(e->builder, type, function, &value, 1, "");
}

// Return whether the value differs from zero.
static LLVMValueRef to_bool(struct emitter *e, struct type from,
                            LLVMValueRef value)
{
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
    if (type_is_float(from))
        return LLVMBuildFCmp(e->builder, LLVMRealUNE, value, zero, "");
    return LLVMBuildICmp(e->builder, LLVMIntNE, value, zero, "");
}

// Return the type that a conversion goes through, because no machine converts
// at once; `to` or `from` itself if one step does.
static enum type_kind way_between(struct type to, struct type from)
{
    bool widens = to.kind == TYPE_f64 || to.kind == TYPE_bool;
    if (type_is_storage(from))
        return TYPE_f16;
    if (type_is_float(from) && type_bits(from) == 16 && !widens)
        return TYPE_f32;
    if (type_is_storage(to) || to.kind == TYPE_bf16)
        return TYPE_f32;
    return (enum type_kind)to.kind;
}

// Convert between types for which there is a way without another one.
static LLVMValueRef convert_directly(struct emitter *e, struct type to,
                                     struct type from, LLVMValueRef value)
{
    struct lane_conversion lanes = {to, from, value};
    if (to.kind == TYPE_bool)
        return to_bool(e, from, value);
    if (type_is_storage(from))
        return emit_each_lane(e, to, lane_from_f8, &lanes);
    if (type_is_storage(to))
        return emit_each_lane(e, to, lane_to_f8, &lanes);
    if (from.kind == TYPE_bf16 && to.kind == TYPE_f32 && to.lanes % 2 == 0)
        return emit_unpack_vector(e, to.lanes, value);
    if (type_is_float(from) && type_is_float(to))
        return LLVMBuildFPCast(e->builder, value, emit_type(e, to), "");
    if (type_is_float(from))
        return float_to_int(e, to, from, value);
    if (type_is_float(to))
        return int_to_float(e, to, from, value);
    return int_to_int(e, to, from, value);
}

LLVMValueRef emit_convert(struct emitter *e, struct type to, struct type from,
                          LLVMValueRef value)
{
    struct type way = {(uint8_t)way_between(to, from), to.lanes};
    struct lane_conversion lanes = {way, from, value};
    if (to.kind == from.kind)
        return value;
    if (way.kind == to.kind || way.kind == from.kind)
        return convert_directly(e, to, from, value);
    LLVMValueRef between = type_bits(from) > SINGLE_BITS
                               ? emit_each_lane(e, way, lane_to_odd, &lanes)
                               : emit_convert(e, way, from, value);
    return emit_convert(e, to, way, between);
}

LLVMValueRef emit_cast(struct emitter *e, const struct ir_expr *x)
{
    const struct ir_expr *from = x->args[0];
    LLVMValueRef element =
        x->type.kind == TYPE_f32 ? emit_unpack_element(e, from) : NULL;
    if (element)
        return element;
    return emit_convert(e, x->type, from->type, emit_value(e, from));
}
