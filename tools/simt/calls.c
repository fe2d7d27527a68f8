// Calls of what only a GPU has: they become calls of the executor. A call
// that is in no table is an error, so what is run is what was emitted.

#include "tools/simt/code.h"
#include "tools/simt/ptx.h"

#include <llvm-c/Analysis.h>

#include <string.h>

#define FUNCTION(f) ((void (*)(void))(f))

enum { PASSED_MOST = 4, NONE = -1 };

// A row of registers.def.
static const char *const registers[] = {
#define REGISTER(name, intrinsic, value) intrinsic,
#include "tools/simt/registers.def"
#undef REGISTER
};

// A row of collectives.def: the operands for the mask and the values.
static const struct {
    const char *intrinsic;
    int operands[PASSED_MOST];
} collectives[] = {
#define COLLECTIVE(name, intrinsic, mask, a, b, c, combine)                    \
    {intrinsic, {mask, a, b, c}},
#include "tools/simt/collectives.def"
#undef COLLECTIVE
};

// What LLVM compiles for any machine: the names begin like this.
static const char *const common[] = {
    "llvm.abs.",        "llvm.assume",
    "llvm.bitreverse.", "llvm.bswap.",
    "llvm.ceil.",       "llvm.convert.from.fp16",
    "llvm.copysign.",   "llvm.cos.",
    "llvm.ctlz.",       "llvm.ctpop.",
    "llvm.cttz.",       "llvm.dbg.",
    "llvm.exp2.",       "llvm.experimental.noalias.scope.decl",
    "llvm.fabs.",       "llvm.floor.",
    "llvm.fma.",        "llvm.fptosi.sat.",
    "llvm.fptoui.sat.", "llvm.fshl.",
    "llvm.fshr.",       "llvm.is.fpclass.",
    "llvm.lifetime.",   "llvm.log2.",
    "llvm.maximumnum.", "llvm.minimumnum.",
    "llvm.maxnum.",     "llvm.minnum.",
    "llvm.nearbyint.",  "llvm.rint.",
    "llvm.round.",      "llvm.roundeven.",
    "llvm.sadd.",       "llvm.sin.",
    "llvm.smax.",       "llvm.smin.",
    "llvm.smul.",       "llvm.sqrt.",
    "llvm.ssub.",       "llvm.tanh.",
    "llvm.trunc.",      "llvm.uadd.",
    "llvm.ucmp.",       "llvm.umax.",
    "llvm.umin.",       "llvm.umul.",
    "llvm.usub.",       "llvm.vector.reduce.",
    "llvm.scmp."};

// Return whether the name of a function is that of an intrinsic; overloaded
// ones have their types behind it.
static bool is_intrinsic(const char *name, const char *intrinsic)
{
    size_t n = strlen(intrinsic);
    return strncmp(name, intrinsic, n) == 0 && (!name[n] || name[n] == '.');
}

// Put a value in the place of a call.
static void replace(LLVMValueRef call, LLVMValueRef by)
{
    if (by)
        LLVMReplaceAllUsesWith(call, by);
    LLVMInstructionEraseFromParent(call);
}

// Replace the read of a special register.
static bool replace_register(struct rewriter *w, LLVMValueRef call,
                             const char *name)
{
    size_t n = sizeof registers / sizeof *registers;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, registers[i]) != 0)
            continue;
        LLVMValueRef args[] = {code_address(w, w->code->machine),
                               LLVMConstInt(w->half, i, false)};
        replace(call, code_call(w, FUNCTION(simt_register), w->half, args, 2));
        return true;
    }
    return false;
}

// Return an operand of a call as 64 bits; 0 if it has none.
static LLVMValueRef operand_bits(struct rewriter *w, LLVMValueRef call, int at)
{
    if (at == NONE)
        return LLVMConstInt(w->word, 0, false);
    return LLVMBuildZExt(w->builder, LLVMGetOperand(call, (unsigned)at),
                         w->word, "");
}

