// Clusters: blocks that run together, meet at a barrier of their own, and reach
// each other's shared memory.

#include "nvptx/emit.h"

#include "ir/build.h"
#include "ir/cluster_rank.h"

#include <llvm/Config/llvm-config.h>

// The first LLVM that has an address space for the shared memory of a cluster.
enum { CLUSTER_SPACE_SINCE = 21 };

void emit_cluster(struct emitter *e, const struct ir_stmt *s)
{
    const uint32_t *n = s->u.launch.cluster;
    if (ir_cluster_blocks(&s->u.launch) == 1)
        return;
    emit_string_attribute(e->function, "nvvm.cluster_dim",
                          arena_printf(e->arena, "%u,%u,%u", n[0], n[1], n[2]));
    emit_need(e, FEATURE_cluster, s->span, "clusters of blocks");
}

void emit_cluster_sync(struct emitter *e, enum sync_kind kind)
{
    const char *name = kind == SYNC_cluster_arrive  ? "arrive.relaxed"
                       : kind == SYNC_cluster_leave ? "arrive"
                                                    : "wait";
    emit_intrinsic(
        e, arena_printf(e->arena, "llvm.nvvm.barrier.cluster.%s.aligned", name),
        NULL, NULL, 0);
}

void emit_cluster_barrier(struct emitter *e)
{
    emit_cluster_sync(e, SYNC_cluster_leave);
    emit_cluster_sync(e, SYNC_cluster_wait);
}

// Return where the block of a rank has what lies at an address of this one.
static LLVMValueRef map_to_block(struct emitter *e, LLVMValueRef own,
                                 const struct ir_expr *rank)
{
    struct type word = type_scalar(TYPE_u32);
    LLVMValueRef args[] = {
        own, emit_convert(e, word, rank->type, emit_value(e, rank))};
    return emit_intrinsic(e, "llvm.nvvm.mapa.shared.cluster", NULL, args, 2);
}

// The same as a generic address.
static LLVMValueRef map_generic(struct emitter *e, LLVMValueRef own,
                                const struct ir_expr *rank)
{
    struct type word = type_scalar(TYPE_u32);
    LLVMTypeRef generic = LLVMPointerTypeInContext(e->context, 0);
    LLVMValueRef args[] = {
        LLVMBuildAddrSpaceCast(e->builder, own, generic, ""),
        emit_convert(e, word, rank->type, emit_value(e, rank))};
    return emit_intrinsic(e, "llvm.nvvm.mapa", NULL, args, 2);
}

LLVMValueRef emit_in_block(struct emitter *e, LLVMValueRef own,
                           const struct ir_expr *rank)
{
    if (ir_is_own_rank(e->launch, rank))
        return own;
    return LLVM_VERSION_MAJOR >= CLUSTER_SPACE_SINCE
               ? map_to_block(e, own, rank)
               : map_generic(e, own, rank);
}

LLVMValueRef emit_mbarrier_remote(struct emitter *e, const struct ir_expr *x)
{
    LLVMValueRef own = emit_address(e, x->u.buffer, x->args[0]);
    LLVMValueRef args[] = {map_to_block(e, own, x->args[ir_index_count(x)]),
                           emit_int(e, type_scalar(TYPE_u32), 1)};
    emit_intrinsic(e, "llvm.nvvm.mbarrier.arrive.scope.cta.space.cluster", NULL,
                   args, 2);
    return emit_int(e, type_scalar(TYPE_u64), 0);
}
