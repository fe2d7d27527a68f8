// Writes an object file with one array, by LLVM's code generator for the host.
//
//   @gemm_fatbin = hidden constant [N x i8] c"...", align 16
//
// It holds no code, so any processor of the triple will do; only what linkers
// compare is said: the ABI, where its names are not all alike.

#include "nvptx/package/object.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

enum { ALIGN = 16 };

// What the files of an architecture are linked with says of their ABI.
struct abi {
    const char *triple; // its beginning
    const char *features, *name;
};

static const struct abi abis[] = {
    {"riscv64", "+d", "lp64d"},
    {"riscv32", "+d", "ilp32d"},
    {"loongarch64", "+d", "lp64d"},
    {"", "", ""},
};

// The targets that LLVM was built with, of which this program may hold some.
#define LLVM_TARGET(name)                                                      \
    __attribute__((weak)) void LLVMInitialize##name##TargetInfo(void);         \
    __attribute__((weak)) void LLVMInitialize##name##Target(void);             \
    __attribute__((weak)) void LLVMInitialize##name##TargetMC(void);
#include <llvm/Config/Targets.def>
#define LLVM_ASM_PRINTER(name)                                                 \
    __attribute__((weak)) void LLVMInitialize##name##AsmPrinter(void);
#include <llvm/Config/AsmPrinters.def>

// Call a function if the program has it.
static void call(void (*function)(void))
{
    if (function)
        function();
}

// Make the targets known to LLVM.
static void start(void)
{
#define LLVM_TARGET(name)                                                      \
    call(LLVMInitialize##name##TargetInfo);                                    \
    call(LLVMInitialize##name##Target);                                        \
    call(LLVMInitialize##name##TargetMC);
#include <llvm/Config/Targets.def>
#define LLVM_ASM_PRINTER(name) call(LLVMInitialize##name##AsmPrinter);
#include <llvm/Config/AsmPrinters.def>
}

// Return the ABI of a triple.
static const struct abi *abi_of(const char *triple)
{
    const struct abi *abi = abis;
    while (strncmp(abi->triple, triple, strlen(abi->triple)) != 0)
        abi++;
    return abi;
}

// Return whether LLVM writes object files for a target that programs run on.
static bool is_host(LLVMTargetRef target)
{
    static const char *const others[] = {"amdgcn", "r600", "spirv", "bpf"};
    const char *name = LLVMGetTargetName(target);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return LLVMTargetHasTargetMachine(target) &&
           LLVMTargetHasAsmBackend(target);
}

// Return the target of a triple, or NULL.
static LLVMTargetRef target_of(const char *triple)
{
    char *text = NULL;
    LLVMTargetRef target = NULL;
    start();
    if (LLVMGetTargetFromTriple(triple, &target, &text)) {
        LLVMDisposeMessage(text);
        return NULL;
    }
    return is_host(target) ? target : NULL;
}

const char *object_refusal(struct arena *a, const char *triple)
{
    const char *names = "";
    if (target_of(triple))
        return NULL;
    for (LLVMTargetRef t = LLVMGetFirstTarget(); t; t = LLVMGetNextTarget(t))
        if (is_host(t))
            names = arena_printf(a, "%s%s%s", names, *names ? ", " : "",
                                 LLVMGetTargetName(t));
    return arena_printf(a, "LLVM has no target for `%s`; here it has %s",
                        triple, names);
}

const char *object_host(struct arena *a)
{
    char *text = LLVMGetDefaultTargetTriple();
    const char *triple = arena_copy(a, text, strlen(text));
    LLVMDisposeMessage(text);
    return triple;
}

// Return the target machine of a triple for which there is a target.
static LLVMTargetMachineRef machine_of(const char *triple)
{
    const struct abi *abi = abi_of(triple);
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetFeatures(options, abi->features);
    LLVMTargetMachineOptionsSetABI(options, abi->name);
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachineWithOptions(target_of(triple), triple, options);
    LLVMDisposeTargetMachineOptions(options);
    return machine;
}

// Return a module with the array.
static LLVMModuleRef module_of(LLVMContextRef context, const char *name,
                               const struct buf *fatbin)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("", context);
    LLVMValueRef bytes =
        LLVMConstStringInContext2(context, fatbin->data, fatbin->n, true);
    LLVMValueRef array = LLVMAddGlobal(module, LLVMTypeOf(bytes), name);
    LLVMSetInitializer(array, bytes);
    LLVMSetGlobalConstant(array, true);
    LLVMSetAlignment(array, ALIGN);
    LLVMSetVisibility(array, LLVMHiddenVisibility);
    return module;
}

bool object_write(struct arena *a, const char *triple, const char *name,
                  const struct buf *fatbin, struct diag_list *diags,
                  struct buf *out)
{
    char *text = NULL;
    LLVMMemoryBufferRef object;
    LLVMTargetMachineRef machine = machine_of(triple);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = module_of(context, name, fatbin);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(module, triple);
    LLVMSetModuleDataLayout(module, layout);
    bool ok = !LLVMTargetMachineEmitToMemoryBuffer(
        machine, module, LLVMObjectFile, &text, &object);
    if (ok) {
        buf_bytes(out, LLVMGetBufferStart(object), LLVMGetBufferSize(object));
        LLVMDisposeMemoryBuffer(object);
    } else {
        diag_error(diags, (struct span){0}, D_llvm_failed,
                   arena_printf(a, "%s", text));
        LLVMDisposeMessage(text);
    }
    LLVMDisposeTargetData(layout);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    LLVMDisposeTargetMachine(machine);
    return ok;
}