// Return a value that a function of C returned in the type of a call: two
// words come as one.
static LLVMValueRef returned(struct rewriter *w, LLVMValueRef v,
                             LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        return LLVMBuildTrunc(w->builder, v, type, "");
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
        return LLVMBuildBitCast(w->builder, v, type, "");
    if (LLVMTypeOf(v) == type)
        return v;
    LLVMValueRef half = LLVMConstInt(w->word, 32, false), both;
    LLVMValueRef high = LLVMBuildLShr(w->builder, v, half, "");
    both =
        LLVMBuildInsertValue(w->builder, LLVMGetPoison(type),
                             LLVMBuildTrunc(w->builder, v, w->half, ""), 0, "");
    return LLVMBuildInsertValue(
        w->builder, both,
        LLVMBuildTrunc(w->builder, high, LLVMStructGetTypeAtIndex(type, 1), ""),
        1, "");
}

// Replace what the lanes of a warp do at once.
static bool replace_collective(struct rewriter *w, LLVMValueRef call,
                               const char *name)
{
    size_t n = sizeof collectives / sizeof *collectives;
    for (size_t i = 0; i < n; i++) {
        const int *operands = collectives[i].operands;
        if (strcmp(name, collectives[i].intrinsic) != 0)
            continue;
        LLVMTypeRef type = LLVMTypeOf(call);
        LLVMValueRef args[] = {code_address(w, w->code->machine),
                               LLVMConstInt(w->word, i, false),
                               operand_bits(w, call, operands[0]),
                               operand_bits(w, call, operands[1]),
                               operand_bits(w, call, operands[2]),
                               operand_bits(w, call, operands[3]),
                               code_address(w, code_site(w, call))};
        LLVMValueRef v =
            code_call(w, FUNCTION(simt_collective), w->word, args, 7);
        bool is_void = LLVMGetTypeKind(type) == LLVMVoidTypeKind;
        replace(call, is_void ? NULL : returned(w, v, type));
        return true;
    }
    return false;
}

// Replace the barrier of a block.
static bool replace_barrier(struct rewriter *w, LLVMValueRef call,
                            const char *name)
{
    LLVMValueRef id = LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, 0) : 0;
    if (strcmp(name, "llvm.nvvm.barrier.cta.sync.aligned.all") != 0 ||
        !LLVMIsAConstantInt(id) || LLVMConstIntGetZExtValue(id))
        return false;
    LLVMValueRef args[] = {code_address(w, w->code->machine),
                           code_address(w, code_site(w, call))};
    code_call(w, FUNCTION(simt_barrier), NULL, args, 2);
    replace(call, NULL);
    return true;
}

// Return a type as functions of C pass it: bits for short floating numbers
// and vectors.
static LLVMTypeRef passed_type(struct rewriter *w, LLVMTypeRef type)
{
    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return LLVMInt16TypeInContext(w->context);
    case LLVMVectorTypeKind: return w->half;
    case LLVMStructTypeKind:
        return LLVMStructGetTypeAtIndex(type, 0) == w->half ? w->word : type;
    }
    return type;
}

// Replace a function on numbers by one of math.c.
static bool replace_math(struct rewriter *w, LLVMValueRef call,
                         const struct math_function *f)
{
    LLVMValueRef args[PASSED_MOST];
    unsigned n = LLVMGetNumArgOperands(call);
    if (!f || n > PASSED_MOST)
        return false;
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        args[i] =
            LLVMBuildBitCast(w->builder, v, passed_type(w, LLVMTypeOf(v)), "");
    }
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef v = code_call(w, f->function, passed_type(w, type), args, n);
    replace(call, returned(w, v, type));
    return true;
}

// Have the range of a memory intrinsic checked.
static void watch_range(struct rewriter *w, LLVMValueRef call, unsigned operand,
                        unsigned kind)
{
    struct site *s = code_site(w, call);
    LLVMValueRef p = LLVMGetOperand(call, operand);
    s->kind = kind;
    code_find_home(w, s, p);
    LLVMValueRef args[] = {
        code_address(w, w->code->machine),
        LLVMBuildAddrSpaceCast(w->builder, p, w->pointer, ""),
        LLVMBuildZExt(w->builder, LLVMGetOperand(call, 2), w->word, ""),
        code_address(w, s)};
    code_call(w, FUNCTION(simt_range), w->pointer, args, 4);
}

