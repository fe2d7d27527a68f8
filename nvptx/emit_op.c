// Expressions: one emitter for each operation, by the tables of intrin.def.

#include "nvptx/emit.h"

// What LLVM calls an operation, for each class of operands: an instruction, a
// predicate, an atomic operation.
struct choice {
    int on_signed, on_unsigned, on_float;
};
struct names {
    const char *on_signed, *on_unsigned, *on_float;
};

enum { LLVMNONE = 0, LLVMAtomicRMWBinOpNONE = 0 };

static const struct choice choices[OP_COUNT] = {
#define BINARY(op, s, u, f)  [OP_##op] = {LLVM##s, LLVM##u, LLVM##f},
#define COMPARE(op, s, u, f) [OP_##op] = {LLVMInt##s, LLVMInt##u, LLVMReal##f},
#define ATOMIC(op, s, u, f)                                                    \
    [OP_##op] = {LLVMAtomicRMWBinOp##s, LLVMAtomicRMWBinOp##u,                 \
                 LLVMAtomicRMWBinOp##f},
#include "nvptx/intrin.def"
};

static const struct names intrinsics[OP_COUNT] = {
#define INTRINSIC(op, s, u, f) [OP_##op] = {s, u, f},
#include "nvptx/intrin.def"
};

int emit_choice(enum ir_op op, struct type t)
{
    const struct choice *c = &choices[op];
    if (type_is_float(t))
        return c->on_float;
    return type_is_signed(t) ? c->on_signed : c->on_unsigned;
}

// Return whether a value is a product that an addition may fuse into an fma.
// bf16 has no such instruction everywhere, and is left alone so that every
// target computes the same.
static bool is_product(struct type t, LLVMValueRef v)
{
    return t.kind != TYPE_bf16 && LLVMIsAInstruction(v) &&
           LLVMGetInstructionOpcode(v) == LLVMFMul;
}

// Return product + c, rounded once, negating where asked.
static LLVMValueRef fuse(struct emitter *e, LLVMValueRef product,
                         bool negates_product, LLVMValueRef c, bool negates_c)
{
    LLVMValueRef args[] = {LLVMGetOperand(product, 0),
                           LLVMGetOperand(product, 1), c};
    if (negates_product)
        args[0] = LLVMBuildFNeg(e->builder, args[0], "");
    if (negates_c)
        args[2] = LLVMBuildFNeg(e->builder, c, "");
    return emit_intrinsic(e, "llvm.fma", LLVMTypeOf(c), args, 3);
}

// Return a + b or a - b of floating numbers; a product among the two is not
// rounded by itself.  No instruction carries `contract`, so nothing else is
// fused by LLVM or the assembler.
static LLVMValueRef emit_sum(struct emitter *e, enum ir_op op, struct type t,
                             LLVMValueRef a, LLVMValueRef b)
{
    bool subtracts = op == OP_sub;
    if (is_product(t, a))
        return fuse(e, a, false, b, subtracts);
    if (is_product(t, b))
        return fuse(e, b, subtracts, a, false);
    return subtracts ? LLVMBuildFSub(e->builder, a, b, "")
                     : LLVMBuildFAdd(e->builder, a, b, "");
}

// a + b and the like.
static LLVMValueRef emit_binary(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef warp = emit_warp_number(e, x);
    if (warp)
        return warp;
    LLVMValueRef a = emit_value(e, x->args[0]);
    LLVMValueRef b = emit_value(e, x->args[1]);
    LLVMOpcode code = (LLVMOpcode)emit_choice(x->op, x->type);
    if (code == LLVMFAdd || code == LLVMFSub)
        return emit_flagged(e, emit_sum(e, x->op, x->type, a, b));
    LLVMValueRef v = LLVMBuildBinOp(e->builder, code, a, b, "");
    if (type_is_float(x->type))
        return emit_flagged(e, v);
    if (code == LLVMAdd || code == LLVMSub || code == LLVMMul)
        return emit_no_wrap(x->type, v);
    return v;
}

// a < b and the like.
static LLVMValueRef emit_compare(struct emitter *e, const struct ir_expr *x)
{
    struct type t = x->args[0]->type;
    LLVMValueRef a = emit_value(e, x->args[0]);
    LLVMValueRef b = emit_value(e, x->args[1]);
    int predicate = emit_choice(x->op, t);
    if (type_is_float(t))
        return LLVMBuildFCmp(e->builder, (LLVMRealPredicate)predicate, a, b,
                             "");
    return LLVMBuildICmp(e->builder, (LLVMIntPredicate)predicate, a, b, "");
}

LLVMValueRef emit_combined(struct emitter *e, enum ir_op op, struct type t,
                           LLVMValueRef a, LLVMValueRef b)
{
    const struct names *names = &intrinsics[op];
    const char *name = type_is_float(t)    ? names->on_float
                       : type_is_signed(t) ? names->on_signed
                                           : names->on_unsigned;
    LLVMOpcode code = (LLVMOpcode)emit_choice(op, t);
    if (name)
        return emit_intrinsic(e, name, emit_type(e, t), (LLVMValueRef[]){a, b},
                              2);
    return emit_no_wrap(t, LLVMBuildBinOp(e->builder, code, a, b, ""));
}

// min and max.
static LLVMValueRef emit_overloaded(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef a = emit_value(e, x->args[0]);
    LLVMValueRef b = emit_value(e, x->args[1]);
    return emit_combined(e, x->op, x->type, a, b);
}

static LLVMValueRef (*const emitters[OP_COUNT])(struct emitter *e,
                                                const struct ir_expr *x) = {
#define BINARY(op, s, u, f)           [OP_##op] = emit_binary,
#define COMPARE(op, s, u, f)          [OP_##op] = emit_compare,
#define INTRINSIC(op, s, u, f)        [OP_##op] = emit_overloaded,
#define MATH(op, f32, f64, fast, ptx) [OP_##op] = emit_math,
#define ATOMIC(op, s, u, f)           [OP_##op] = emit_atomic,
#define OWN(op, function)             [OP_##op] = function,
#include "nvptx/intrin.def"
};

LLVMValueRef emit_value(struct emitter *e, const struct ir_expr *x)
{
    struct emit_place before = emit_line(e, x->span);
    LLVMValueRef v = emitters[x->op](e, x);
    emit_line_restore(e, before);
    return v;
}
