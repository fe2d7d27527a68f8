// What the threads of a warp compute at once.
//
// Every instruction names all 32 lanes; lanes that a block lacks count as
// having left.  A value travels as words of 32 bits.

#include "nvptx/emit.h"

#include "ir/build.h"

#include <string.h>

enum { WORD = 32, ALL_LANES = -1, CLAMP_LAST = 31 };

// A shuffle: the intrinsic's name, and the lane at which it stops.
struct shuffle {
    const char *name;
    int clamp;
};

// Return how a shuffle is done.
static struct shuffle shuffle_of(enum ir_op op)
{
    switch ((int)op) {
    case OP_shuffle:
        return (struct shuffle){"llvm.nvvm.shfl.sync.idx.i32", CLAMP_LAST};
    case OP_shuffle_up:
        return (struct shuffle){"llvm.nvvm.shfl.sync.up.i32", 0};
    case OP_shuffle_down:
        return (struct shuffle){"llvm.nvvm.shfl.sync.down.i32", CLAMP_LAST};
    }
    return (struct shuffle){"llvm.nvvm.shfl.sync.bfly.i32", CLAMP_LAST};
}

// Return a 32-bit number.
static LLVMValueRef word(struct emitter *e, int64_t value)
{
    return emit_int(e, type_scalar(TYPE_u32), value);
}

// Return the bits of a value as an integer of 32 or 64 bits.
static LLVMValueRef to_bits(struct emitter *e, struct type t, LLVMValueRef v)
{
    unsigned bits = t.kind == TYPE_bool ? 1 : type_bits(t);
    LLVMTypeRef own = LLVMIntTypeInContext(e->context, bits);
    LLVMTypeRef wide = LLVMIntTypeInContext(e->context, bits > WORD ? 64 : 32);
    if (type_is_float(t) && !type_is_storage(t))
        v = LLVMBuildBitCast(e->builder, v, own, "");
    return bits < WORD ? LLVMBuildZExt(e->builder, v, wide, "") : v;
}

// Return the value that has these bits.
static LLVMValueRef from_bits(struct emitter *e, struct type t, LLVMValueRef v)
{
    unsigned bits = t.kind == TYPE_bool ? 1 : type_bits(t);
    LLVMTypeRef own = LLVMIntTypeInContext(e->context, bits);
    if (bits < WORD)
        v = LLVMBuildTrunc(e->builder, v, own, "");
    if (type_is_float(t) && !type_is_storage(t))
        v = LLVMBuildBitCast(e->builder, v, emit_type(e, t), "");
    return v;
}

// Shuffle 32 bits.
static LLVMValueRef shuffle_word(struct emitter *e, enum ir_op op,
                                 LLVMValueRef v, LLVMValueRef by)
{
    struct shuffle s = shuffle_of(op);
    LLVMValueRef args[] = {word(e, ALL_LANES), v, by, word(e, s.clamp)};
    return emit_intrinsic(e, s.name, NULL, args, 4);
}

// Shuffle a value, as one or two words.
static LLVMValueRef shuffle_value(struct emitter *e, enum ir_op op,
                                  struct type t, LLVMValueRef v,
                                  LLVMValueRef by)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
    LLVMValueRef bits = to_bits(e, t, v);
    if (type_bits(t) <= WORD)
        return from_bits(e, t, shuffle_word(e, op, bits, by));
    LLVMValueRef half = LLVMConstInt(i64, WORD, false);
    LLVMValueRef low = LLVMBuildTrunc(b, bits, i32, "");
    LLVMValueRef high =
        LLVMBuildTrunc(b, LLVMBuildLShr(b, bits, half, ""), i32, "");
    low = LLVMBuildZExt(b, shuffle_word(e, op, low, by), i64, "");
    high = LLVMBuildZExt(b, shuffle_word(e, op, high, by), i64, "");
    high = LLVMBuildShl(b, high, half, "");
    return from_bits(e, t, LLVMBuildOr(b, high, low, ""));
}

LLVMValueRef emit_shuffle(struct emitter *e, const struct ir_expr *x)
{
    struct type t = x->args[0]->type;
    LLVMValueRef v = emit_value(e, x->args[0]);
    LLVMValueRef by = emit_value(e, x->args[1]);
    by = emit_convert(e, type_scalar(TYPE_u32), x->args[1]->type, by);
    return shuffle_value(e, x->op, t, v, by);
}

