// The operations that no table of intrin.def describes.

#include "nvptx/emit.h"

#include "ir/build.h"
#include "ir/eval.h"

LLVMValueRef emit_const(struct emitter *e, const struct ir_expr *x)
{
    if (type_is_storage(x->type)) {
        uint8_t bits;
        eval_store_float(x->type, &bits, x->u.f);
        return emit_int(e, x->type, bits);
    }
    if (type_is_float(x->type))
        return emit_float(e, x->type, x->u.f);
    return emit_int(e, x->type, x->u.i);
}

LLVMValueRef emit_var(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef value = map_get(&e->values, x->u.var);
    if (x->u.var->kind != VAR_mutable)
        return value;
    return LLVMBuildLoad2(e->builder, emit_type(e, x->type), value, "");
}

LLVMValueRef emit_index(struct emitter *e, const struct ir_expr *x)
{
    static const char *const names[2][3] = {
        {"llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y",
         "llvm.nvvm.read.ptx.sreg.ctaid.z"},
        {"llvm.nvvm.read.ptx.sreg.tid.x", "llvm.nvvm.read.ptx.sreg.tid.y",
         "llvm.nvvm.read.ptx.sreg.tid.z"},
    };
    bool is_thread = axis_kind(x->u.axis) == AXIS_THREAD;
    const char *name = names[is_thread][axis_dimension(x->u.axis)];
    LLVMValueRef v = emit_intrinsic(e, name, NULL, NULL, 0);
    return emit_convert(e, x->type, type_scalar(TYPE_u32), v);
}

LLVMValueRef emit_resident(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef v =
        emit_intrinsic(e, "llvm.nvvm.read.ptx.sreg.nctaid.x", NULL, NULL, 0);
    struct type word = type_scalar(TYPE_u32);
    v = LLVMBuildMul(e->builder, v, emit_int(e, word, e->beside), "");
    return emit_convert(e, x->type, word, v);
}

bool emit_may_fault(const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    int64_t by;
    if (flags & (OP_READS | OP_WRITES))
        return true;
    if (divides && !type_is_float(x->type) &&
        (!ir_int_value(x->args[1], &by) || by == 0 || by == -1))
        return true;
    for (uint32_t i = 0; i < x->n; i++) {
        if (emit_may_fault(x->args[i]))
            return true;
    }
    return false;
}

// Return a truth value of bool type t.
static struct ir_expr *truth(struct emitter *e, struct type t, bool value)
{
    struct ir_expr *x = ir_bool(e->arena, value);
    return t.lanes > 1 ? ir_broadcast(e->arena, x, t.lanes) : x;
}

// c ? a : b, of which a && b and a || b are cases.  A vector chooses lane by
// lane, after both sides have been evaluated.
LLVMValueRef emit_select(struct emitter *e, const struct ir_expr *x)
{
    struct ir_expr *arms[2] = {x->args[1], x->args[x->n - 1]};
    if (x->op == OP_and)
        arms[1] = truth(e, x->type, false);
    if (x->op == OP_or)
        arms[0] = truth(e, x->type, true);
    LLVMValueRef known = emit_known_choice(e, x);
    if (known)
        return known;
    LLVMValueRef cond = emit_value(e, x->args[0]);
    if (x->args[0]->type.lanes == 1 &&
        (emit_may_fault(arms[0]) || emit_may_fault(arms[1])))
        return emit_one_of(e, x, cond, arms);
    LLVMValueRef a = emit_value(e, arms[0]);
    LLVMValueRef b = emit_value(e, arms[1]);
    return LLVMBuildSelect(e->builder, cond, a, b, "");
}

LLVMValueRef emit_neg(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef a = emit_value(e, x->args[0]);
    if (type_is_float(x->type))
        return LLVMBuildFNeg(e->builder, a, "");
    return emit_no_wrap(x->type, LLVMBuildNeg(e->builder, a, ""));
}

// !a and ~a.
LLVMValueRef emit_invert(struct emitter *e, const struct ir_expr *x)
{
    return LLVMBuildNot(e->builder, emit_value(e, x->args[0]), "");
}

// a >= 0 and b > 0, so that unsigned division is right for every type, and
// the rounded quotient never overflows.
LLVMValueRef emit_ceildiv(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef a = emit_value(e, x->args[0]);
    LLVMValueRef b = emit_value(e, x->args[1]);
    LLVMValueRef quotient = LLVMBuildUDiv(e->builder, a, b, "");
    LLVMValueRef rest = LLVMBuildURem(e->builder, a, b, "");
    LLVMValueRef has_rest =
        LLVMBuildICmp(e->builder, LLVMIntNE, rest, emit_int(e, x->type, 0), "");
    LLVMValueRef up =
        LLVMBuildZExt(e->builder, has_rest, emit_type(e, x->type), "");
    return emit_no_wrap(x->type, LLVMBuildAdd(e->builder, quotient, up, ""));
}

LLVMValueRef emit_mulhi(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef args[] = {emit_value(e, x->args[0]),
                           emit_value(e, x->args[1])};
    const char *name =
        type_bits(x->type) == 64 ? "llvm.nvvm.mulhi.ull" : "llvm.nvvm.mulhi.ui";
    return emit_intrinsic(e, name, NULL, args, 2);
}