// Watch memset, memcpy and memmove.
static bool watch_memory(struct rewriter *w, LLVMValueRef call,
                         const char *name)
{
    bool is_copy =
        is_intrinsic(name, "llvm.memcpy") || is_intrinsic(name, "llvm.memmove");
    if (!is_copy && !is_intrinsic(name, "llvm.memset"))
        return false;
    if (w->code->is_checked) {
        watch_range(w, call, 0, ACCESS_WRITE);
        if (is_copy)
            watch_range(w, call, 1, ACCESS_READ);
    }
    return true;
}

// Have an inline instruction on matrices run.
static bool replace_program(struct rewriter *w, LLVMValueRef call,
                            const struct ptx_program *p)
{
    if (!p)
        return false;
    w->code->machine->has_async = true;
    if (p->has_products)
        code_need_clocks(w);
    code_pass_operands(w, call, p->results);
    struct site *s = code_site(w, call);
    s->bytes = (uint32_t)p->copied;
    LLVMValueRef args[] = {code_address(w, w->code->machine),
                           code_address(w, p), code_address(w, s)};
    code_call(w, FUNCTION(ptx_run), NULL, args, 3);
    replace(call, code_take_results(w, LLVMTypeOf(call)));
    return true;
}

// Replace an intrinsic that loads or stores matrices.
static bool replace_matrix(struct rewriter *w, LLVMValueRef call,
                           const char *name)
{
    unsigned n = LLVMGetNumArgOperands(call);
    return replace_program(w, call, ptx_of_intrinsic(w->code->arena, name, n));
}

// Return whether LLVM compiles it for this machine too.
static bool is_common(const char *name)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strncmp(name, common[i], strlen(common[i])) == 0)
            return true;
    return false;
}

// Replace an inline instruction: an atomic, or the empty one that keeps
// branches around barriers.
static bool replace_inline(struct rewriter *w, LLVMValueRef call,
                           const char *text)
{
    uint32_t bytes = 0;
    int row = atomic_parse(text, &bytes);
    bool is_void = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind;
    if (!*text && is_void) {
        replace(call, NULL);
        return true;
    }
    if (row < 0) {
        size_t n;
        const char *constraints =
            LLVMGetInlineAsmConstraintString(LLVMGetCalledValue(call), &n);
        constraints = arena_copy(w->code->arena, constraints, n);
        return replace_program(w, call,
                               ptx_parse(w->code->arena, text, constraints)) ||
               replace_math(w, call, math_find_inline(text));
    }
    struct site *s = code_site(w, call);
    atomic_describe(text, LLVMGetFirstUse(call), s);
    s->bytes = s->align = bytes;
    if (s->ordering || LLVMGetFirstUse(call))
        code_need_order(w, s->ordering != ORDER_RELAXED);
    code_find_home(w, s, LLVMGetOperand(call, 0));
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef args[] = {
        code_address(w, w->code->machine),
        LLVMBuildAddrSpaceCast(w->builder, LLVMGetOperand(call, 0), w->pointer,
                               ""),
        LLVMBuildZExt(w->builder, LLVMGetOperand(call, 1), w->word, ""),
        LLVMConstInt(w->word, (unsigned)row, false), code_address(w, s)};
    LLVMValueRef v = code_call(w, FUNCTION(simt_atomic), w->word, args, 5);
    replace(call, LLVMBuildTrunc(w->builder, v, type, ""));
    return true;
}

// Return a type, or the vector of it that has as many lanes as another one.
static LLVMTypeRef as_many(LLVMTypeRef one, LLVMTypeRef as)
{
    return LLVMGetTypeKind(as) == LLVMVectorTypeKind
               ? LLVMVectorType(one, LLVMGetVectorSize(as))
               : one;
}

