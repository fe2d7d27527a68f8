// Machine code for this machine, by LLVM's JIT.

#include "tools/simt/code.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Config/llvm-config.h>

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

// Processors that code is for: the first of which this machine has all, so that
// no verdict depends on what else it has.  What the last two lack is called,
// with the same results.
static const struct {
    const char *architecture, *cpu;
    const char *needs[4];
} processors[] = {{"x86_64", "x86-64-v3", {"+avx2", "+fma", "+f16c", "+bmi2"}},
                  {"x86_64", "x86-64-v2", {"+sse4.2", "+popcnt"}},
                  {"x86_64", "x86-64", {NULL}},
                  {"", "generic", {NULL}}};

// Return the processor for a list of features.
static const char *processor_of(const char *triple, const char *features)
{
    size_t n = sizeof processors / sizeof *processors;
    for (size_t i = 0; i < n; i++) {
        const char *architecture = processors[i].architecture;
        bool is_it = strncmp(triple, architecture, strlen(architecture)) == 0;
        for (int k = 0; k < 4 && processors[i].needs[k]; k++)
            is_it &= lists(features, processors[i].needs[k]);
        if (is_it)
            return processors[i].cpu;
    }
    return "generic";
}

// Return the features that code which is to come quickly uses beyond what every
// machine of the architecture has: LLVM has slow code for what they do.
static const char *brief_features(const char *cpu)
{
    return strcmp(cpu, "x86-64-v3") == 0 ? "+fma,+f16c" : "";
}

// Return the target machine of this machine, or NULL after reporting.
static LLVMTargetMachineRef host_machine(struct rewriter *w)
{
    char *triple = LLVMGetDefaultTargetTriple(), *text = NULL;
    char *features = LLVMGetHostCPUFeatures();
    const char *cpu = processor_of(triple, features);
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (LLVMGetTargetFromTriple(triple, &target, &text)) {
        diag_error(w->diags, (struct span){0}, D_llvm_failed, text);
        LLVMDisposeMessage(text);
    } else {
        bool is_brief = w->code->is_brief;
        machine = LLVMCreateTargetMachine(target, triple, is_brief ? "" : cpu,
                                          is_brief ? brief_features(cpu) : "",
                                          codegen_level(w->code), LLVMRelocPIC,
                                          LLVMCodeModelJITDefault);
        LLVMSetTarget(w->module, triple);
    }
    LLVMDisposeMessage(triple);
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
    if (failed(code_define_builtins(jit), w->diags))
        return false;
    if (failed(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                   &generator, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL),
               w->diags))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
    return true;
}

// Return the module as the JIT takes it, with its context.
static LLVMOrcThreadSafeModuleRef hand_over(struct rewriter *w)
{
#if LLVM_VERSION_MAJOR >= 21
    LLVMOrcThreadSafeContextRef context =
        LLVMOrcCreateNewThreadSafeContextFromLLVMContext(w->context);
    LLVMModuleRef own = w->module;
#else // makes contexts alone: the module goes to one as bitcode
    LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(w->module);
    LLVMModuleRef own;
    LLVMParseBitcodeInContext2(LLVMOrcThreadSafeContextGetContext(context),
                               bitcode, &own);
    LLVMDisposeMemoryBuffer(bitcode);
    LLVMDisposeModule(w->module);
    LLVMContextDispose(w->context);
#endif
    LLVMOrcThreadSafeModuleRef module =
        LLVMOrcCreateNewThreadSafeModule(own, context);
    LLVMOrcDisposeThreadSafeContext(context);
    return module;
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
    LLVMOrcThreadSafeModuleRef module = hand_over(w);
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
