// The arrays that a launch declares: shared ones are variables of the module,
// or parts of one if they share bytes or are more than static shared memory
// holds, constant ones are constants of it, local ones lie on the stack until
// optimisation turns them into registers.

#include "nvptx/emit.h"

#include "ir/base/num.h"
#include "ir/build.h"

enum { VECTOR_ALIGN = 16, POOL_ALIGN = 128 };

// Return how the memory of all shared arrays of the entry is aligned: as the
// array that asks for most, and memory that was there already.
static unsigned pool_align(const struct emitter *e, LLVMValueRef there)
{
    unsigned align = there ? LLVMGetAlignment(there) : 0;
    align = align > POOL_ALIGN ? align : POOL_ALIGN;
    for (size_t i = 0; i < e->shared.places.n; i++) {
        uint32_t own = e->shared.places.at[i].buffer->align;
        align = own > align ? own : align;
    }
    return align;
}

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

// Return how many of so many elements of an array a block declares: of one that is
// distributed over a cluster its own part.  LLVM wants one at least.
static uint64_t declared_elements(const struct emitter *e,
                                  const struct ir_buffer *b, int64_t elements)
{
    if (b->of_cluster)
        elements = shared_bytes(e->arena, b) / (int64_t)type_bytes(b->elem);
    return elements > 0 ? (uint64_t)elements : 1;
}

// Return a variable of the module in shared memory.  Its name holds a dot,
// which no name of the source does.  LLVM loads early, for all threads, from
// what surely is there: where it must not, the variable may be missing.
static LLVMValueRef module_array(struct emitter *e, const char *of,
                                 LLVMTypeRef type)
{
    const char *name = arena_printf(e->arena, "%s.%s", e->launch->name, of);
    LLVMValueRef v = LLVMAddGlobalInAddressSpace(e->module, type, name,
                                                 space_number(SPACE_shared));
    if (e->options->no_extra_loads) {
        LLVMSetLinkage(v, LLVMExternalWeakLinkage);
        return v;
    }
    LLVMSetInitializer(v, LLVMGetPoison(type));
    LLVMSetLinkage(v, LLVMInternalLinkage);
    return v;
}

// Return the dynamic shared memory of the module: its size is an argument of
// the launch.
static LLVMValueRef dynamic_memory(struct emitter *e)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(e->context);
    if (!e->dynamic)
        e->dynamic = LLVMAddGlobalInAddressSpace(
            e->module, LLVMArrayType2(byte, 0), "shared$dynamic",
            space_number(SPACE_shared));
    LLVMSetAlignment(e->dynamic, pool_align(e, e->dynamic));
    return e->dynamic;
}

// Return the variable that holds all shared arrays of the entry.
static LLVMValueRef pool(struct emitter *e)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(e->context);
    if (shared_dynamic(&e->shared))
        return dynamic_memory(e);
    if (!e->pool)
        e->pool = module_array(e, "shared",
                               LLVMArrayType2(byte, (uint64_t)e->shared.bytes));
    LLVMSetAlignment(e->pool, pool_align(e, NULL));
    return e->pool;
}

// Return the place of an array in the pool.
static LLVMValueRef pooled_array(struct emitter *e, const struct ir_buffer *b)
{
    const struct shared_place *place = shared_find(&e->shared, b);
    LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(e->context),
                                   (unsigned long long)place->offset, false);
    return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(e->context), pool(e),
                                 &at, 1);
}

// Return a constant of the module, with the values of an array.
static LLVMValueRef constant_array(struct emitter *e, const struct ir_buffer *b,
                                   LLVMTypeRef type)
{
    struct type in_memory = b->elem;
    if (in_memory.kind == TYPE_bool)
        in_memory.kind = TYPE_u8;
    const char *name =
        arena_printf(e->arena, "%s.%s", e->launch->name, b->name);
    LLVMValueRef v = LLVMAddGlobalInAddressSpace(e->module, type, name,
                                                 space_number(SPACE_constant));
    LLVMValueRef *values = arena_array(e->arena, LLVMValueRef, b->n_values);
    for (uint32_t i = 0; i < b->n_values; i++)
        values[i] = type_equal(in_memory, b->elem)
                        ? emit_const(e, b->values[i])
                        : emit_int(e, in_memory, b->values[i]->u.i);
    LLVMTypeRef elem = emit_memory_type(e, b->elem);
    LLVMSetInitializer(v, b->n_values
                              ? LLVMConstArray2(elem, values, b->n_values)
                              : LLVMConstNull(type));
    LLVMSetGlobalConstant(v, true);
    LLVMSetLinkage(v, LLVMInternalLinkage);
    return v;
}

void emit_alloc(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_buffer *b = s->u.buffer;
    int64_t elements = 1;
    if (!constant_elements(b, &elements))
        diag_error(e->diags, s->span, D_array_not_constant, b->name,
                   space_name(b->space));
    if (b->space == SPACE_shared &&
        (shared_dynamic(&e->shared) || e->shared.overlaps)) {
        map_set(&e->arrays, b, pooled_array(e, b));
        return;
    }
    LLVMTypeRef type = LLVMArrayType2(emit_memory_type(e, b->elem),
                                      declared_elements(e, b, elements));
    LLVMValueRef array =
        b->space == SPACE_shared     ? module_array(e, b->name, type)
        : b->space == SPACE_constant ? constant_array(e, b, type)
                                     : emit_alloca(e, type);
    if (b->space == SPACE_local)
        LLVMSetValueName2(array, b->name, strlen(b->name));
    LLVMSetAlignment(array, b->align > VECTOR_ALIGN ? b->align : VECTOR_ALIGN);
    map_set(&e->arrays, b, array);
    if (map_has(&e->accumulating, b))
        vec_push(e->arena, &e->accumulators, b);
}
