// Hooks in front of what the executor checks.

#include "tools/simt/code.h"

#include <llvm-c/DebugInfo.h>

#include <string.h>

// A pointer to any function, for code_call.
#define FUNCTION(f) ((void (*)(void))(f))

// Return what LLVM knows of a place.
static struct simt_place place_of(struct rewriter *w, LLVMMetadataRef location)
{
    struct simt_place place = {.line = LLVMDILocationGetLine(location),
                               .column = LLVMDILocationGetColumn(location)};
    LLVMMetadataRef scope = LLVMDILocationGetScope(location);
    unsigned n = 0;
    const char *file = LLVMDIFileGetFilename(LLVMDIScopeGetFile(scope), &n);
    place.file = str_intern(&w->code->names, file, n);
    return place;
}

void code_places(struct rewriter *w, LLVMValueRef at, struct simt_place *place,
                 struct simt_place *schedule)
{
    LLVMMetadataRef here = LLVMInstructionGetDebugLoc(at);
    LLVMMetadataRef around = here ? LLVMDILocationGetInlinedAt(here) : NULL;
    if (around)
        *schedule = place_of(w, here);
    if (here)
        *place = place_of(w, around ? around : here);
}

struct site *code_site(struct rewriter *w, LLVMValueRef at)
{
    struct simt_code *code = w->code;
    struct site *s = arena_new(code->arena, struct site);
    s->number = (uint32_t)code->sites.n;
    s->align = 1;
    code_places(w, at, &s->place, &s->schedule);
    vec_push(code->arena, &code->sites, s);
    return s;
}

uint32_t code_size_of(LLVMTypeRef type)
{
    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type) * code_size_of(LLVMGetElementType(type));
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 2;
    case LLVMFloatTypeKind: return 4;
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind: return 8;
    }
    return (LLVMGetIntTypeWidth(type) + 7) / 8;
}

// Return the call that checks an address.
static LLVMValueRef check_address(struct rewriter *w, struct site *s,
                                  LLVMValueRef i, LLVMValueRef p)
{
    bool is_atomic = s->kind & ACCESS_ATOMIC;
    bool is_if = LLVMGetInstructionOpcode(i) == LLVMAtomicCmpXchg;
    LLVMValueRef args[] = {
        code_address(w, w->code->machine),
        LLVMBuildPtrToInt(w->builder, p, w->word, ""), code_address(w, s),
        is_if ? code_to_bits(w, LLVMGetOperand(i, 1)) : NULL};
    void (*check)(void) = is_if       ? FUNCTION(simt_access_if)
                          : is_atomic ? FUNCTION(simt_access_atomic)
                                      : FUNCTION(simt_access);
    return code_call(w, check, w->word, args, is_if ? 4 : 3);
}

// Have the address of an access, an operand of it, checked.
static void watch_access(struct rewriter *w, LLVMValueRef i, unsigned operand,
                         unsigned kind, LLVMTypeRef type)
{
    struct site *s = code_site(w, i);
    LLVMValueRef p = LLVMGetOperand(i, operand);
    s->kind = kind;
    s->bytes = code_size_of(type);
    s->align = LLVMGetAlignment(i);
    code_find_home(w, s, p);
    if (LLVMIsAtomic(i) || LLVMGetVolatile(i))
        code_set_atomic(w, s, i);
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMValueRef checked = check_address(w, s, i, p);
    checked = LLVMBuildIntToPtr(w->builder, checked, LLVMTypeOf(p), "");
    LLVMSetOperand(i, operand, checked);
}

// Return a lane of a value, or the value itself.
static LLVMValueRef lane_of(struct rewriter *w, LLVMValueRef v, unsigned lane,
                            bool is_vector)
{
    LLVMValueRef index = LLVMConstInt(w->half, lane, false);
    return is_vector ? LLVMBuildExtractElement(w->builder, v, index, "") : v;
}

