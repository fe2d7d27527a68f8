// LLVM's types, constants and attributes.

#include "nvptx/emit.h"

#include <string.h>

// Return the type of one lane of a value.
static LLVMTypeRef lane_type(struct emitter *e, enum type_kind kind)
{
    LLVMContextRef c = e->context;
    switch (kind) {
    case TYPE_bool: return LLVMInt1TypeInContext(c);
    case TYPE_i8:
    case TYPE_u8:
    case TYPE_f8e4m3:
    case TYPE_f8e5m2: return LLVMInt8TypeInContext(c);
    case TYPE_i16:
    case TYPE_u16: return LLVMInt16TypeInContext(c);
    case TYPE_i32:
    case TYPE_u32:
    case TYPE_idx32: return LLVMInt32TypeInContext(c);
    case TYPE_i64:
    case TYPE_u64:
    case TYPE_int:
    case TYPE_idx64: return LLVMInt64TypeInContext(c);
    case TYPE_f16: return LLVMHalfTypeInContext(c);
    case TYPE_bf16: return LLVMBFloatTypeInContext(c);
    case TYPE_f32: return LLVMFloatTypeInContext(c);
    case TYPE_f64: return LLVMDoubleTypeInContext(c);
    case TYPE_COUNT: break;
    }
    return NULL;
}

LLVMTypeRef emit_type(struct emitter *e, struct type t)
{
    LLVMTypeRef lane = lane_type(e, t.kind);
    return t.lanes == 1 ? lane : LLVMVectorType(lane, t.lanes);
}

LLVMTypeRef emit_memory_type(struct emitter *e, struct type t)
{
    if (t.kind == TYPE_bool)
        t.kind = TYPE_u8;
    return emit_type(e, t);
}

LLVMValueRef emit_int(struct emitter *e, struct type t, int64_t value)
{
    LLVMTypeRef lane = lane_type(e, t.kind);
    return emit_splat(e, t, LLVMConstInt(lane, (uint64_t)value, true));
}

LLVMValueRef emit_float(struct emitter *e, struct type t, double value)
{
    LLVMTypeRef lane = lane_type(e, t.kind);
    return emit_splat(e, t, LLVMConstReal(lane, value));
}

LLVMValueRef emit_splat(struct emitter *e, struct type t, LLVMValueRef lane)
{
    if (t.lanes == 1)
        return lane;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMTypeRef one = LLVMVectorType(LLVMTypeOf(lane), 1);
    LLVMValueRef first = LLVMBuildInsertElement(e->builder, LLVMGetPoison(one),
                                                lane, LLVMConstNull(i32), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(i32, t.lanes));
    return LLVMBuildShuffleVector(e->builder, first, LLVMGetPoison(one), zeros,
                                  "");
}

LLVMValueRef emit_extract(struct emitter *e, struct type t, LLVMValueRef value,
                          unsigned k)
{
    if (t.lanes == 1)
        return value;
    LLVMValueRef at =
        LLVMConstInt(LLVMInt32TypeInContext(e->context), k, false);
    return LLVMBuildExtractElement(e->builder, value, at, "");
}

LLVMValueRef emit_each_lane(struct emitter *e, struct type t,
                            LLVMValueRef (*make)(struct emitter *e, unsigned k,
                                                 void *context),
                            void *context)
{
    if (t.lanes == 1)
        return make(e, 0, context);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMValueRef vector = LLVMGetPoison(emit_type(e, t));
    for (unsigned k = 0; k < t.lanes; k++)
        vector = LLVMBuildInsertElement(e->builder, vector, make(e, k, context),
                                        LLVMConstInt(i32, k, false), "");
    return vector;
}

void emit_need_ptx(struct emitter *e, unsigned version)
{
    if (e->ptx < version)
        e->ptx = version;
}

LLVMValueRef emit_flagged(struct emitter *e, LLVMValueRef value)
{
    if (e->fast_math && LLVMIsAInstruction(value))
        LLVMSetFastMathFlags(value, LLVMFastMathApproxFunc |
                                        LLVMFastMathAllowReciprocal);
    return value;
}

LLVMValueRef emit_no_wrap(struct type t, LLVMValueRef value)
{
    if (type_is_index(t) && LLVMIsAInstruction(value))
        LLVMSetNSW(value, true);
    return value;
}

LLVMBasicBlockRef emit_new_block(struct emitter *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

LLVMValueRef emit_alloca(struct emitter *e, LLVMTypeRef type)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, e->allocas);
    LLVMValueRef place = LLVMBuildAlloca(e->builder, type, "");
    LLVMPositionBuilderAtEnd(e->builder, here);
    return place;
}

// Return an attribute of LLVM's.
static LLVMAttributeRef attribute(LLVMValueRef of, const char *name,
                                  uint64_t value)
{
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(of));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMCreateEnumAttribute(c, kind, value);
}

void emit_attribute(LLVMValueRef function, unsigned index, const char *name,
                    uint64_t value)
{
    LLVMAddAttributeAtIndex(function, index, attribute(function, name, value));
}

void emit_call_attribute(LLVMValueRef call, const char *name)
{
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             attribute(call, name, 0));
}

void emit_string_attribute(LLVMValueRef function, const char *name,
                           const char *value)
{
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(function));
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(
        c, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
}
