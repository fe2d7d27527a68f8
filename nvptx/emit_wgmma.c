// WGMMA: descriptors, fences, and accumulators in registers.
//
// It is asynchronous: until the wait behind it, its results may only be added
// to.  So `wgmma_fence` and `wgmma_wait` take all arrays around them that it
// writes and give them back: nothing that uses their elements can move to the
// other side.  Branches around do so too: the assembler lets nothing else set
// the elements between such an instruction and its wait, not even on the way
// around a loop.
//
// Descriptors are the same for all threads of a warp.  The assembler keeps them
// where it keeps such values only if it knows: numbers of warps come from one
// lane.

#include "nvptx/emit_assembly.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

enum { UNIT_BITS = 4, ADDRESS = 0x3ffff }; // of descriptors

// Return the address of an operand in units of 16 bytes, as a word.  What an
// index has in addition is added last: tiles that differ by that alone share
// the rest.
static LLVMValueRef address_units(struct emitter *e, const struct ir_expr *at)
{
    struct type word = type_scalar(TYPE_u32);
    const struct ir_expr *index = at->args[0];
    int64_t more = 0, bytes = (int64_t)type_bytes(at->u.buffer->elem);
    if (index->op == OP_add && ir_int_value(index->args[1], &more) &&
        more * bytes >= 0 && more * bytes < ADDRESS &&
        more * bytes % (1 << UNIT_BITS) == 0)
        index = index->args[0];
    else
        more = 0;
    LLVMValueRef x =
        LLVMBuildPtrToInt(e->builder, emit_address(e, at->u.buffer, index),
                          emit_type(e, word), "");
    x = LLVMBuildAnd(e->builder, x, emit_int(e, word, ADDRESS), "");
    x = LLVMBuildLShr(e->builder, x, emit_int(e, word, UNIT_BITS), "");
    return LLVMBuildAdd(e->builder, x,
                        emit_int(e, word, more * bytes >> UNIT_BITS), "");
}

// Return the descriptor of an operand: its address and distances in units of
// 16 bytes, and its swizzle.
static LLVMValueRef descriptor(struct emitter *e, const struct ir_stmt *s,
                               enum matrix_operand which)
{
    enum { LEADING_AT = 16, STRIDE_AT = 32, SWIZZLE_AT = 62 };
    const struct ir_descriptor *d = &s->u.matrix.tiles[which].descriptor;
    struct type wide = type_scalar(TYPE_u64);
    uint64_t swizzle = d->swizzle == 128  ? 1
                       : d->swizzle == 64 ? 2
                       : d->swizzle == 32 ? 3
                                          : 0;
    uint64_t fixed = (uint64_t)(d->leading >> UNIT_BITS) << LEADING_AT |
                     (uint64_t)(d->stride >> UNIT_BITS) << STRIDE_AT |
                     swizzle << SWIZZLE_AT;
    LLVMValueRef at =
        LLVMBuildZExt(e->builder, address_units(e, s->u.matrix.tiles[which].at),
                      emit_type(e, wide), "");
    return LLVMBuildOr(e->builder, at, emit_int(e, wide, (int64_t)fixed), "");
}

// Append what follows the operands: the signs of floating operands, and which
// of the shared ones are transposed, where the types allow it.
static void name_modifiers(struct assembly *a, const struct ir_stmt *s,
                           const struct matrix_info *info)
{
    const struct matrix_part *in = &info->part[MATRIX_A];
    if (type_is_float(in->type))
        buf_text(&a->text, ",1,1");
    for (int i = MATRIX_A; i <= MATRIX_B && type_bits(in->type) == 16; i++) {
        if (strcmp(info->part[i].layout, "shared") == 0)
            buf_printf(&a->text, ",%d",
                       s->u.matrix.tiles[i].descriptor.is_transposed);
    }
}