LLVMValueRef emit_abs(struct emitter *e, const struct ir_expr *x)
{
    LLVMTypeRef type = emit_type(e, x->type);
    LLVMValueRef least_is_poison =
        LLVMConstInt(LLVMInt1TypeInContext(e->context), 0, false);
    LLVMValueRef args[] = {emit_value(e, x->args[0]), least_is_poison};
    if (type_is_float(x->type))
        return emit_intrinsic(e, "llvm.fabs", type, args, 1);
    if (type_is_signed(x->type))
        return emit_intrinsic(e, "llvm.abs", type, args, 2);
    return args[0];
}

LLVMValueRef emit_popcount(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef a = emit_value(e, x->args[0]);
    return emit_intrinsic(e, "llvm.ctpop", emit_type(e, x->type), &a, 1);
}

LLVMValueRef emit_relu(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef a = emit_value(e, x->args[0]);
    LLVMValueRef zero = emit_float(e, x->type, 0);
    LLVMValueRef below = LLVMBuildFCmp(e->builder, LLVMRealOLT, a, zero, "");
    return LLVMBuildSelect(e->builder, below, zero, a, "");
}

LLVMValueRef emit_isnan(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef a = emit_value(e, x->args[0]);
    return LLVMBuildFCmp(e->builder, LLVMRealUNO, a, a, "");
}

LLVMValueRef emit_bits(struct emitter *e, const struct ir_expr *x)
{
    return LLVMBuildBitCast(e->builder, emit_value(e, x->args[0]),
                            emit_type(e, x->type), "");
}

// Return the sum of the bits of an f32 and half of the last bit that tf32 has,
// cut to these; a NaN as it is.
static LLVMValueRef round_bits(struct emitter *e, LLVMValueRef x)
{
    struct type word = type_scalar(TYPE_u32);
    LLVMBuilderRef b = e->builder;
    LLVMValueRef half = emit_int(e, word, 1 << 12);
    LLVMValueRef kept = emit_int(e, word, -(INT64_C(1) << 13) & UINT32_MAX);
    LLVMValueRef bits = LLVMBuildBitCast(b, x, emit_type(e, word), "");
    bits = LLVMBuildAnd(b, LLVMBuildAdd(b, bits, half, ""), kept, "");
    bits = LLVMBuildBitCast(b, bits, LLVMTypeOf(x), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
    return LLVMBuildSelect(b, is_nan, x, bits, "");
}

// A vector to round, lane by lane.
struct rounding {
    struct type type;
    LLVMValueRef value;
};

// Round lane k to tf32.
static LLVMValueRef round_lane(struct emitter *e, unsigned k, void *context)
{
    const struct rounding *r = context;
    LLVMValueRef x = emit_extract(e, r->type, r->value, k);
    if (!emit_prefer(e, FEATURE_tf32_convert))
        return round_bits(e, x);
    LLVMTypeRef f32 = LLVMTypeOf(x);
    x = emit_intrinsic(e, "llvm.nvvm.f2tf32.rna", NULL, &x, 1);
    return LLVMBuildBitCast(e->builder, x, f32, "");
}

LLVMValueRef emit_tf32(struct emitter *e, const struct ir_expr *x)
{
    struct rounding r = {x->type, emit_value(e, x->args[0])};
    return emit_each_lane(e, x->type, round_lane, &r);
}

LLVMValueRef emit_ramp(struct emitter *e, const struct ir_expr *x)
{
    struct type one = type_scalar((enum type_kind)x->type.kind);
    LLVMValueRef steps[16];
    for (unsigned k = 0; k < x->type.lanes; k++)
        steps[k] = emit_int(e, one, k);
    LLVMValueRef base = emit_splat(e, x->type, emit_value(e, x->args[0]));
    return emit_no_wrap(
        x->type, LLVMBuildAdd(e->builder, base,
                              LLVMConstVector(steps, x->type.lanes), ""));
}

LLVMValueRef emit_broadcast(struct emitter *e, const struct ir_expr *x)
{
    return emit_splat(e, x->type, emit_value(e, x->args[0]));
}

// Return the value of operand k.
static LLVMValueRef operand(struct emitter *e, unsigned k, void *context)
{
    const struct ir_expr *x = context;
    return emit_value(e, x->args[k]);
}

LLVMValueRef emit_lanes(struct emitter *e, const struct ir_expr *x)
{
    return emit_each_lane(e, x->type, operand, (void *)x);
}

LLVMValueRef emit_lane(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef vector = emit_value(e, x->args[0]);
    return emit_extract(e, x->args[0]->type, vector, x->u.lane);
}

LLVMValueRef emit_dp4a(struct emitter *e, const struct ir_expr *x)
{
    static const char *const names[2][2] = {
        {"llvm.nvvm.idp4a.u.u", "llvm.nvvm.idp4a.u.s"},
        {"llvm.nvvm.idp4a.s.u", "llvm.nvvm.idp4a.s.s"}};
    LLVMTypeRef word = emit_type(e, x->type);
    LLVMValueRef args[3];
    for (int i = 0; i < 3; i++)
        args[i] =
            LLVMBuildBitCast(e->builder, emit_value(e, x->args[i]), word, "");
    const char *name = names[type_is_signed(x->args[0]->type)]
                            [type_is_signed(x->args[1]->type)];
    return emit_intrinsic(e, name, NULL, args, 3);
}
