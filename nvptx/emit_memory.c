// Loads, stores and atomics.
//
// At level flat an access has one index, in elements; `ramp(base, n)` makes
// it an access to n elements that are aligned as a whole.

#include "nvptx/emit.h"

#include "ir/build.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

// The first LLVM that writes the scope of a compare-and-swap.
enum { SCOPES_SINCE = 22 };

LLVMValueRef emit_address(struct emitter *e, const struct ir_buffer *buffer,
                          const struct ir_expr *index)
{
    LLVMValueRef array = map_get(&e->arrays, buffer);
    if (index->op == OP_ramp)
        index = index->args[0];
    struct type wide = type_scalar(TYPE_i64);
    LLVMValueRef at = emit_convert(e, wide, index->type, emit_value(e, index));
    LLVMTypeRef element = emit_memory_type(e, buffer->elem);
    return LLVMBuildInBoundsGEP2(e->builder, element, array, &at, 1, "");
}

// Return the alignment of an access: that of all its lanes together, down to
// a power of two.
static unsigned access_align(struct type t)
{
    unsigned bytes = (unsigned)type_bytes(t);
    return bytes & -bytes;
}

bool emit_is_unchanging(const struct emitter *e, const struct ir_buffer *buffer)
{
    bool is_alone = buffer->space == SPACE_constant ||
                    (buffer->space == SPACE_global && !e->is_dependent);
    return is_alone && !map_has(&e->written, buffer);
}

// Attach `!invariant.load`: the load may use the read-only cache.
static void mark_invariant(struct emitter *e, LLVMValueRef load)
{
    static const char name[] = "invariant.load";
    unsigned kind = LLVMGetMDKindIDInContext(e->context, name, sizeof name - 1);
    LLVMMetadataRef none = LLVMMDNodeInContext2(e->context, NULL, 0);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->context, none));
}

// Return the address of an element by the indices of a load or a store.
static LLVMValueRef emit_element(struct emitter *e,
                                 const struct ir_buffer *buffer,
                                 struct ir_expr *const *index)
{
    if (!buffer->of_cluster)
        return emit_address(e, buffer, index[0]);
    return emit_in_block(e, emit_address(e, buffer, index[1]), index[0]);
}

LLVMValueRef emit_load(struct emitter *e, const struct ir_expr *x)
{
    const struct ir_buffer *buffer = x->u.buffer;
    LLVMValueRef from = emit_element(e, buffer, x->args);
    LLVMTypeRef type = emit_memory_type(e, x->type);
    if (emit_is_hinted(e, buffer, x->type))
        return emit_hinted_load(e, x, from);
    LLVMValueRef load = LLVMBuildLoad2(e->builder, type, from, "");
    LLVMSetAlignment(load, access_align(x->type));
    if (emit_is_unchanging(e, buffer))
        mark_invariant(e, load);
    if (x->type.kind != TYPE_bool)
        return load;
    return LLVMBuildICmp(e->builder, LLVMIntNE, load, LLVMConstNull(type), "");
}

// Store a value.
static void store_value(struct emitter *e, const struct ir_stmt *s)
{
    struct ir_expr *value = s->u.store.value;
    LLVMValueRef v = emit_value(e, value);
    if (value->type.kind == TYPE_bool)
        v = LLVMBuildZExt(e->builder, v, emit_memory_type(e, value->type), "");
    LLVMValueRef to = emit_element(e, s->u.store.buffer, s->u.store.index);
    if (emit_is_hinted(e, s->u.store.buffer, value->type)) {
        emit_hinted_store(e, s, v, to);
        return;
    }
    LLVMValueRef store = LLVMBuildStore(e->builder, v, to);
    LLVMSetAlignment(store, access_align(value->type));
}

void emit_store(struct emitter *e, const struct ir_stmt *s)
{
    e->hint = s->u.store.hint;
    store_value(e, s);
    e->hint = HINT_usual;
}

// Return LLVM's name for the scope of an atomic.
static unsigned scope_of(struct emitter *e, const struct ir_expr *x)
{
    static const char *const names[] = {
#define SCOPE(name, llvm, ptx, meaning) llvm,
#include "ir/scopes.def"
#undef SCOPE
    };
    bool is_block =
        x->scope == SCOPE_usual && x->u.buffer->space == SPACE_shared;
    const char *name = names[is_block ? SCOPE_block : x->scope];
    return LLVMGetSyncScopeID(e->context, name, strlen(name));
}

// Return whether an atomic just reads words of global memory: x | 0.
static bool is_read(const struct ir_expr *x)
{
    int64_t value = 1;
    return x->op == OP_atomic_or && ir_int_value(x->args[1], &value) &&
           value == 0 && x->u.buffer->space == SPACE_global &&
           type_bits(x->type) >= 32;
}

// Read what all threads of the scope of an atomic see: a load is as strong as
// an operation that changes nothing, and blocks that wait do not queue up.
static LLVMValueRef read_atomically(struct emitter *e, const struct ir_expr *x,
                                    LLVMValueRef at)
{
    LLVMValueRef load =
        LLVMBuildLoad2(e->builder, emit_type(e, x->type), at, "");
    LLVMSetAlignment(load, access_align(x->type));
    LLVMSetOrdering(load, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(load, scope_of(e, x));
    return load;
}

// Report a compare-and-swap whose scope an older LLVM does not write: PTX takes
// it for one of the GPU.
static void check_scope(struct emitter *e, const struct ir_expr *x)
{
    if (x->scope != SCOPE_system || LLVM_VERSION_MAJOR >= SCOPES_SINCE)
        return;
    const char *what =
        arena_printf(e->arena, "%s(..., system)", ir_op_info(x->op)->spelling);
    diag_error(e->diags, x->span, D_intrinsic_unknown, what,
               LLVM_VERSION_STRING);
}

LLVMValueRef emit_atomic(struct emitter *e, const struct ir_expr *x)
{
    const struct ir_buffer *buffer = x->u.buffer;
    int op = emit_choice(x->op, x->type);
    LLVMValueRef at = emit_address(e, buffer, x->args[0]);
    if (is_read(x))
        return read_atomically(e, x, at);
    LLVMValueRef v = emit_value(e, x->args[1]);
    LLVMValueRef old = emit_scoped_atomic(e, x, at, v);
    if (old)
        return old;
    check_scope(e, x);
    return LLVMBuildAtomicRMWSyncScope(e->builder, (LLVMAtomicRMWBinOp)op, at,
                                       v, LLVMAtomicOrderingMonotonic,
                                       scope_of(e, x));
}

LLVMValueRef emit_atomic_cas(struct emitter *e, const struct ir_expr *x)
{
    const struct ir_buffer *buffer = x->u.buffer;
    LLVMValueRef at = emit_address(e, buffer, x->args[0]);
    LLVMValueRef expected = emit_value(e, x->args[1]);
    LLVMValueRef wanted = emit_value(e, x->args[2]);
    check_scope(e, x);
    LLVMValueRef both = LLVMBuildAtomicCmpXchgSyncScope(
        e->builder, at, expected, wanted, LLVMAtomicOrderingMonotonic,
        LLVMAtomicOrderingMonotonic, scope_of(e, x));
    return LLVMBuildExtractValue(e->builder, both, 0, "");
}
