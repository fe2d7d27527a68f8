// `print`: a call of the device's vprintf.
//
//   print("x={}", x)   =>   p[0] = (double)x; vprintf("x=%.9g\n", p)
//
// The values lie one behind the other in local memory, as C passes them to a
// function with `...`: integers of 32 or 64 bits, floating numbers as f64.

#include "nvptx/emit.h"

#include "ir/printed.h"

enum { WORD_BYTES = 4, VALUES_ALIGN = 8 };

// How a type is printed.
struct print_row {
    enum type_kind as;
    const char *conversion;
};

static const struct print_row rows[TYPE_COUNT] = {
#define PRINT(type, as, conversion) [TYPE_##type] = {TYPE_##as, conversion},
#include "ir/print.def"
#undef PRINT
};

// Return the text of a print as a format of printf.
static const char *format_of(struct emitter *e, const struct ir_stmt *s)
{
    char c;
    uint32_t value = 0;
    enum printed_kind kind;
    struct buf out = {0};
    const char *at = s->u.print.text;
    while ((kind = printed_next(&at, &c)) == PRINTED_CHAR ||
           kind == PRINTED_PLACE) {
        if (kind == PRINTED_PLACE)
            buf_text(&out,
                     rows[s->u.print.values[value++]->type.kind].conversion);
        else if (c == '%')
            buf_text(&out, "%%");
        else
            buf_char(&out, c);
    }
    buf_char(&out, '\n');
    const char *text = arena_copy(e->arena, out.data, out.n);
    buf_free(&out);
    return text;
}

// Return the address of a constant text of the module.
static LLVMValueRef text_constant(struct emitter *e, const char *text)
{
    LLVMValueRef value =
        LLVMConstStringInContext2(e->context, text, strlen(text), false);
    const char *name = arena_printf(e->arena, "%s.print", e->launch->name);
    LLVMValueRef v = LLVMAddGlobalInAddressSpace(
        e->module, LLVMTypeOf(value), name, space_number(SPACE_global));
    LLVMSetInitializer(v, value);
    LLVMSetGlobalConstant(v, true);
    LLVMSetLinkage(v, LLVMInternalLinkage);
    LLVMSetAlignment(v, 1);
    return LLVMConstAddrSpaceCast(v, LLVMPointerTypeInContext(e->context, 0));
}

// Return the function `vprintf`, declared once.
static LLVMValueRef vprintf_of(struct emitter *e, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(e->module, "vprintf");
    if (!f) {
        f = LLVMAddFunction(e->module, "vprintf", type);
        emit_attribute(f, LLVMAttributeFunctionIndex, "nounwind", 0);
    }
    return f;
}

// Store the values of a print one behind the other, each at a multiple of its
// size; returns where.
static LLVMValueRef store_values(struct emitter *e, const struct ir_stmt *s)
{
    uint32_t n = s->u.print.n;
    uint64_t end = 0;
    LLVMTypeRef word = LLVMInt32TypeInContext(e->context);
    uint64_t *offsets = arena_array(e->arena, uint64_t, n);
    LLVMValueRef *values = arena_array(e->arena, LLVMValueRef, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_expr *x = s->u.print.values[i];
        struct type as = type_scalar(rows[x->type.kind].as);
        uint64_t words = type_bytes(as) / WORD_BYTES;
        offsets[i] = (end + words - 1) / words * words;
        end = offsets[i] + words;
        values[i] = emit_convert(e, as, x->type, emit_value(e, x));
    }
    LLVMValueRef place = emit_alloca(e, LLVMArrayType2(word, end));
    LLVMSetAlignment(place, VALUES_ALIGN);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef at = LLVMConstInt(word, offsets[i], false);
        LLVMBuildStore(
            e->builder, values[i],
            LLVMBuildInBoundsGEP2(e->builder, word, place, &at, 1, ""));
    }
    return place;
}

void emit_print(struct emitter *e, const struct ir_stmt *s)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->context, 0);
    LLVMTypeRef type =
        LLVMFunctionType(LLVMInt32TypeInContext(e->context),
                         (LLVMTypeRef[]){pointer, pointer}, 2, false);
    LLVMValueRef values =
        s->u.print.n ? store_values(e, s) : LLVMConstNull(pointer);
    LLVMValueRef args[] = {text_constant(e, format_of(e, s)), values};
    LLVMBuildCall2(e->builder, type, vprintf_of(e, type), args, 2, "");
}
