// Mathematical functions: intrinsics of LLVM, functions of libdevice, erf.

#include "nvptx/emit.h"

#include <string.h>

// A row of intrin.def.
struct math_row {
    const char *f32, *f64, *fast;
    unsigned ptx; // for `fast`
};

static const struct math_row rows[OP_COUNT] = {
#define MATH(op, f32, f64, fast, ptx) [OP_##op] = {f32, f64, fast, ptx},
#include "nvptx/intrin.def"
};

enum { OPERANDS_MOST = 3 };

// A call to make on each lane.
struct lane_call {
    const char *name;
    struct type type; // of all operands and the result
    unsigned n;       // operands
    LLVMValueRef operands[OPERANDS_MOST];
};

// Return the function of libdevice of that name, declared in the module.
static LLVMValueRef libdevice_function(struct emitter *e,
                                       const struct lane_call *call,
                                       LLVMTypeRef type)
{
    e->libdevice = true;
    LLVMValueRef found = LLVMGetNamedFunction(e->module, call->name);
    return found ? found : LLVMAddFunction(e->module, call->name, type);
}

// Return 2^(a log2 e), near e^a: results below the normal numbers are 0.
static LLVMValueRef fast_exp(struct emitter *e, LLVMValueRef a)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef scaled = LLVMBuildFMul(
        e->builder, a, LLVMConstReal(type, 1.4426950408889634), "");
    return emit_intrinsic(e, "llvm.nvvm.ex2.approx.ftz", type, &scaled, 1);
}

// Call the function on lane k.
static LLVMValueRef call_lane(struct emitter *e, unsigned k, void *context)
{
    const struct lane_call *call = context;
    LLVMTypeRef lane =
        emit_type(e, type_scalar((enum type_kind)call->type.kind));
    LLVMValueRef args[OPERANDS_MOST];
    LLVMTypeRef types[OPERANDS_MOST] = {lane, lane, lane};
    for (unsigned i = 0; i < call->n; i++)
        args[i] = emit_extract(e, call->type, call->operands[i], k);
    if (strcmp(call->name, "erf") == 0)
        return emit_erf(e, args[0]);
    if (strcmp(call->name, "exp") == 0)
        return fast_exp(e, args[0]);
    if (strncmp(call->name, "llvm.", 5) == 0)
        return emit_flagged(e,
                            emit_intrinsic(e, call->name, lane, args, call->n));
    LLVMTypeRef type = LLVMFunctionType(lane, types, call->n, false);
    LLVMValueRef function = libdevice_function(e, call, type);
    return LLVMBuildCall2(e->builder, type, function, args, call->n, "");
}

// Evaluate the operands, converted to the type to compute in.
static void evaluate_operands(struct emitter *e, const struct ir_expr *x,
                              struct lane_call *call)
{
    call->n = x->n;
    for (uint32_t i = 0; i < x->n; i++)
        call->operands[i] =
            emit_convert(e, call->type, x->type, emit_value(e, x->args[i]));
}

// Report a function of libdevice without libdevice: once, not for each variant.
static void report_no_libdevice(struct emitter *e, const struct ir_expr *x)
{
    if (diag_was_said(e->diags, x->span, D_no_libdevice))
        return;
    diag_error(e->diags, x->span, D_no_libdevice, ir_op_info(x->op)->name,
               type_name(x->type));
    diag_help(
        e->diags,
        "install the CUDA toolkit, let tools/setup fetch its part, or name "
        "a folder with nvvm/libdevice by --cuda or INGOT_CUDA");
}

LLVMValueRef emit_math(struct emitter *e, const struct ir_expr *x)
{
    const struct math_row *row = &rows[x->op];
    bool is_double = x->type.kind == TYPE_f64;
    bool is_fast = e->fast_math && !is_double;
    struct lane_call call = {.name = is_double ? row->f64
                                     : is_fast ? row->fast
                                               : row->f32};
    call.type = (struct type){is_double ? TYPE_f64 : TYPE_f32, x->type.lanes};
    emit_need_ptx(e, is_fast ? row->ptx : 0);
    if (strncmp(call.name, "__nv_", 5) == 0 && !e->options->libdevice)
        report_no_libdevice(e, x);
    evaluate_operands(e, x, &call);
    LLVMValueRef v = emit_each_lane(e, call.type, call_lane, &call);
    return emit_convert(e, x->type, call.type, v);
}

// Return one lane of a * b + c in f32, rounded to odd: rounding it to bf16
// gives the nearest bf16.
static LLVMValueRef fma_to_odd(struct emitter *e, unsigned k, void *context)
{
    static const char *const names[] = {
        "llvm.nvvm.fma.rz.f", "llvm.nvvm.fma.rm.f", "llvm.nvvm.fma.rp.f"};
    const struct lane_call *call = context;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMTypeRef f32 = LLVMFloatTypeInContext(e->context);
    LLVMValueRef args[3], results[3];
    for (int i = 0; i < 3; i++)
        args[i] = emit_extract(e, call->type, call->operands[i], k);
    for (int i = 0; i < 3; i++)
        results[i] = emit_intrinsic(e, names[i], NULL, args, 3);
    LLVMValueRef inexact =
        LLVMBuildFCmp(e->builder, LLVMRealONE, results[1], results[2], "");
    LLVMValueRef odd = LLVMBuildZExt(e->builder, inexact, i32, "");
    LLVMValueRef bits = LLVMBuildBitCast(e->builder, results[0], i32, "");
    bits = LLVMBuildOr(e->builder, bits, odd, "");
    return LLVMBuildBitCast(e->builder, bits, f32, "");
}

LLVMValueRef emit_fma(struct emitter *e, const struct ir_expr *x)
{
    bool has_fma =
        x->type.kind != TYPE_bf16 || emit_prefer(e, FEATURE_bf16_fma);
    struct lane_call call = {.type = x->type};
    if (!has_fma)
        call.type.kind = TYPE_f32;
    evaluate_operands(e, x, &call);
    if (has_fma)
        return emit_flagged(e,
                            emit_intrinsic(e, "llvm.fma", emit_type(e, x->type),
                                           call.operands, 3));
    LLVMValueRef v = emit_each_lane(e, call.type, fma_to_odd, &call);
    return emit_convert(e, x->type, call.type, v);
}