// Return one divisor, checked.
static LLVMValueRef checked_divisor(struct rewriter *w, struct site *s,
                                    LLVMValueRef value, LLVMValueRef divisor,
                                    bool is_signed)
{
    LLVMTypeRef type = LLVMTypeOf(divisor);
    int64_t bits = LLVMGetIntTypeWidth(type);
    LLVMValueRef args[] = {
        code_address(w, w->code->machine),
        LLVMBuildZExt(w->builder, value, w->word, ""),
        LLVMBuildZExt(w->builder, divisor, w->word, ""),
        LLVMConstInt(w->word, (uint64_t)(is_signed ? bits : -bits), true),
        code_address(w, s)};
    LLVMValueRef v = code_call(w, FUNCTION(simt_divisor), w->word, args, 5);
    return LLVMBuildTrunc(w->builder, v, type, "");
}

// Have the divisor of a division checked: this machine traps where a GPU
// goes on with some number.
static void watch_division(struct rewriter *w, LLVMValueRef i, bool is_signed)
{
    LLVMValueRef value = LLVMGetOperand(i, 0), divisor = LLVMGetOperand(i, 1);
    LLVMTypeRef type = LLVMTypeOf(divisor);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (LLVMIsConstant(divisor) && LLVMIsAConstantInt(divisor) &&
        LLVMConstIntGetSExtValue(divisor) > 0)
        return;
    struct site *s = code_site(w, i);
    unsigned n = is_vector ? LLVMGetVectorSize(type) : 1;
    LLVMValueRef all = divisor;
    LLVMPositionBuilderBefore(w->builder, i);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef one =
            checked_divisor(w, s, lane_of(w, value, k, is_vector),
                            lane_of(w, divisor, k, is_vector), is_signed);
        LLVMValueRef index = LLVMConstInt(w->half, k, false);
        all = is_vector
                  ? LLVMBuildInsertElement(w->builder, all, one, index, "")
                  : one;
    }
    LLVMSetOperand(i, 1, all);
}

// Put a local array into the arena, with a part for every thread.
static void watch_local(struct rewriter *w, LLVMValueRef i)
{
    LLVMTypeRef type = LLVMGetAllocatedType(i), elem = type;
    uint64_t n = 1;
    for (; LLVMGetTypeKind(elem) == LLVMArrayTypeKind;
         elem = LLVMGetElementType(elem))
        n *= LLVMGetArrayLength2(elem);
    size_t bytes = code_size_of(elem);
    if (!w->code->is_checked) {
        w->code->locals += bytes * n;
        return;
    }
    size_t length;
    const char *name = LLVMGetValueName2(i, &length);
    name = arena_copy(w->code->arena, name, strcspn(name, "."));
    struct region *r = region_add(w->code->machine, name, SPACE_local,
                                  bytes * n, bytes, FIBERS_MOST);
    if (!r) {
        diag_error(w->diags, (struct span){0}, D_simt_no_memory);
        return;
    }
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMValueRef args[] = {code_address(w, w->code->machine),
                           code_address(w, r)};
    LLVMValueRef p = code_call(w, FUNCTION(simt_local), w->pointer, args, 2);
    map_set(&w->locals, p, r);
    LLVMReplaceAllUsesWith(
        i, LLVMBuildAddrSpaceCast(w->builder, p, LLVMTypeOf(i), ""));
    LLVMInstructionEraseFromParent(i);
}

void code_watch(struct rewriter *w, LLVMValueRef i)
{
    unsigned both = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC;
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    switch ((int)op) {
    case LLVMAlloca: watch_local(w, i); return;
    case LLVMSDiv:
    case LLVMSRem: watch_division(w, i, true); return;
    case LLVMUDiv:
    case LLVMURem: watch_division(w, i, false); return;
    }
    if (!w->code->is_checked)
        return;
    switch ((int)op) {
    case LLVMFence: code_watch_fence(w, i); return;
    case LLVMLoad: watch_access(w, i, 0, ACCESS_READ, LLVMTypeOf(i)); return;
    case LLVMStore:
        watch_access(w, i, 1, ACCESS_WRITE, LLVMTypeOf(LLVMGetOperand(i, 0)));
        return;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        watch_access(w, i, 0, both, LLVMTypeOf(LLVMGetOperand(i, 1)));
        return;
    }
}

void code_watch_loop(struct rewriter *w, const struct code_loop *loop)
{
    LLVMValueRef i = LLVMGetFirstInstruction(loop->head);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMValueRef args[] = {code_address(w, w->code->machine),
                           code_address(w, code_site(w, i))};
    code_call(w, FUNCTION(simt_step), NULL, args, 2);
}
