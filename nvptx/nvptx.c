// One emission: from kernels to the text of a module.

#include "nvptx/emit.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

// Whether this LLVM remembers annotations of a module that has not become PTX, by its
// address: no other one may get that.
static const bool keeps_annotations = LLVM_VERSION_MAJOR < 21;

// Turn what LLVM reports while it works into diagnostics.
static void hear(LLVMDiagnosticInfoRef info, void *context)
{
    struct emitter *e = context;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    diag_error(e->diags, (struct span){0}, e->blame, text);
    LLVMDisposeMessage(text);
}

// Append the module as LLVM IR.
static void print_module(struct emitter *e, struct buf *out)
{
    char *text = LLVMPrintModuleToString(e->module);
    buf_text(out, text);
    LLVMDisposeMessage(text);
}

// Note the time of a step that began, and begin the next.
static void end_step(const struct emitter *e, const char *name, double *began)
{
    double now = phases_now();
    phases_add(e->options->times, name, now - *began);
    *began = now;
}

// Take the emitted module to the wanted form.
static bool finish_module(struct emitter *e, LLVMTargetMachineRef machine,
                          struct buf *out)
{
    enum nvptx_form form = e->options->form;
    if (form == NVPTX_LLVM) {
        print_module(e, out);
        return true;
    }
    double began = phases_now();
    bool ok = libdevice_link(e) && optimize_module(e, machine);
    end_step(e, "optimise", &began);
    if (ok && form == NVPTX_PTX) {
        emit_replace_lacking(e, LLVM_VERSION_MAJOR);
        ok = ptx_print(e, machine, out);
    } else if (ok)
        print_module(e, out);
    end_step(e, "generate", &began);
    return ok;
}

// Emit the kernels and finish the module.
static bool run(struct emitter *e, const struct ir_kernel *const *kernels,
                size_t n, struct buf *out)
{
    double began = phases_now();
    if (!emit_module(e, kernels, n))
        return false;
    LLVMTargetMachineRef machine = ptx_machine(e);
    end_step(e, "translate", &began);
    if (!machine)
        return false;
    bool ok = finish_module(e, machine, out);
    LLVMDisposeTargetMachine(machine);
    return ok;
}

bool nvptx_emit(struct arena *a, const struct ir_kernel *const *kernels,
                size_t n, const struct nvptx_options *options, struct buf *out,
                struct diag_list *diags)
{
    static const char name[] = "ingot";
    int errors = diags->errors;
    struct buf text = {0};
    nvptx_start();
    struct emitter e = {
        .arena = a, .options = options, .diags = diags, .blame = D_llvm_failed};
    e.context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(e.context, hear, &e);
    e.module = LLVMModuleCreateWithNameInContext(name, e.context);
    e.builder = LLVMCreateBuilderInContext(e.context);
    bool ok = run(&e, kernels, n, &text);
    if (ok && diags->errors == errors)
        buf_bytes(out, text.data, text.n);
    LLVMDisposeBuilder(e.builder);
    if (ok || !keeps_annotations) {
        LLVMDisposeModule(e.module);
        LLVMContextDispose(e.context);
    }
    buf_free(&text);
    return diags->errors == errors;
}
