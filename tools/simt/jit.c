// Machine code for this machine, by LLVM's JIT.

#include "tools/simt/code.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <math.h>
#include <string.h>

// Report what LLVM says, if it says anything.  Returns whether it did.
static bool failed(LLVMErrorRef error, struct diag_list *diags)
{
    if (!error)
        return false;
    char *text = LLVMGetErrorMessage(error);
    diag_error(diags, (struct span){0}, D_llvm_failed, text);
    LLVMDisposeErrorMessage(text);
    return true;
}

// Return how well the machine code is to be.
static LLVMCodeGenOptLevel codegen_level(const struct simt_code *code)
{
    if (code->is_brief)
        return LLVMCodeGenLevelNone;
    return code->is_checked ? LLVMCodeGenLevelLess : LLVMCodeGenLevelDefault;
}

// Return whether a list, `+a,-b`, has a feature.
static bool lists(const char *list, const char *feature)
{
    size_t n = strlen(feature);
    for (const char *at = list; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (length == n && memcmp(at, feature, n) == 0)
            return true;
        at += length;
    }
    return false;
}

// Return, of a list of features, those that code which is to come quickly uses
// beyond what every machine of the architecture has: LLVM has no other code for
// numbers of 16 bits, or a slow one.
static const char *brief_features(struct arena *a, const char *list)
{
    static const char *const used[] = {"+fma",        "+f16c",
                                       "+avx512fp16", "+avx512bf16",
                                       "+avx512vl",   "+avxneconvert"};
    const char *out = "";
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        if (lists(list, used[i]))
            out = arena_printf(a, "%s%s%s", out, *out ? "," : "", used[i]);
    }
    return out;
}

// Return the target machine of this machine, or NULL after reporting.
static LLVMTargetMachineRef host_machine(struct rewriter *w)
{
    char *triple = LLVMGetDefaultTargetTriple(), *text = NULL;
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (LLVMGetTargetFromTriple(triple, &target, &text)) {
        diag_error(w->diags, (struct span){0}, D_llvm_failed, text);
        LLVMDisposeMessage(text);
    } else {
        bool is_brief = w->code->is_brief;
        machine = LLVMCreateTargetMachine(
            target, triple, is_brief ? "" : cpu,
            is_brief ? brief_features(w->code->arena, features) : features,
            codegen_level(w->code), LLVMRelocPIC, LLVMCodeModelJITDefault);
        LLVMSetTarget(w->module, triple);
    }
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return machine;
}

// Give the module the data layout of a machine.
static void set_layout(struct rewriter *w, LLVMTargetMachineRef machine)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(w->module, layout);
    LLVMDisposeTargetData(layout);
}

// Make the JIT, which takes the machine.  Returns false after reporting.
static bool make_jit(struct rewriter *w, LLVMTargetMachineRef machine)
{
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder,
        LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    return !failed(LLVMOrcCreateLLJIT(&w->code->jit, builder), w->diags);
}

// Let code find the functions of the C library.  Returns false after
// reporting.
static bool find_library(struct rewriter *w)
{
    LLVMOrcLLJITRef jit = w->code->jit;
    LLVMOrcDefinitionGeneratorRef generator;
    if (failed(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                   &generator, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL),
               w->diags))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
    return true;
}

bool code_compile(struct rewriter *w)
{
    LLVMTargetMachineRef machine = host_machine(w);
    bool ok = machine != NULL;
    LLVMStripModuleDebugInfo(w->module);
    if (ok) {
        set_layout(w, machine);
        ok = make_jit(w, machine) && find_library(w);
    }
    LLVMOrcThreadSafeContextRef context =
        LLVMOrcCreateNewThreadSafeContextFromLLVMContext(w->context);
    LLVMOrcThreadSafeModuleRef module =
        LLVMOrcCreateNewThreadSafeModule(w->module, context);
    LLVMOrcDisposeThreadSafeContext(context);
    if (!ok) {
        LLVMOrcDisposeThreadSafeModule(module);
        return false;
    }
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(w->code->jit);
    return !failed(LLVMOrcLLJITAddLLVMIRModule(w->code->jit, library, module),
                   w->diags);
}

void *code_symbol(struct simt_code *code, const char *name,
                  struct diag_list *diags)
{
    LLVMOrcExecutorAddress address = 0;
    if (failed(LLVMOrcLLJITLookup(code->jit, &address, name), diags))
        return NULL;
    return (void *)(uintptr_t)address;
}
