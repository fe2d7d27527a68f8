// Atomics with a scope of their own: LLVM writes those of the whole GPU, so
// the others are written here, as far as PTX has them.

#include "nvptx/emit.h"

#include <string.h>

// Return PTX's word for an atomic operation.
static const char *word_of(enum ir_op op)
{
    switch ((int)op) {
    case OP_atomic_add: return "add";
    case OP_atomic_min: return "min";
    case OP_atomic_max: return "max";
    case OP_atomic_and: return "and";
    case OP_atomic_or: return "or";
    case OP_atomic_xor: return "xor";
    }
    return "exch";
}

// Return the type of an atomic addition of floating numbers, or NULL.
static const char *float_add(struct emitter *e, struct type t)
{
    switch ((int)t.kind) {
    case TYPE_f64: return "f64";
    case TYPE_f32: return "f32";
    case TYPE_f16: return "noftz.f16";
    case TYPE_bf16:
        return emit_prefer(e, FEATURE_bf16_add) ? "noftz.bf16" : NULL;
    }
    return NULL;
}

// Return PTX's type of an atomic, or NULL if it has none.
static const char *type_of(struct emitter *e, const struct ir_expr *x)
{
    bool is_add = x->op == OP_atomic_add;
    bool is_order = x->op == OP_atomic_min || x->op == OP_atomic_max;
    bool is_wide = type_bits(x->type) == 64;
    if (type_is_float(x->type) && (is_add || is_order))
        return is_add ? float_add(e, x->type) : NULL;
    if (type_bits(x->type) < 32)
        return NULL;
    if (is_order && type_is_signed(x->type))
        return is_wide ? "s64" : "s32";
    if (is_add || is_order)
        return is_wide ? "u64" : "u32";
    return is_wide ? "b64" : "b32";
}

// Return PTX's name for a scope.
static const char *scope_of(const struct ir_expr *x)
{
    static const char *const names[] = {
#define SCOPE(name, llvm, ptx, meaning) ptx,
#include "ir/scopes.def"
#undef SCOPE
    };
    return names[x->scope];
}

// Return the letter for a register of so many bits.
static char register_of(unsigned bits)
{
    return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
}

LLVMValueRef emit_scoped_atomic(struct emitter *e, const struct ir_expr *x,
                                LLVMValueRef at, LLVMValueRef v)
{
    const char *type = type_of(e, x);
    if (x->scope == SCOPE_usual || x->scope == SCOPE_gpu || !type)
        return NULL;
    unsigned bits = type_bits(x->type);
    LLVMTypeRef word = LLVMIntTypeInContext(e->context, bits);
    LLVMTypeRef types[] = {LLVMTypeOf(at), word};
    LLVMTypeRef call = LLVMFunctionType(word, types, 2, false);
    bool is_shared = x->u.buffer->space == SPACE_shared;
    char letter = register_of(bits);
    const char *text = arena_printf(
        e->arena, "atom.relaxed.%s.%s.%s.%s $0, [$1], $2;", scope_of(x),
        is_shared ? "shared" : "global", word_of(x->op), type);
    const char *operands =
        arena_printf(e->arena, "=%c,l,%c,~{memory}", letter, letter);
    LLVMValueRef code =
        LLVMGetInlineAsm(call, text, strlen(text), operands, strlen(operands),
                         true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef args[] = {at, LLVMBuildBitCast(e->builder, v, word, "")};
    LLVMValueRef old = LLVMBuildCall2(e->builder, call, code, args, 2, "");
    emit_call_attribute(old, "nounwind");
    return LLVMBuildBitCast(e->builder, old, LLVMTypeOf(v), "");
}
