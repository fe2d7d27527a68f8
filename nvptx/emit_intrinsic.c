// Calls of LLVM's intrinsics.  Those that this LLVM lacks are functions of the
// same name until the module becomes PTX; then they are the instructions of
// lacking.def, as inline assembly.

#include "nvptx/emit.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

// What a call may be moved across.
enum effect { PURE, MEMORY };

// A row of lacking.def.
struct lacking {
    const char *name;
    unsigned since;
    enum effect effect;
    const char *constraints, *text;
};

static const struct lacking rows[] = {
#define LACKING(name, since, effect, constraints, text)                        \
    {name, since, effect, constraints, text},
#include "nvptx/lacking.def"
};

// Rows of LESS_SAID.
static const struct {
    const char *name;
    unsigned since;
    const char *other;
} less[] = {
#define LESS_SAID(name, since, other) {name, since, other},
#include "nvptx/lacking.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows, OPERANDS_MOST = 4 };

static const char on_float[] = ".f32";

// Return the row of an intrinsic, or of one on f32; NULL if there is none.
static const struct lacking *row_of(const char *name)
{
    for (unsigned i = 0; i < N_ROWS; i++) {
        size_t n = strlen(rows[i].name);
        if (strncmp(rows[i].name, name, n) == 0 &&
            (!name[n] || strcmp(name + n, on_float) == 0))
            return &rows[i];
    }
    return NULL;
}

// Return the type of what an instruction with these constraints gives.
static LLVMTypeRef result_type(LLVMContextRef c, const char *constraints)
{
    if (constraints[0] != '=')
        return LLVMVoidTypeInContext(c);
    switch (constraints[1]) {
    case 'b': return LLVMInt1TypeInContext(c);
    case 'l': return LLVMInt64TypeInContext(c);
    }
    return LLVMFloatTypeInContext(c);
}

// Report an intrinsic that neither this LLVM nor the table has.
static LLVMValueRef report(struct emitter *e, const char *name,
                           LLVMTypeRef overload)
{
    diag_error(e->diags, (struct span){0}, D_intrinsic_unknown, name,
               LLVM_VERSION_STRING);
    return LLVMGetPoison(overload ? overload
                                  : LLVMInt32TypeInContext(e->context));
}

// Set what optimisation may take for granted of a row.
static void describe(LLVMValueRef function, const struct lacking *row)
{
    const unsigned all = LLVMAttributeFunctionIndex;
    emit_attribute(function, all, "nounwind", 0);
    emit_attribute(function, all, "willreturn", 0);
    emit_attribute(function, all, row->effect == PURE ? "memory" : "convergent",
                   0);
}

// Call a function that stands for an intrinsic that this LLVM lacks.
static LLVMValueRef call_lacking(struct emitter *e, const char *name,
                                 LLVMTypeRef overload, LLVMValueRef *args,
                                 unsigned n)
{
    const struct lacking *row = row_of(name);
    LLVMTypeRef types[OPERANDS_MOST];
    if (!row)
        return report(e, name, overload);
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(
        result_type(e->context, row->constraints), types, n, false);
    if (overload)
        name = arena_printf(e->arena, "%s%s", name, on_float);
    LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
    if (!function) {
        function = LLVMAddFunction(e->module, name, type);
        describe(function, row);
    }
    return LLVMBuildCall2(e->builder, type, function, args, n, "");
}

LLVMValueRef emit_intrinsic(struct emitter *e, const char *name,
                            LLVMTypeRef overload, LLVMValueRef *args,
                            unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    size_t overloads = overload != NULL;
    if (!id)
        return call_lacking(e, name, overload, args, n);
    LLVMTypeRef type =
        LLVMIntrinsicGetType(e->context, id, &overload, overloads);
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(e->module, id, &overload, overloads);
    return LLVMBuildCall2(e->builder, type, function, args, n, "");
}

// Put the instruction of a row in the place of a call.
static void replace(struct emitter *e, LLVMValueRef call,
                    const struct lacking *row)
{
    bool orders = row->effect == MEMORY;
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMValueRef args[OPERANDS_MOST];
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < n; i++)
        args[i] = LLVMGetOperand(call, i);
    const char *constraints = arena_printf(
        e->arena, "%s%s%s", row->constraints,
        orders && row->constraints[0] ? "," : "", orders ? "~{memory}" : "");
    LLVMPositionBuilderBefore(e->builder, call);
    LLVMValueRef code = LLVMGetInlineAsm(
        type, row->text, strlen(row->text), constraints, strlen(constraints),
        orders, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef own = LLVMBuildCall2(e->builder, type, code, args, n, "");
    emit_call_attribute(own, "nounwind");
    if (orders)
        emit_call_attribute(own, "convergent");
    LLVMReplaceAllUsesWith(call, own);
    LLVMInstructionEraseFromParent(call);
}

// Let all calls of an intrinsic be of one of which less is said, if there is
// such a row.  Returns whether there is.
static bool say_less(struct emitter *e, LLVMValueRef f, const char *name,
                     unsigned version)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    for (unsigned i = 0; i < sizeof less / sizeof *less; i++) {
        size_t n = strlen(less[i].name);
        const char *other = less[i].other;
        if (less[i].since <= version || strncmp(name, less[i].name, n) != 0 ||
            name[n] != '.')
            continue;
        LLVMReplaceAllUsesWith(
            f, LLVMGetIntrinsicDeclaration(
                   e->module, LLVMLookupIntrinsicID(other, strlen(other)),
                   &type, 1));
        return true;
    }
    return false;
}

// Put the instruction of a row in the place of all calls of an intrinsic.
static void replace_calls(struct emitter *e, LLVMValueRef f,
                          const struct lacking *row)
{
    LLVMUseRef use;
    while ((use = LLVMGetFirstUse(f)))
        replace(e, LLVMGetUser(use), row);
}

void emit_replace_lacking(struct emitter *e, unsigned version)
{
    LLVMValueRef f, next;
    for (f = LLVMGetFirstFunction(e->module); f; f = next) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        const struct lacking *row = row_of(name);
        bool is_lacking = row && row->since > version;
        if (is_lacking)
            replace_calls(e, f, row);
        next = LLVMGetNextFunction(f);
        if (is_lacking || say_less(e, f, name, version))
            LLVMDeleteFunction(f);
    }
}
