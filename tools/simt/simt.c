// From a kernel to code for this machine, and from arguments to findings.

#include "tools/simt/simt.h"

#include "tools/simt/code.h"

#include <llvm-c/IRReader.h>

#include <string.h>
#include <time.h>

// ---- Compiling ------------------------------------------------------------

// List the launches of the kernel.
static void list_entries(struct simt_code *code)
{
    const struct ir_block *body = &code->kernel->body;
    for (size_t i = 0; i < body->n; i++) {
        struct code_entry e = {.launch = &body->at[i]->u.launch};
        if (body->at[i]->kind != STMT_launch)
            continue;
        e.shared = arena_new(code->arena, struct shared_layout);
        *e.shared = shared_layout(code->arena, e.launch);
        vec_push(code->arena, &code->entries, e);
    }
}

// Emit the kernel's optimised module.
static bool emit(const struct simt_code *code, const struct simt_options *o,
                 struct diag_list *diags, struct buf *out)
{
    if (o->module) {
        buf_text(out, o->module);
        return true;
    }
    struct nvptx_options options = {.target = o->target,
                                    .form = NVPTX_OPTIMISED,
                                    .line_info = true,
                                    .fast_math = o->fast_math,
                                    .no_extra_loads = true,
                                    .opt_level = o->opt_level,
                                    .libdevice = o->libdevice,
                                    .libdevice_size = o->libdevice_size};
    return nvptx_emit(code->arena, &code->kernel, 1, &options, out, diags);
}

// Read the module.  Returns false after reporting.
static bool parse(struct rewriter *w, const struct buf *text)
{
    char *message = NULL;
    w->context = LLVMContextCreate();
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        text->data, text->n, "kernel");
    if (!LLVMParseIRInContext(w->context, bytes, &w->module, &message))
        return true;
    diag_error(w->diags, (struct span){0}, D_llvm_failed, message);
    LLVMDisposeMessage(message);
    LLVMContextDispose(w->context);
    return false;
}

// Take the module to this machine.  Returns false after reporting.
static bool translate(struct rewriter *w)
{
    w->builder = LLVMCreateBuilderInContext(w->context);
    w->pointer = LLVMPointerTypeInContext(w->context, 0);
    w->word = LLVMInt64TypeInContext(w->context);
    w->half = LLVMInt32TypeInContext(w->context);
    bool ok = code_retarget(w);
    LLVMDisposeBuilder(w->builder);
    if (ok)
        return code_compile(w);
    LLVMDisposeModule(w->module);
    LLVMContextDispose(w->context);
    return false;
}

// Find the entries in the compiled code.
static bool find_entries(struct simt_code *code, struct diag_list *diags)
{
    for (size_t i = 0; i < code->entries.n; i++) {
        struct code_entry *e = &code->entries.at[i];
        const char *name = arena_printf(code->arena, "%s.run", e->launch->name);
        void *address = code_symbol(code, name, diags);
        if (!address)
            return false;
        memcpy(&e->run, &address, sizeof e->run);
    }
    return true;
}

// Make the constants of the module known to the machine.
static bool find_constants(struct simt_code *code, struct diag_list *diags)
{
    for (size_t i = 0; i < code->constants.n; i++) {
        const struct code_constant *c = &code->constants.at[i];
        void *at = code_symbol(code, c->name, diags);
        if (!at || !region_add_constant(code->machine, c->name, at, c->bytes))
            return false;
    }
    code->n_regions = code->machine->n_regions;
    code_settle_homes(code);
    if (!code->machine->has_async || async_open(code->machine))
        return true;
    diag_error(diags, (struct span){0}, D_simt_no_memory);
    return false;
}

struct simt_code *simt_compile(struct arena *a, const struct ir_kernel *kernel,
                               const struct simt_options *options,
                               struct diag_list *diags)
{
    struct simt_code *code = arena_new(a, struct simt_code);
    struct rewriter w = {.code = code, .diags = diags};
    struct buf text = {0};
    code->arena = code->names.arena = w.locals.arena = a;
    code->kernel = kernel;
    code->resident = 1;
    code->is_checked = !options->is_unchecked;
    code->is_brief = options->is_brief;
    code->is_covered = options->is_covered;
    code->machine = machine_open();
    list_entries(code);
    if (!code->machine)
        diag_error(diags, (struct span){0}, D_simt_no_memory);
    else if (emit(code, options, diags, &text) && parse(&w, &text) &&
             translate(&w) && find_entries(code, diags) &&
             find_constants(code, diags)) {
        buf_free(&text);
        return code;
    }
    buf_free(&text);
    simt_free(code);
    return NULL;
}

void simt_free(struct simt_code *code)
{
    if (!code)
        return;
    if (code->jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
    if (code->machine)
        machine_close(code->machine);
    code->machine = NULL;
    code->jit = NULL;
}
