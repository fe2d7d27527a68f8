// Conversions of numbers of 16 bits that LLVM's machine code calls where the
// processor has no instruction for them.  The compiler's own library has them,
// but not where the process would find them by name.

#include "tools/simt/code.h"

#include <llvm-c/Error.h>
#include <llvm-c/Orc.h>

#include <stdint.h>
#include <string.h>

#define FUNCTION(f) ((uintptr_t)(f))

// How LLVM passes 16 bits of either type.
__extension__ typedef _Float16 half;

// Return a number rounded once to a type of 16 bits.
static half narrowed(enum type_kind kind, double x)
{
    half bits;
    eval_store_float(type_scalar(kind), &bits, x);
    return bits;
}

// The conversions that compiled code calls: f16 and bf16 of f32 and f64, and back.
static half half_of_single(float x)
{
    return narrowed(TYPE_f16, (double)x);
}

static half half_of_double(double x)
{
    return narrowed(TYPE_f16, x);
}

static half brief_of_single(float x)
{
    return narrowed(TYPE_bf16, (double)x);
}

static half brief_of_double(double x)
{
    return narrowed(TYPE_bf16, x);
}

static float single_of_half(half x)
{
    return (float)eval_load_float(type_scalar(TYPE_f16), &x);
}

static double double_of_half(half x)
{
    return eval_load_float(type_scalar(TYPE_f16), &x);
}

// Their names in machine code.
static const struct {
    const char *name;
    uintptr_t address;
} builtins[] = {
    {"__truncsfhf2", FUNCTION(half_of_single)},
    {"__truncdfhf2", FUNCTION(half_of_double)},
    {"__truncsfbf2", FUNCTION(brief_of_single)},
    {"__truncdfbf2", FUNCTION(brief_of_double)},
    {"__extendhfsf2", FUNCTION(single_of_half)},
    {"__extendhfdf2", FUNCTION(double_of_half)},
};
enum { BUILTINS = sizeof builtins / sizeof *builtins };

LLVMErrorRef code_define_builtins(LLVMOrcLLJITRef jit)
{
    LLVMOrcCSymbolMapPair pairs[BUILTINS];
    for (size_t i = 0; i < BUILTINS; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit, builtins[i].name);
        pairs[i].Sym.Address = builtins[i].address;
        pairs[i].Sym.Flags =
            (LLVMJITSymbolFlags){LLVMJITSymbolGenericFlagsExported |
                                     LLVMJITSymbolGenericFlagsCallable,
                                 0};
    }
    return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                                 LLVMOrcAbsoluteSymbols(pairs, BUILTINS));
}