LLVMValueRef emit_vote(struct emitter *e, const struct ir_expr *x)
{
    const char *name = x->op == OP_vote_any   ? "llvm.nvvm.vote.any.sync"
                       : x->op == OP_vote_all ? "llvm.nvvm.vote.all.sync"
                                              : "llvm.nvvm.vote.ballot.sync";
    LLVMValueRef args[] = {word(e, ALL_LANES), emit_value(e, x->args[0])};
    return emit_intrinsic(e, name, NULL, args, 2);
}

LLVMValueRef emit_match(struct emitter *e, const struct ir_expr *x)
{
    struct type t = x->args[0]->type;
    const char *name = type_bits(t) > WORD ? "llvm.nvvm.match.any.sync.i64"
                                           : "llvm.nvvm.match.any.sync.i32";
    LLVMValueRef bits = to_bits(e, t, emit_value(e, x->args[0]));
    LLVMValueRef args[] = {word(e, ALL_LANES), bits};
    return emit_intrinsic(e, name, NULL, args, 2);
}

// A reduction: what combines two lanes, and the instruction that does all of
// it on integers of 32 bits.
struct reduction {
    enum ir_op op, each;
    const char *on_signed, *on_unsigned;
};

static const struct reduction reductions[] = {
    {OP_warp_sum, OP_add, "llvm.nvvm.redux.sync.add",
     "llvm.nvvm.redux.sync.add"},
    {OP_warp_min, OP_min, "llvm.nvvm.redux.sync.min",
     "llvm.nvvm.redux.sync.umin"},
    {OP_warp_max, OP_max, "llvm.nvvm.redux.sync.max",
     "llvm.nvvm.redux.sync.umax"},
    {OP_warp_and, OP_bit_and, "llvm.nvvm.redux.sync.and",
     "llvm.nvvm.redux.sync.and"},
    {OP_warp_or, OP_bit_or, "llvm.nvvm.redux.sync.or",
     "llvm.nvvm.redux.sync.or"},
    {OP_warp_xor, OP_bit_xor, "llvm.nvvm.redux.sync.xor",
     "llvm.nvvm.redux.sync.xor"},
};

// Return the row of an operation.
static const struct reduction *reduction_of(enum ir_op op)
{
    const struct reduction *r = reductions;
    while (r->op != op)
        r++;
    return r;
}

// Reduce by halves: lanes that differ in bit 4, then in bit 3, and so on.
static LLVMValueRef reduce_by_halves(struct emitter *e, enum ir_op op,
                                     struct type t, LLVMValueRef v)
{
    for (int bit = WORD / 2; bit; bit /= 2) {
        LLVMValueRef other =
            shuffle_value(e, OP_shuffle_xor, t, v, word(e, bit));
        v = emit_combined(e, op, t, v, other);
    }
    return v;
}

LLVMValueRef emit_warp_reduce(struct emitter *e, const struct ir_expr *x)
{
    const struct reduction *r = reduction_of(x->op);
    LLVMValueRef v = emit_value(e, x->args[0]);
    bool is_word = !type_is_float(x->type) && type_bits(x->type) == WORD;
    if (!is_word || !emit_prefer(e, FEATURE_redux))
        return reduce_by_halves(e, r->each, x->type, v);
    LLVMValueRef args[] = {v, word(e, ALL_LANES)};
    return emit_intrinsic(
        e, type_is_signed(x->type) ? r->on_signed : r->on_unsigned, NULL, args,
        2);
}

// Make a fence of that scope: what was written before is seen before.
static void emit_fence(struct emitter *e, const char *scope)
{
    LLVMValueRef fence =
        LLVMBuildFence(e->builder, LLVMAtomicOrderingAcquireRelease, false, "");
    LLVMSetAtomicSyncScopeID(
        fence, LLVMGetSyncScopeID(e->context, scope, strlen(scope)));
}

