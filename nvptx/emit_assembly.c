// Registers from local arrays, and inline assembly that uses them.

#include "nvptx/emit_assembly.h"

enum { WORD_BITS = 32 };

struct registers registers_of(LLVMValueRef first, struct type t, uint32_t n)
{
    unsigned packed = type_bits(t) > WORD_BITS ? 1 : WORD_BITS / type_bits(t);
    return (struct registers){first, t, n / packed, packed};
}

LLVMTypeRef register_type(struct emitter *e, const struct registers *r)
{
    bool is_float = r->type.kind == TYPE_f32 || r->type.kind == TYPE_f64;
    return emit_type(e, is_float ? r->type : type_scalar(TYPE_u32));
}

// Return the type of what is in memory for a register.
static LLVMTypeRef held_type(struct emitter *e, const struct registers *r)
{
    struct type t = r->type;
    t.lanes = (uint8_t)r->packed;
    return emit_memory_type(e, t);
}

// Return the address of the elements of a register.
static LLVMValueRef register_address(struct emitter *e,
                                     const struct registers *r, unsigned i)
{
    LLVMValueRef at =
        emit_int(e, type_scalar(TYPE_i64), (int64_t)i * r->packed);
    return LLVMBuildInBoundsGEP2(e->builder, emit_memory_type(e, r->type),
                                 r->first, &at, 1, "");
}

// Load a register.
static LLVMValueRef load_register(struct emitter *e, const struct registers *r,
                                  unsigned i)
{
    LLVMValueRef v = LLVMBuildLoad2(e->builder, held_type(e, r),
                                    register_address(e, r, i), "");
    LLVMSetAlignment(v, (unsigned)type_bytes(r->type));
    return LLVMBuildBitCast(e->builder, v, register_type(e, r), "");
}

// Store a register.
static void store_register(struct emitter *e, const struct registers *r,
                           unsigned i, LLVMValueRef v)
{
    v = LLVMBuildBitCast(e->builder, v, held_type(e, r), "");
    LLVMValueRef store =
        LLVMBuildStore(e->builder, v, register_address(e, r, i));
    LLVMSetAlignment(store, (unsigned)type_bytes(r->type));
}

// Return the constraint of an array's registers.
static char constraint(const struct registers *r)
{
    return r->type.kind == TYPE_f32   ? 'f'
           : r->type.kind == TYPE_f64 ? 'd'
                                      : 'r';
}

void assembly_results(struct emitter *e, struct assembly *a,
                      const struct registers *r)
{
    for (unsigned i = 0; i < r->n; i++) {
        buf_printf(&a->results, "%s=%c", a->n_results ? "," : "",
                   constraint(r));
        a->type[a->n_results++] = register_type(e, r);
    }
}

void assembly_input(struct assembly *a, const char *how, LLVMValueRef v)
{
    buf_printf(&a->inputs, "%s%s", a->n_inputs ? "," : "", how);
    a->in[a->n_inputs++] = v;
}

void assembly_inputs(struct emitter *e, struct assembly *a,
                     const struct registers *r, int first)
{
    for (unsigned i = 0; i < r->n; i++) {
        char own[2] = {constraint(r), 0};
        const char *how =
            first < 0 ? own : arena_printf(e->arena, "%u", (unsigned)first + i);
        assembly_input(a, how, load_register(e, r, i));
    }
}

void assembly_names(struct assembly *a, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(&a->text, "%s$%u", i ? "," : "{", first + i);
    buf_char(&a->text, '}');
}

// Append constraints behind others, if there are any.
static void append_constraints(struct buf *all, const char *more)
{
    if (more)
        buf_printf(all, "%s%s", all->n ? "," : "", more);
}

LLVMValueRef assembly_build(struct emitter *e, struct assembly *a,
                            bool accesses_memory)
{
    struct buf all = {0};
    LLVMTypeRef types[INPUTS_MOST];
    LLVMTypeRef result =
        a->n_results == 0 ? LLVMVoidTypeInContext(e->context)
        : a->n_results == 1
            ? a->type[0]
            : LLVMStructTypeInContext(e->context, a->type, a->n_results, false);
    for (unsigned i = 0; i < a->n_inputs; i++)
        types[i] = LLVMTypeOf(a->in[i]);
    append_constraints(&all, a->results.data);
    append_constraints(&all, a->inputs.data);
    append_constraints(&all, accesses_memory ? "~{memory}" : NULL);
    LLVMTypeRef type = LLVMFunctionType(result, types, a->n_inputs, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, a->text.data, a->text.n, all.data, all.n, true,
                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call =
        LLVMBuildCall2(e->builder, type, code, a->in, a->n_inputs, "");
    emit_call_attribute(call, "convergent");
    emit_call_attribute(call, "nounwind");
    buf_free(&a->text);
    buf_free(&a->results);
    buf_free(&a->inputs);
    buf_free(&all);
    return call;
}

void assembly_store(struct emitter *e, const struct registers *r,
                    LLVMValueRef call, unsigned first)
{
    bool is_one = LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMStructTypeKind;
    for (unsigned i = 0; i < r->n; i++)
        store_register(
            e, r, i,
            is_one ? call
                   : LLVMBuildExtractValue(e->builder, call, first + i, ""));
}
