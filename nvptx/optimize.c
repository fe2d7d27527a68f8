// Optimisation of the module, and what must hold afterwards.

#include "nvptx/emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <llvm/Config/llvm-config.h>
#include <string.h>

// Levels 1 and 2 do not repeat what the kernel's schedule has decided: they
// remove variables and redundancy, move what loops do not change, and unroll
// small loops.
#if LLVM_VERSION_MAJOR >= 21
#define REFLECT "nvvm-reflect"
#else
#define REFLECT "function(nvvm-reflect)"
#endif
#define LINKED  REFLECT ",always-inline,globaldce,"
#define COMBINE "instcombine<no-verify-fixpoint>,simplifycfg"
#define CLEAN   "nvvm-intr-range,sroa,early-cse<memssa>," COMBINE
#define UNROLL                                                                 \
    CLEAN ",loop-mssa(licm),loop(indvars,loop-unroll-full),sroa,"              \
          "loop-unroll<O3>,gvn," COMBINE
static const char *const pipelines[] = {
    LINKED "verify",
    LINKED "function(" CLEAN "),globaldce",
    LINKED "function(" UNROLL "),globaldce",
    "default<O3>",
};

// What levels 1 and 2 do to entries one by one, where one of them has more
// basic blocks than this: such a one goes without the passes whose time grows
// faster than the entry.
enum { BLOCKS_MOST = 2048 };
static const char *const entry_pipelines[] = {NULL, CLEAN, UNROLL};
static const char long_pipeline[] =
    "sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm),early-cse<memssa>";

// LLVM 21 keeps a vector of two f32 in one register of 64 bits.  Accumulators
// that a loop carries as such are taken apart and put together around each
// matrix instruction, and ptxas runs these one by one.
static const bool has_pairs = LLVM_VERSION_MAJOR < 22;
static const char no_pairs[] = "function(scalarizer<min-bits=32>)";

// Return whether a value is one of the barriers, which not every LLVM has as
// intrinsics.
static bool is_barrier(LLVMValueRef called)
{
    size_t n;
    const char *name =
        LLVMIsAFunction(called) ? LLVMGetValueName2(called, &n) : "";
    return strcmp(name, "llvm.nvvm.barrier.cta.sync.aligned.all") == 0 ||
           strcmp(name, "llvm.nvvm.barrier.cluster.wait.aligned") == 0;
}

// Return how many barriers a function has.
static long long count_barriers(LLVMValueRef function)
{
    long long n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
         b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
             i = LLVMGetNextInstruction(i))
            n += LLVMIsACallInst(i) && is_barrier(LLVMGetCalledValue(i));
    }
    return n;
}

// Report what LLVM's verifier says about the module.
// Returns whether it found nothing.
static bool verify(struct emitter *e)
{
    char *text = NULL;
    bool wrong = LLVMVerifyModule(e->module, LLVMReturnStatusAction, &text);
    if (wrong)
        diag_error(e->diags, (struct span){0}, D_bad_module, text);
    LLVMDisposeMessage(text);
    return !wrong;
}

// Run a pipeline, on a function alone if one is given.  Returns false after
// reporting an error.
static bool run_passes(struct emitter *e, LLVMTargetMachineRef machine,
                       LLVMValueRef function, const char *pipeline)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error =
        function ? LLVMRunPassesOnFunction(function, pipeline, machine, options)
                 : LLVMRunPasses(e->module, pipeline, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *text = LLVMGetErrorMessage(error);
    diag_error(e->diags, (struct span){0}, D_llvm_failed, text);
    LLVMDisposeErrorMessage(text);
    return false;
}

// Return the barriers of each function in the order of the module, ended by
// -1; library functions and declarations have none.
static long long *barriers_of(struct emitter *e)
{
    size_t n = 0;
    LLVMValueRef f;
    for (f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f))
        n++;
    long long *counts = arena_array(e->arena, long long, n + 1);
    n = 0;
    for (f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetFunctionCallConv(f) == LLVMPTXKernelCallConv)
            counts[n++] = count_barriers(f);
    }
    return counts;
}

// Check that no entry has more barriers than it had.
static bool check_barriers(struct emitter *e, const long long *before)
{
    const long long *after = barriers_of(e);
    size_t n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f;
         f = LLVMGetNextFunction(f)) {
        size_t length;
        if (LLVMGetFunctionCallConv(f) != LLVMPTXKernelCallConv)
            continue;
        if (after[n] > before[n]) {
            diag_error(e->diags, (struct span){0}, D_barrier_multiplied,
                       before[n], LLVMGetValueName2(f, &length), after[n]);
            return false;
        }
        n++;
    }
    return true;
}

// Return whether an entry has very many basic blocks.
static bool is_long(LLVMValueRef function)
{
    return LLVMCountBasicBlocks(function) > BLOCKS_MOST;
}

// Return whether an entry of the module is long.
static bool has_long(struct emitter *e)
{
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f;
         f = LLVMGetNextFunction(f))
        any |= is_long(f);
    return any;
}

// Optimise the functions of a module with a long entry at level 1 or 2.
// Returns false after reporting an error.
static bool run_apart(struct emitter *e, LLVMTargetMachineRef machine,
                      unsigned level)
{
    bool good = run_passes(e, machine, NULL, pipelines[0]);
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); good && f;
         f = LLVMGetNextFunction(f)) {
        if (LLVMCountBasicBlocks(f))
            good =
                run_passes(e, machine, f,
                           is_long(f) ? long_pipeline : entry_pipelines[level]);
    }
    return good && run_passes(e, machine, NULL, "globaldce");
}

bool optimize_module(struct emitter *e, LLVMTargetMachineRef machine)
{
    unsigned most = sizeof pipelines / sizeof *pipelines - 1;
    unsigned level =
        e->options->opt_level < most ? e->options->opt_level : most;
    if (!verify(e))
        return false;
    const long long *before = barriers_of(e);
    bool apart = level > 0 && level < most && has_long(e);
    if (!(apart ? run_apart(e, machine, level)
                : run_passes(e, machine, NULL, pipelines[level])))
        return false;
    if (has_pairs && !run_passes(e, machine, NULL, no_pairs))
        return false;
    return verify(e) && check_barriers(e, before);
}
