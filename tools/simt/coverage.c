// Counts what runs: a counter in front of each instruction that accesses memory
// or waits, two for each branch, and of each loop the most iterations.

#include "tools/simt/code.h"

#include <string.h>

// Calls that are counted, by how their names begin; the first that fits.
static const struct {
    const char *name;
    enum simt_point_kind kind;
} calls[] = {{"llvm.nvvm.cp.async.commit", SIMT_POINTS},
             {"llvm.nvvm.cp.async.wait", SIMT_POINTS},
             {"llvm.nvvm.cp.async.mbarrier", SIMT_POINTS},
             {"llvm.nvvm.cp.async.bulk.commit", SIMT_POINTS},
             {"llvm.nvvm.cp.async.bulk.wait", SIMT_POINTS},
             {"llvm.nvvm.cp.async.bulk.prefetch", SIMT_POINTS},
             {"llvm.nvvm.cp.async.bulk.tensor.prefetch", SIMT_POINTS},
             {"llvm.nvvm.cp.async.", SIMT_POINT_copy},
             {"llvm.nvvm.barrier", SIMT_POINT_barrier},
             {"llvm.nvvm.bar.", SIMT_POINT_barrier},
             {"llvm.nvvm.mbarrier.test.wait", SIMT_POINT_barrier},
             {"llvm.nvvm.mbarrier.try.wait", SIMT_POINT_barrier},
             {"llvm.nvvm.stmatrix", SIMT_POINT_store},
             {"llvm.nvvm.wmma.", SIMT_POINTS},
             {"llvm.nvvm.ldmatrix", SIMT_POINT_load},
             {"llvm.memcpy", SIMT_POINT_store},
             {"llvm.memset", SIMT_POINT_store},
             {"llvm.memmove", SIMT_POINT_store}};

// Return a new point at an instruction.
static struct simt_point *add_point(struct rewriter *w, LLVMValueRef at,
                                    enum simt_point_kind kind)
{
    struct simt_point *p = arena_new(w->code->arena, struct simt_point);
    p->kind = kind;
    code_places(w, at, &p->place, &p->schedule);
    vec_push(w->code->arena, &w->code->points, p);
    return p;
}

// Add a number to a counter, at the builder's place.
static void count(struct rewriter *w, uint64_t *counter, LLVMValueRef n)
{
    LLVMValueRef at = code_address(w, counter);
    LLVMValueRef old = LLVMBuildLoad2(w->builder, w->word, at, "");
    LLVMBuildStore(w->builder, LLVMBuildAdd(w->builder, old, n, ""), at);
}

// Return the kind of a call, or SIMT_POINTS if it is not counted.
static enum simt_point_kind kind_of_call(LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call);
    uint32_t bytes;
    size_t n;
    if (LLVMIsAInlineAsm(called))
        return atomic_parse(LLVMGetInlineAsmAsmString(called, &n), &bytes) < 0
                   ? SIMT_POINTS
                   : SIMT_POINT_atomic;
    const char *name = LLVMGetValueName2(called, &n);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(name, calls[i].name, strlen(calls[i].name)) == 0)
            return calls[i].kind;
    return SIMT_POINTS;
}

// Return the kind of an instruction, or SIMT_POINTS if it is not counted.
static enum simt_point_kind kind_of(LLVMValueRef i)
{
    switch ((int)LLVMGetInstructionOpcode(i)) {
    case LLVMStore: return SIMT_POINT_store;
    case LLVMLoad: return SIMT_POINT_load;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return SIMT_POINT_atomic;
    case LLVMCall: return kind_of_call(i);
    }
    return SIMT_POINTS;
}

// Count both ways of a branch.
static void cover_branch(struct rewriter *w, LLVMValueRef branch)
{
    LLVMValueRef condition = LLVMGetCondition(branch);
    struct simt_point *taken = add_point(w, branch, SIMT_POINT_taken);
    struct simt_point *passed = add_point(w, branch, SIMT_POINT_passed);
    count(w, &taken->count, LLVMBuildZExt(w->builder, condition, w->word, ""));
    condition = LLVMBuildNot(w->builder, condition, "");
    count(w, &passed->count, LLVMBuildZExt(w->builder, condition, w->word, ""));
}

// Return the bytes that a load or a store moves, 0 of anything else.
static uint32_t bytes_of(LLVMValueRef i)
{
    return LLVMIsAStoreInst(i)  ? code_size_of(LLVMTypeOf(LLVMGetOperand(i, 0)))
           : LLVMIsALoadInst(i) ? code_size_of(LLVMTypeOf(i))
                                : 0;
}

void code_cover(struct rewriter *w, LLVMValueRef i)
{
    enum simt_point_kind kind = kind_of(i);
    bool is_branch = LLVMIsABranchInst(i) && LLVMIsConditional(i);
    if (!w->code->is_covered || (kind == SIMT_POINTS && !is_branch))
        return;
    LLVMPositionBuilderBefore(w->builder, i);
    if (is_branch) {
        cover_branch(w, i);
        return;
    }
    struct simt_point *p = add_point(w, i, kind);
    p->bytes = bytes_of(i);
    count(w, &p->count, LLVMConstInt(w->word, 1, false));
}

// Keep the greater of a number and a counter, at the builder's place.
static void keep_most(struct rewriter *w, uint64_t *counter, LLVMValueRef n)
{
    LLVMValueRef at = code_address(w, counter);
    LLVMValueRef old = LLVMBuildLoad2(w->builder, w->word, at, "");
    LLVMValueRef is_more = LLVMBuildICmp(w->builder, LLVMIntUGT, n, old, "");
    LLVMBuildStore(w->builder, LLVMBuildSelect(w->builder, is_more, n, old, ""),
                   at);
}

void code_cover_loop(struct rewriter *w, const struct code_loop *loop)
{
    LLVMValueRef first = LLVMGetFirstInstruction(loop->head), at = first;
    while (LLVMIsAPHINode(at))
        at = LLVMGetNextInstruction(at);
    struct simt_point *p = add_point(w, at, SIMT_POINT_loop);
    LLVMPositionBuilderBefore(w->builder, first);
    LLVMValueRef before = LLVMBuildPhi(w->builder, w->word, "");
    LLVMPositionBuilderBefore(w->builder, at);
    LLVMValueRef now =
        LLVMBuildAdd(w->builder, before, LLVMConstInt(w->word, 1, false), "");
    LLVMValueRef none = LLVMConstInt(w->word, 0, false);
    for (size_t i = 0; i < loop->edges.n; i++) {
        struct code_edge e = loop->edges.at[i];
        LLVMAddIncoming(before, e.is_back ? &now : &none, &e.from, 1);
    }
    count(w, &p->count, LLVMConstInt(w->word, 1, false));
    keep_most(w, &p->most, now);
}

size_t simt_points(const struct simt_code *code,
                   struct simt_point *const **points)
{
    *points = code->points.at;
    return code->points.n;
}

// ---- Pairs of blocks ------------------------------------------------------

void pairs_begin(struct machine *m)
{
    memset(m->pairs, 0, sizeof m->pairs);
}

void pairs_note(struct machine *m, uint32_t other)
{
    uint32_t a = other - m->first, b = m->serial - m->first;
    if (other <= m->first || a >= PAIRS_SIDE || b >= PAIRS_SIDE)
        return;
    uint32_t at = a < b ? a * PAIRS_SIDE + b : b * PAIRS_SIDE + a;
    uint64_t bit = UINT64_C(1) << at % 64;
    m->result->pairs += !(m->pairs[at / 64] & bit);
    m->pairs[at / 64] |= bit;
}
