// Accesses to global memory that hint to the L2 cache how long it is to keep
// what they access: inline instructions with a policy.
//
//   evict_first C[ramp(i, 4)] = v   =>
//     st.global.L2::cache_hint.v4.b32 [$4], {$0,$1,$2,$3}, $5;
//
// Hints are for 4, 8 and 16 bytes at a time; others are as usual.

#include "nvptx/emit_assembly.h"

#include <string.h>

enum { WORD_BYTES = 4, BYTES_MOST = 16 };

bool emit_is_hinted(const struct emitter *e, const struct ir_buffer *b,
                    struct type t)
{
    size_t bytes = type_bytes(t);
    return e->hint != HINT_usual && b->space == SPACE_global &&
           t.kind != TYPE_bool && bytes >= WORD_BYTES && bytes <= BYTES_MOST &&
           (bytes & (bytes - 1)) == 0;
}

LLVMValueRef emit_policy(struct emitter *e, struct span span)
{
    const char *name = hint_name(e->hint);
    const char *text =
        arena_printf(e->arena, "createpolicy.fractional.L2::%s.b64 $0;", name);
    LLVMTypeRef type =
        LLVMFunctionType(LLVMInt64TypeInContext(e->context), NULL, 0, false);
    emit_need(e, FEATURE_hint, span, name);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), "=l", 2, false, false,
                         LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(e->builder, type, code, NULL, 0, "");
}

// Return the type of `n` words.
static LLVMTypeRef words(struct emitter *e, unsigned n)
{
    LLVMTypeRef word = LLVMInt32TypeInContext(e->context);
    return n == 1 ? word : LLVMVectorType(word, n);
}

// Return word `i` of a value of `n` words.
static LLVMValueRef word_of(struct emitter *e, LLVMValueRef v, unsigned n,
                            unsigned i)
{
    LLVMValueRef at = emit_int(e, type_scalar(TYPE_u32), i);
    return n == 1 ? v : LLVMBuildExtractElement(e->builder, v, at, "");
}

// Append "ld.global.L2::cache_hint.v4.b32 ".
static void name_access(struct assembly *a, const char *what, unsigned n)
{
    buf_printf(&a->text, "%s.global.L2::cache_hint", what);
    if (n > 1)
        buf_printf(&a->text, ".v%u", n);
    buf_text(&a->text, ".b32 ");
}

LLVMValueRef emit_hinted_load(struct emitter *e, const struct ir_expr *x,
                              LLVMValueRef from)
{
    unsigned n = (unsigned)type_bytes(x->type) / WORD_BYTES;
    struct assembly a = {0};
    for (unsigned i = 0; i < n; i++) {
        buf_text(&a.results, i ? ",=r" : "=r");
        a.type[a.n_results++] = words(e, 1);
    }
    assembly_input(&a, "l", from);
    assembly_input(&a, "l", emit_policy(e, x->span));
    name_access(&a, "ld", n);
    assembly_names(&a, 0, n);
    buf_printf(&a.text, ", [$%u], $%u;", n, n + 1);
    LLVMValueRef got = assembly_build(e, &a, true);
    LLVMValueRef v = n == 1 ? got : LLVMGetPoison(words(e, n));
    for (unsigned i = 0; i < n && n > 1; i++)
        v = LLVMBuildInsertElement(
            e->builder, v, LLVMBuildExtractValue(e->builder, got, i, ""),
            emit_int(e, type_scalar(TYPE_u32), i), "");
    return LLVMBuildBitCast(e->builder, v, emit_memory_type(e, x->type), "");
}

void emit_hinted_store(struct emitter *e, const struct ir_stmt *s,
                       LLVMValueRef v, LLVMValueRef to)
{
    unsigned n = (unsigned)type_bytes(s->u.store.value->type) / WORD_BYTES;
    struct assembly a = {0};
    v = LLVMBuildBitCast(e->builder, v, words(e, n), "");
    for (unsigned i = 0; i < n; i++)
        assembly_input(&a, "r", word_of(e, v, n, i));
    assembly_input(&a, "l", to);
    assembly_input(&a, "l", emit_policy(e, s->span));
    name_access(&a, "st", n);
    buf_printf(&a.text, "[$%u], ", n);
    assembly_names(&a, 0, n);
    buf_printf(&a.text, ", $%u;", n + 1);
    assembly_build(e, &a, true);
}

void emit_hinted_copy(struct emitter *e, const struct ir_stmt *s, size_t bytes,
                      LLVMValueRef *args)
{
    enum { CACHE_ALL_MOST = 8 };
    struct assembly a = {0};
    for (int i = 0; i < 3; i++)
        assembly_input(&a, i < 2 ? "l" : "r", args[i]);
    assembly_input(&a, "l", emit_policy(e, s->span));
    buf_printf(&a.text,
               "cp.async.%s.shared.global.L2::cache_hint [$0], [$1], %zu, $2, "
               "$3;",
               bytes <= CACHE_ALL_MOST ? "ca" : "cg", bytes);
    assembly_build(e, &a, true);
}
