// What an LLVM before 21 wants to hear of an entry as metadata, not as attributes:
//
//   "nvvm.reqntid"="256,1,1"
//     =>   !nvvm.annotations = !{!{ptr @f, !"reqntidx", i32 256, !"reqntidy", i32 1, ...}}
//
// LLVM 20 remembers them by the addresses of the module and the function until it has
// printed PTX, and so takes them for those of a later module at the same address.  So
// only modules that become PTX have them.

#include "nvptx/emit.h"

#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES_SINCE = 21, NUMBERS_MOST = 3 };

// An attribute, and the names of its numbers.
static const struct {
    const char *attribute;
    const char *names[NUMBERS_MOST];
} rows[] = {
    {"nvvm.reqntid", {"reqntidx", "reqntidy", "reqntidz"}},
    {"nvvm.minctasm", {"minctasm"}},
    {"nvvm.maxnreg", {"maxnreg"}},
    {"nvvm.cluster_dim", {"cluster_dim_x", "cluster_dim_y", "cluster_dim_z"}},
};

// Annotate a function with a number.
static void annotate(struct emitter *e, LLVMValueRef f, const char *name,
                     unsigned long number)
{
    LLVMContextRef c = e->context;
    LLVMValueRef value = LLVMConstInt(LLVMInt32TypeInContext(c), number, 0);
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(f),
                               LLVMMDStringInContext2(c, name, strlen(name)),
                               LLVMValueAsMetadata(value)};
    LLVMAddNamedMetadataOperand(
        e->module, "nvvm.annotations",
        LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, parts, 3)));
}

void emit_annotations(struct emitter *e, LLVMValueRef f)
{
    if (LLVM_VERSION_MAJOR >= ATTRIBUTES_SINCE ||
        e->options->form == NVPTX_OPTIMISED)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].attribute;
        unsigned n;
        LLVMAttributeRef found = LLVMGetStringAttributeAtIndex(
            f, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
        const char *text = found ? LLVMGetStringAttributeValue(found, &n) : "";
        for (size_t k = 0; k < NUMBERS_MOST && *text; k++) {
            char *end;
            unsigned long number = strtoul(text, &end, 10);
            if (rows[i].names[k])
                annotate(e, f, rows[i].names[k], number);
            text = *end ? end + 1 : end;
        }
    }
}
