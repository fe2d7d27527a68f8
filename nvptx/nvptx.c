// One emission: from kernels to the text of a module.

#include "nvptx/emit.h"

#include <string.h>

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

// Take the emitted module to the wanted form.
static bool finish_module(struct emitter *e, LLVMTargetMachineRef machine,
                          struct buf *out)
{
    enum nvptx_form form = e->options->form;
    if (form == NVPTX_LLVM) {
        print_module(e, out);
        return true;
    }
    if (!libdevice_link(e) || !optimize_module(e, machine))
        return false;
    if (form == NVPTX_PTX)
        return ptx_print(e, machine, out);
    print_module(e, out);
    return true;
}

// Emit the kernels and finish the module.
static bool run(struct emitter *e, const struct ir_kernel *const *kernels,
                size_t n, struct buf *out)
{
    if (!emit_module(e, kernels, n))
        return false;
    LLVMTargetMachineRef machine = ptx_machine(e);
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
    if (run(&e, kernels, n, &text) && diags->errors == errors)
        buf_bytes(out, text.data, text.n);
    LLVMDisposeBuilder(e.builder);
    LLVMDisposeModule(e.module);
    LLVMContextDispose(e.context);
    buf_free(&text);
    return diags->errors == errors;
}
