// The target machine, and PTX from a module.

#include "nvptx/emit.h"

#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

static const char triple[] = "nvptx64-nvidia-cuda";

void nvptx_start(void)
{
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

// The first PTX version, times ten, that knows of inlined places.
enum { INLINED_LEAST = 72 };

// Return the PTX version, times ten.
static unsigned version_of(const struct emitter *e)
{
    unsigned least = e->options->target->ptx;
    return e->ptx > least ? e->ptx : least;
}

// Return the features to ask for beyond the architecture: a newer PTX version
// only where an instruction needs it.
static const char *features(struct emitter *e)
{
    unsigned version = version_of(e);
    if (version == e->options->target->ptx)
        return "";
    return arena_printf(e->arena, "+ptx%u", version);
}

// Set the module's triple and data layout.
static void describe_module(struct emitter *e, LLVMTargetMachineRef machine)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(e->module, triple);
    LLVMSetModuleDataLayout(e->module, layout);
    LLVMDisposeTargetData(layout);
}

// Report an architecture that came after this LLVM.
static void report_unknown(struct emitter *e)
{
    const struct nvptx_target *target = e->options->target;
    diag_error(e->diags, (struct span){0}, D_target_unknown_to_llvm,
               target->name, LLVM_VERSION_STRING);
    diag_help(e->diags, "build Ingot with LLVM %u, or leave %s out of --arch",
              target->llvm, target->name);
}

LLVMTargetMachineRef ptx_machine(struct emitter *e)
{
    static const LLVMCodeGenOptLevel levels[] = {
        LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
        LLVMCodeGenLevelAggressive};
    unsigned level = e->options->opt_level;
    LLVMTargetRef target;
    char *text = NULL;
    if (!nvptx_target_is_known(e->options->target)) {
        report_unknown(e);
        return NULL;
    }
    if (LLVMGetTargetFromTriple(triple, &target, &text)) {
        diag_error(e->diags, (struct span){0}, D_llvm_failed, text);
        LLVMDisposeMessage(text);
        return NULL;
    }
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(options, e->options->target->name);
    LLVMTargetMachineOptionsSetFeatures(options, features(e));
    LLVMTargetMachineOptionsSetCodeGenOptLevel(options,
                                               levels[level < 3 ? level : 3]);
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachineWithOptions(target, triple, options);
    LLVMDisposeTargetMachineOptions(options);
    describe_module(e, machine);
    return machine;
}

bool ptx_print(struct emitter *e, LLVMTargetMachineRef machine, struct buf *out)
{
    char *text = NULL;
    LLVMMemoryBufferRef ptx;
    bool inlined = e->options->line_info && version_of(e) >= INLINED_LEAST;
    LLVMSetTargetMachineAsmVerbosity(machine, inlined);
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, e->module,
                                            LLVMAssemblyFile, &text, &ptx)) {
        diag_error(e->diags, (struct span){0}, D_llvm_failed, text);
        LLVMDisposeMessage(text);
        return false;
    }
    const char *bytes = LLVMGetBufferStart(ptx);
    if (inlined)
        ptx_inlined(bytes, out);
    else
        buf_bytes(out, bytes, LLVMGetBufferSize(ptx));
    LLVMDisposeMemoryBuffer(ptx);
    return true;
}
