// Linking the functions of libdevice that a module calls.
//
// The bitcode is read lazily, and all of its functions are made `linkonce`:
// the linker then takes only those that are called, so the other hundreds are
// never even parsed.

#include "nvptx/emit.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

#include <string.h>

// Return the module of the bitcode, or NULL after an error.
static LLVMModuleRef read_bitcode(struct emitter *e)
{
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRange(
        e->options->libdevice, e->options->libdevice_size, "libdevice", false);
    LLVMModuleRef library;
    if (LLVMGetBitcodeModuleInContext2(e->context, bytes, &library)) {
        LLVMDisposeMemoryBuffer(bytes);
        return NULL;
    }
    return library;
}

// Return whether a function has the name of one of libdevice.
static bool is_library_name(LLVMValueRef function)
{
    size_t n;
    return strncmp(LLVMGetValueName2(function, &n), "__nv_", 5) == 0;
}

// Give every function of the library a linkage under which it is linked only
// where it is called.
static void make_optional(LLVMModuleRef library)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f;
         f = LLVMGetNextFunction(f)) {
        if (LLVMGetLinkage(f) == LLVMExternalLinkage && is_library_name(f))
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    }
}

// Make what was linked private to the module, so that it goes away once it
// is inlined.  Returns false after reporting a function that was not there.
static bool make_internal(struct emitter *e)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f;
         f = LLVMGetNextFunction(f)) {
        if (!is_library_name(f))
            continue;
        if (LLVMIsDeclaration(f)) {
            diag_error(e->diags, (struct span){0}, e->blame,
                       "it lacks a function that the kernel calls");
            return false;
        }
        LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    return true;
}

// Link what is called.  Errors that LLVM meets are reported by its handler.
static bool link_called(struct emitter *e)
{
    LLVMModuleRef library = read_bitcode(e);
    if (!library)
        return false;
    make_optional(library);
    LLVMSetTarget(library, LLVMGetTarget(e->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(e->module));
    return !LLVMLinkModules2(e->module, library) && make_internal(e);
}

bool libdevice_link(struct emitter *e)
{
    if (!e->libdevice)
        return true;
    e->blame = D_bad_libdevice;
    bool ok = link_called(e);
    e->blame = D_llvm_failed;
    return ok;
}
