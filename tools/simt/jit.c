// Machine code for this machine, by LLVM's JIT.

#include "tools/simt/code.h"

#include <llvm-c/Error.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <math.h>

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
        machine = LLVMCreateTargetMachine(target, triple, cpu, features,
                                          codegen_level(w->code), LLVMRelocPIC,
                                          LLVMCodeModelJITDefault);
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