// Return product + c, in doubles, rounded to odd: towards what the nearest
// double lost, if its last bit is even.  Rounding that once more rounds once.
static LLVMValueRef add_to_odd(struct rewriter *w, LLVMValueRef product,
                               LLVMValueRef c)
{
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = LLVMTypeOf(c), word = as_many(w->word, type);
    LLVMTypeRef bit = as_many(LLVMInt1TypeInContext(w->context), type);
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMValueRef sum = LLVMBuildFAdd(b, product, c, "");
    LLVMValueRef shadow = LLVMBuildFSub(b, sum, product, "");
    LLVMValueRef rest = LLVMBuildFSub(b, c, shadow, "");
    LLVMValueRef lost = LLVMBuildFSub(b, sum, shadow, "");
    lost = LLVMBuildFSub(b, product, lost, "");
    lost = LLVMBuildFAdd(b, lost, rest, "");
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, word, "");
    LLVMValueRef is_odd = LLVMBuildTrunc(b, bits, bit, "");
    LLVMValueRef is_inexact = LLVMBuildFCmp(b, LLVMRealONE, lost, zero, "");
    LLVMValueRef is_lost_below = LLVMBuildFCmp(b, LLVMRealOLT, lost, zero, "");
    LLVMValueRef is_below = LLVMBuildFCmp(b, LLVMRealOLT, sum, zero, "");
    LLVMValueRef is_away =
        LLVMBuildICmp(b, LLVMIntEQ, is_lost_below, is_below, "");
    LLVMValueRef one = LLVMBuildZExt(b, is_inexact, word, "");
    LLVMValueRef more = LLVMBuildAdd(b, bits, one, "");
    LLVMValueRef less = LLVMBuildSub(b, bits, one, "");
    LLVMValueRef moved = LLVMBuildSelect(b, is_away, more, less, "");
    bits = LLVMBuildSelect(b, is_odd, bits, moved, "");
    return LLVMBuildBitCast(b, bits, type, "");
}

// Have a product and sum of 16 bits rounded once, as a GPU does: LLVM's code
// rounds it to 32 bits before.  The product is exact in doubles.
static bool replace_short_fma(struct rewriter *w, LLVMValueRef call,
                              const char *name)
{
    LLVMTypeRef type = LLVMTypeOf(call), wide;
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeKind kind =
        LLVMGetTypeKind(is_vector ? LLVMGetElementType(type) : type);
    if (strncmp(name, "llvm.fma.", strlen("llvm.fma.")) != 0 ||
        (kind != LLVMHalfTypeKind && kind != LLVMBFloatTypeKind))
        return false;
    wide = as_many(LLVMDoubleTypeInContext(w->context), type);
    LLVMValueRef args[3];
    for (unsigned i = 0; i < 3; i++)
        args[i] = LLVMBuildFPExt(w->builder, LLVMGetOperand(call, i), wide, "");
    LLVMValueRef product = LLVMBuildFMul(w->builder, args[0], args[1], "");
    LLVMValueRef v = add_to_odd(w, product, args[2]);
    replace(call, LLVMBuildFPTrunc(w->builder, v, type, ""));
    return true;
}

// Return whether a function is one of LLVM for any machine, of which there is
// machine code as quickly as there would be of a call.
static bool is_kept(const struct rewriter *w, const char *name)
{
    return is_common(name) && !(w->code->is_brief && math_find(name));
}

bool code_replace_call(struct rewriter *w, LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call);
    size_t n;
    LLVMPositionBuilderBefore(w->builder, call);
    const char *name = LLVMIsAInlineAsm(called)
                           ? LLVMGetInlineAsmAsmString(called, &n)
                           : LLVMGetValueName2(called, &n);
    bool ok = LLVMIsAInlineAsm(called)
                  ? replace_inline(w, call, name)
                  : !LLVMIsAFunction(called) || // of the executor's own
                        !LLVMIsDeclaration(called) ||
                        replace_register(w, call, name) ||
                        replace_collective(w, call, name) ||
                        replace_barrier(w, call, name) ||
                        code_replace_intrinsic(w, call, name) ||
                        replace_matrix(w, call, name) ||
                        watch_memory(w, call, name) ||
                        code_replace_extreme(w, call, name) ||
                        replace_short_fma(w, call, name) || is_kept(w, name) ||
                        replace_math(w, call, math_find(name));
    if (!ok)
        diag_error(w->diags, (struct span){0}, D_simt_unknown, name);
    return ok;
}
