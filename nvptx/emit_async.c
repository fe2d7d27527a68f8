// Asynchronous copies from global to shared memory: `cp.async`.
//
//   async S[i] = A[j]            4 or 8 bytes through L1, 16 around it
//   async S[i] = c ? A[j] : 0    reads no bytes of A where c is false: zeros
//
// Other numbers of bytes are loaded and stored, as everything is where the
// architecture has no such instruction.

#include "nvptx/emit.h"

enum { BYTES_LEAST = 4, CACHE_ALL_MOST = 8, BYTES_MOST = 16 };

// A copy: its source and its condition.
struct async_copy {
    const struct ir_expr *from, *condition; // condition: NULL for always
};

// Return whether an expression is 0 in all lanes.
static bool is_zero(const struct ir_expr *x)
{
    if (x->op == OP_broadcast)
        x = x->args[0];
    return x->op == OP_const &&
           (type_is_float(x->type) ? x->u.f == 0 : x->u.i == 0);
}

// Find the parts of a copy; false if the value is something else.
static bool find_parts(const struct ir_expr *value, struct async_copy *out)
{
    *out = (struct async_copy){value, NULL};
    if (value->op == OP_select && is_zero(value->args[2]))
        *out = (struct async_copy){value->args[1], value->args[0]};
    return out->from->op == OP_load &&
           out->from->u.buffer->space == SPACE_global &&
           (!out->condition || (out->condition->type.lanes == 1 &&
                                !emit_may_fault(out->from->args[0])));
}

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
static LLVMValueRef bytes_read(struct emitter *e, const struct async_copy *copy,
                               size_t bytes)
{
    struct type word = type_scalar(TYPE_u32);
    return LLVMBuildSelect(e->builder, emit_value(e, copy->condition),
                           emit_int(e, word, (int64_t)bytes),
                           emit_int(e, word, 0), "");
}

bool emit_async(struct emitter *e, const struct ir_stmt *s)
{
    struct async_copy copy;
    const struct ir_expr *value = s->u.store.value;
    size_t bytes = type_bytes(value->type);
    const char *name = instruction(e, bytes, value->op == OP_select);
    if (!find_parts(value, &copy)) {
        diag_error(e->diags, s->span, D_async_copy, s->u.store.buffer->name);
        diag_note(e->diags, value->span,
                  "the source of cp.async must be an element of an array in "
                  "global memory");
        return true;
    }
    if (!name)
        return false;
    LLVMValueRef to =
        emit_shared_address(e, s->u.store.buffer, s->u.store.index[0]);
    LLVMValueRef from =
        emit_address(e, copy.from->u.buffer, copy.from->args[0]);
    if (copy.condition)
        LLVMSetIsInBounds(from, false);
    LLVMValueRef args[] = {to, from, NULL};
    if (copy.condition)
        args[2] = bytes_read(e, &copy, bytes);
    if (e->hint != HINT_usual) {
        args[2] = args[2] ? args[2]
                          : emit_int(e, type_scalar(TYPE_u32), (int64_t)bytes);
        emit_hinted_copy(e, s, bytes, args);
        return true;
    }
    emit_intrinsic(e, name, NULL, args, copy.condition ? 3 : 2);
    return true;
}