// WGMMA: `op {d}, a, b, p, ...;`, where d takes the registers that it has, a
// is a descriptor or registers, and p says whether d is added to.
void emit_wgmma(struct emitter *e, const struct ir_stmt *s)
{
    struct assembly a = {0};
    struct matrix_info info = matrix_info(s->u.matrix.op);
    bool is_shared = strcmp(info.part[MATRIX_A].layout, "shared") == 0;
    struct registers d = matrix_registers(e, s, MATRIX_D);
    struct registers own = {0};
    assembly_results(e, &a, &d);
    if (is_shared) {
        assembly_input(&a, "l", descriptor(e, s, MATRIX_A));
    } else {
        own = matrix_registers(e, s, MATRIX_A);
        assembly_inputs(e, &a, &own, -1);
    }
    unsigned b = d.n + (is_shared ? 1 : own.n);
    assembly_input(&a, "l", descriptor(e, s, MATRIX_B));
    assembly_input(&a, "r",
                   LLVMBuildZExt(e->builder, matrix_keeps(e, s),
                                 emit_type(e, type_scalar(TYPE_u32)), ""));
    assembly_inputs(e, &a, &d, 0);
    buf_printf(&a.text, "{ .reg .pred p; setp.ne.b32 p, $%u, 0; ", b + 1);
    matrix_ptx(&a.text, s->u.matrix.op);
    buf_char(&a.text, ' ');
    assembly_names(&a, 0, d.n);
    buf_char(&a.text, ',');
    if (is_shared)
        buf_printf(&a.text, "$%u", d.n);
    else
        assembly_names(&a, d.n, own.n);
    buf_printf(&a.text, ",$%u,p", b);
    name_modifiers(&a, s, &info);
    buf_text(&a.text, "; }");
    assembly_store(e, &d, assembly_build(e, &a, true), 0);
}

// Note the array that an instruction of warpgroups writes.
static void note_accumulator(struct emitter *e, const struct ir_stmt *s)
{
    if (s->kind != STMT_matrix ||
        matrix_info(s->u.matrix.op).kind != MATRIX_WGMMA)
        return;
    const struct ir_buffer *b = s->u.matrix.tiles[MATRIX_D].at->u.buffer;
    map_set(&e->accumulating, b, (void *)(uintptr_t)b);
}

void emit_warpgroups_begin(struct emitter *e, struct ir_launch *launch)
{
    enum { WARP_BITS = 5, ALL_LANES = -1, CLAMP_LAST = 31 };
    struct type word = type_scalar(TYPE_u32);
    ir_foreach_stmt(s, &launch->body)
        note_accumulator(e, s);
    if (!e->accumulating.n || launch->block[1] * launch->block[2] > 1)
        return;
    LLVMValueRef x =
        emit_intrinsic(e, "llvm.nvvm.read.ptx.sreg.tid.x", NULL, NULL, 0);
    LLVMValueRef args[] = {
        emit_int(e, word, ALL_LANES),
        LLVMBuildLShr(e->builder, x, emit_int(e, word, WARP_BITS), ""),
        emit_int(e, word, 0), emit_int(e, word, CLAMP_LAST)};
    e->warp = emit_intrinsic(e, "llvm.nvvm.shfl.sync.idx.i32", NULL, args, 4);
}

LLVMValueRef emit_warp_number(struct emitter *e, const struct ir_expr *x)
{
    int64_t threads;
    const struct ir_expr *of = x->op == OP_div ? x->args[0] : NULL;
    while (of && of->op == OP_cast)
        of = of->args[0];
    if (!e->warp || !of || of->op != OP_index || of->u.axis != AXIS_thread_x ||
        !ir_int_value(x->args[1], &threads) || threads <= 0 || threads % 32)
        return NULL;
    struct type word = type_scalar(TYPE_u32);
    LLVMValueRef number =
        LLVMBuildUDiv(e->builder, e->warp, emit_int(e, word, threads / 32), "");
    return emit_convert(e, x->type, word, number);
}

// Return the registers of the arrays around that warpgroups write; as many
// arrays as registers can hold.
static size_t accumulators(struct emitter *e, struct registers *out)
{
    size_t n = 0;
    unsigned all = 0;
    for (size_t i = 0; i < e->accumulators.n; i++) {
        const struct ir_buffer *b = e->accumulators.at[i];
        LLVMValueRef array = map_get(&e->arrays, b);
        uint64_t length = LLVMGetArrayLength2(LLVMGetAllocatedType(array));
        out[n] = registers_of(array, b->elem, (uint32_t)length);
        if (all + out[n].n > REGISTERS_MOST)
            return n;
        all += out[n++].n;
    }
    return n;
}

void emit_warpgroup_sync(struct emitter *e, const char *ptx)
{
    struct assembly a = {0};
    struct registers r[REGISTERS_MOST];
    size_t n = accumulators(e, r);
    unsigned first = 0;
    for (size_t i = 0; i < n; i++)
        assembly_results(e, &a, &r[i]);
    for (size_t i = 0; i < n; first += r[i++].n)
        assembly_inputs(e, &a, &r[i], (int)first);
    buf_text(&a.text, ptx);
    LLVMValueRef call = assembly_build(e, &a, *ptx);
    first = 0;
    for (size_t i = 0; i < n; first += r[i++].n)
        assembly_store(e, &r[i], call, first);
}
