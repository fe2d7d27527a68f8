// Copies by each thread from global to shared memory: `cp.async`.
//
//   cp_async_load S[i] = A[j]         4 or 8 bytes through L1, 16 around it
//   cp_async_load S[i] = A[j] if c    reads no bytes of A where c is false: zeros
//
// Other numbers of bytes are loaded and stored, as everything is where the
// architecture has no such instruction.

#include "ir/accesses.h"
#include "ir/build.h"
#include "nvptx/emit.h"

enum { BYTES_LEAST = 4, CACHE_ALL_MOST = 8, BYTES_MOST = 16 };

// Return the name of the instruction for a number of bytes, or NULL.
static const char *instruction(struct emitter *e, size_t bytes, bool may_fill)
{
    if (bytes < BYTES_LEAST || bytes > BYTES_MOST || (bytes & (bytes - 1)) ||
        !emit_prefer(e, FEATURE_cp_async))
        return NULL;
    return arena_printf(e->arena, "llvm.nvvm.cp.async.%s.shared.global.%zu%s",
                        bytes <= CACHE_ALL_MOST ? "ca" : "cg", bytes,
                        may_fill ? ".s" : "");
}

// Return the bytes to read: all, or none where the condition is false.
static LLVMValueRef bytes_read(struct emitter *e, const struct ir_copy *copy,
                               size_t bytes)
{
    struct type word = type_scalar(TYPE_u32);
    LLVMValueRef all = emit_int(e, word, (int64_t)bytes);
    return copy->where ? LLVMBuildSelect(e->builder, emit_value(e, copy->where),
                                         all, emit_int(e, word, 0), "")
                       : all;
}

// Return where a copy reads, also if it turns out to read nothing.
static LLVMValueRef source(struct emitter *e, const struct ir_copy *copy)
{
    LLVMValueRef at = emit_address(e, copy->far.buffer, copy->far.index[0]);
    if (copy->where)
        LLVMSetIsInBounds(at, false);
    return at;
}

// Copy at once.
static void copy_now(struct emitter *e, const struct ir_stmt *s)
{
    struct ir_stmt copy = *s;
    emit_store(e, ir_at_once(e->arena, &copy));
}

void emit_load_cp_async(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    size_t bytes =
        type_bytes(copy->far.buffer->elem) * (size_t)ir_copy_elements(copy);
    const char *name = instruction(e, bytes, copy->where);
    if (!name || (copy->where && emit_may_fault(copy->far.index[0]))) {
        copy_now(e, s);
        return;
    }
    e->hint = copy->hint;
    LLVMValueRef to =
        emit_shared_address(e, copy->near.buffer, copy->near.index[0]);
    LLVMValueRef args[] = {to, source(e, copy), NULL};
    if (copy->where || e->hint != HINT_usual)
        args[2] = bytes_read(e, copy, bytes);
    if (e->hint != HINT_usual)
        emit_hinted_copy(e, s, bytes, args);
    else
        emit_intrinsic(e, name, NULL, args, copy->where ? 3 : 2);
    e->hint = HINT_usual;
}