// Return whether the architecture has what this waits for or orders.
static bool has_ordered(struct emitter *e, enum sync_kind kind)
{
    switch ((int)kind) {
    case SYNC_async_commit:
    case SYNC_async_wait: return emit_prefer(e, FEATURE_cp_async);
    case SYNC_wgmma_fence:
    case SYNC_wgmma_commit:
    case SYNC_wgmma_wait: return emit_prefer(e, FEATURE_wgmma_sync);
    case SYNC_fence_async: return emit_prefer(e, FEATURE_proxy_fence);
    case SYNC_launch_dependents:
    case SYNC_dependency_wait: return emit_prefer(e, FEATURE_dependency);
    }
    return true;
}

// Let the warps of a role have more or fewer registers; reports a target where
// they cannot.
static void emit_registers(struct emitter *e, const struct ir_stmt *s)
{
    LLVMValueRef n = word(e, s->u.sync.n);
    bool is_up = s->u.sync.kind == SYNC_registers_up;
    emit_need(e, FEATURE_registers, s->span, sync_spelling(s->u.sync.kind));
    emit_intrinsic(e,
                   is_up ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
                         : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
                   NULL, &n, 1);
}

// Let the threads of each warpgroup meet at a barrier of its own: number 0 is
// that of the block.
static void emit_warpgroup_meeting(struct emitter *e)
{
    struct arena *a = e->arena;
    struct type type = type_scalar(TYPE_u32);
    struct ir_expr *x = ir_cast(a, type, ir_index_value(a, AXIS_thread_x));
    uint32_t threads = sync_threads(SYNC_warpgroup);
    LLVMValueRef group =
        emit_value(e, ir_binary(a, OP_div, x, ir_const_int(a, type, threads)));
    LLVMValueRef args[] = {LLVMBuildAdd(e->builder, group, word(e, 1), ""),
                           word(e, threads)};
    emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.count", NULL, args,
                   2);
}

void emit_sync(struct emitter *e, const struct ir_stmt *s)
{
    LLVMValueRef all = word(e, ALL_LANES);
    LLVMValueRef n = word(e, s->u.sync.n);
    if (!has_ordered(e, s->u.sync.kind))
        return;
    switch (s->u.sync.kind) {
    case SYNC_warp:
        emit_intrinsic(e, "llvm.nvvm.bar.warp.sync", NULL, &all, 1);
        break;
    case SYNC_block: emit_fence(e, "block"); break;
    case SYNC_gpu: emit_fence(e, "device"); break;
    case SYNC_system: emit_fence(e, ""); break;
    case SYNC_async_commit:
        emit_intrinsic(e, "llvm.nvvm.cp.async.commit.group", NULL, NULL, 0);
        break;
    case SYNC_async_wait:
        emit_intrinsic(e, "llvm.nvvm.cp.async.wait.group", NULL, &n, 1);
        break;
    case SYNC_wgmma_fence:
        emit_warpgroup_sync(e, "wgmma.fence.sync.aligned;");
        break;
    case SYNC_wgmma_commit:
        emit_intrinsic(e, "llvm.nvvm.wgmma.commit_group.sync.aligned", NULL,
                       NULL, 0);
        break;
    case SYNC_wgmma_wait:
        emit_warpgroup_sync(e, arena_printf(e->arena,
                                            "wgmma.wait_group.sync.aligned %u;",
                                            s->u.sync.n));
        break;
    case SYNC_fence_async:
        emit_intrinsic(e, "llvm.nvvm.fence.proxy.async.shared_cta", NULL, NULL,
                       0);
        break;
    case SYNC_fence_mbarrier_init:
    case SYNC_bulk_commit:
    case SYNC_bulk_wait_read:
    case SYNC_bulk_wait: emit_bulk_sync(e, s); break;
    case SYNC_registers_up:
    case SYNC_registers_down: emit_registers(e, s); break;
    case SYNC_warpgroup: emit_warpgroup_meeting(e); break;
    case SYNC_launch_dependents:
        emit_intrinsic(e, "llvm.nvvm.griddepcontrol.launch.dependents", NULL,
                       NULL, 0);
        break;
    case SYNC_dependency_wait:
        emit_intrinsic(e, "llvm.nvvm.griddepcontrol.wait", NULL, NULL, 0);
        break;
    case SYNC_cluster_arrive:
    case SYNC_cluster_leave:
    case SYNC_cluster_wait: emit_cluster_sync(e, s->u.sync.kind); break;
    case SYNC_grid:
    case SYNC_return:
    case SYNC_break:
    case SYNC_continue:
    case SYNC_COUNT: break;
    }
}
