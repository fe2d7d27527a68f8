// The arrays that a launch declares: shared ones are variables of the module,
// local ones lie on the stack until optimisation turns them into registers.

#include "nvptx/emit.h"

#include "ir/base/num.h"
#include "ir/build.h"

enum { VECTOR_ALIGN = 16 };

// Return whether the extents and strides of an array are numbers, and how
// many elements it has then.
static bool constant_elements(const struct ir_buffer *b, int64_t *elements)
{
    int64_t n = 1, last = 0, extent, stride;
    for (uint32_t i = 0; i < b->rank; i++) {
        if (!ir_int_value(b->shape[i], &extent) || !num_mul(n, extent, &n))
            return false;
        if (!b->strides)
            continue;
        if (!ir_int_value(b->strides[i], &stride) ||
            !num_mul(extent - 1, stride, &stride) ||
            !num_add(last, stride, &last))
            return false;
    }
    *elements = b->strides ? last + 1 : n;
    return true;
}

// Return a variable of the module in shared memory.  Its name holds a dot,
// which no name of the source does.
static LLVMValueRef shared_array(struct emitter *e, const struct ir_buffer *b,
                                 LLVMTypeRef type)
{
    const char *name = arena_printf(e->arena, "%s.%s", e->entry, b->name);
    LLVMValueRef v = LLVMAddGlobalInAddressSpace(e->module, type, name,
                                                 space_number(SPACE_shared));
    LLVMSetInitializer(v, LLVMGetPoison(type));
    LLVMSetLinkage(v, LLVMInternalLinkage);
    return v;
}

void emit_alloc(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_buffer *b = s->u.buffer;
    int64_t elements = 1;
    if (b->space != SPACE_shared && b->space != SPACE_local)
        diag_error(e->diags, s->span, D_array_not_allocated,
                   space_name(b->space));
    else if (!constant_elements(b, &elements))
        diag_error(e->diags, s->span, D_array_not_constant, b->name,
                   space_name(b->space));
    LLVMTypeRef type = LLVMArrayType2(emit_memory_type(e, b->elem),
                                      elements > 0 ? (uint64_t)elements : 1);
    LLVMValueRef array = b->space == SPACE_shared ? shared_array(e, b, type)
                                                  : emit_alloca(e, type);
    LLVMSetAlignment(array, b->align > VECTOR_ALIGN ? b->align : VECTOR_ALIGN);
    map_set(&e->arrays, b, array);
}
