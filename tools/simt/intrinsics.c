// Calls of the intrinsics of intrinsics.def: operands and results go through
// memory of the machine, 64 bits each.

#include "tools/simt/intrinsics.h"

#include "tools/simt/code.h"

#include <string.h>

#define FUNCTION(f) ((void (*)(void))(f))

enum { FEW = 16 }; // operands of any row

// What tells rows of mbarrier.c, named.c and tensor_copy.c apart.
enum { TEST = 1, BY_STATE = 2, RELAXED = 4, EXPECT = 8, DROP = 16 };
enum { ARRIVE = 1, ALL = 2 };
enum { OWN_BLOCK = 8 };
enum order { FLOORS, CLOCKS, FENCE };

// A row of intrinsics.def.
static const struct {
    const char *intrinsic;
    uint64_t (*function)(struct machine *m, const struct site *s,
                         const uint64_t *o);
    uint32_t number;
    enum order order;
} rows[] = {
#define INTRINSIC(intrinsic, function, number, order)                          \
    {intrinsic, function, number, order},
#include "tools/simt/intrinsics.def"
#undef INTRINSIC
};

// Do what a row says.
static uint64_t call_row(struct machine *m, uint64_t row, const struct site *s)
{
    uint64_t operands[FEW];
    memcpy(operands, m->operands, sizeof operands);
    return rows[row].function(m, s, operands);
}

// Return the address of an operand or result on its way.
static LLVMValueRef slot(struct rewriter *w, unsigned i)
{
    return code_address(w, &w->code->machine->operands[i]);
}

LLVMValueRef code_to_bits(struct rewriter *w, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(
            w->builder, LLVMBuildAddrSpaceCast(w->builder, v, w->pointer, ""),
            w->word, "");
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
        v = LLVMBuildBitCast(
            w->builder, v,
            LLVMIntTypeInContext(w->context, 8 * code_size_of(type)), "");
    return LLVMBuildZExt(w->builder, v, w->word, "");
}

LLVMValueRef code_from_bits(struct rewriter *w, LLVMValueRef v,
                            LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildAddrSpaceCast(
            w->builder, LLVMBuildIntToPtr(w->builder, v, w->pointer, ""), type,
            "");
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        return LLVMBuildTrunc(w->builder, v, type, "");
    LLVMTypeRef bits = LLVMIntTypeInContext(w->context, 8 * code_size_of(type));
    return LLVMBuildBitCast(w->builder, LLVMBuildTrunc(w->builder, v, bits, ""),
                            type, "");
}

void code_pass_operands(struct rewriter *w, LLVMValueRef call, unsigned first)
{
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < n; i++)
        LLVMBuildStore(w->builder, code_to_bits(w, LLVMGetOperand(call, i)),
                       slot(w, first + i));
}

LLVMValueRef code_take_results(struct rewriter *w, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return NULL;
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
        return code_from_bits(
            w, LLVMBuildLoad2(w->builder, w->word, slot(w, 0), ""), type);
    LLVMValueRef all = LLVMGetPoison(type);
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMValueRef v = LLVMBuildLoad2(w->builder, w->word, slot(w, i), "");
        v = code_from_bits(w, v, LLVMStructGetTypeAtIndex(type, i));
        all = LLVMBuildInsertValue(w->builder, all, v, i, "");
    }
    return all;
}

bool code_replace_intrinsic(struct rewriter *w, LLVMValueRef call,
                            const char *name)
{
    LLVMTypeRef type = LLVMTypeOf(call);
    size_t row = 0, n = sizeof rows / sizeof *rows;
    while (row < n && strcmp(name, rows[row].intrinsic) != 0)
        row++;
    if (row == n || LLVMGetNumArgOperands(call) > FEW)
        return false;
    struct site *s = code_site(w, call);
    s->bytes = rows[row].number;
    w->code->machine->has_async = true;
    if (rows[row].order == CLOCKS)
        code_need_clocks(w);
    if (rows[row].order == FENCE)
        code_need_order(w, true);
    code_pass_operands(w, call, 0);
    LLVMValueRef args[] = {code_address(w, w->code->machine),
                           LLVMConstInt(w->word, row, false),
                           code_address(w, s)};
    LLVMValueRef v = code_call(w, FUNCTION(call_row), w->word, args, 3);
    if (LLVMGetTypeKind(type) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(call, code_from_bits(w, v, type));
    LLVMInstructionEraseFromParent(call);
    return true;
}
