// The error function in f32, to 2 units of the last place:
//
//   |x| < 1:  x + x * near(x * x)
//   else:     1 - 2 ^ far(|x|), with the sign of x
//
// Both are computed and one is selected: that takes fewer instructions and
// registers than to select coefficients, where many are computed at a time.

#include "nvptx/emit.h"

enum { TERMS = 6 };

// The polynomials with the least greatest error, on 0 .. 1 and on 1 .. 4.
static const double near_terms[TERMS] = {
    0.128379122574,   -0.376123264193,  0.112801811937,
    -0.0267113271848, 0.00491755784139, -0.000563141274464,
};
static const double far_terms[TERMS] = {
    -0.00377864308017, -1.61238672686,  -0.943868833226,
    -0.128110923575,   0.0213978187612, -0.00166951370055,
};

// Return a number of type f32.
static LLVMValueRef number(struct emitter *e, double value)
{
    return emit_float(e, type_scalar(TYPE_f32), value);
}

// Return a * b + c, rounded once.
static LLVMValueRef fused(struct emitter *e, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef c)
{
    LLVMTypeRef f32 = LLVMFloatTypeInContext(e->context);
    return emit_intrinsic(e, "llvm.fma", f32, (LLVMValueRef[]){a, b, c}, 3);
}

// Return a polynomial at x.
static LLVMValueRef polynomial(struct emitter *e, const double terms[TERMS],
                               LLVMValueRef x)
{
    LLVMValueRef sum = number(e, terms[TERMS - 1]);
    for (int i = TERMS - 2; i >= 0; i--)
        sum = fused(e, sum, x, number(e, terms[i]));
    return sum;
}

LLVMValueRef emit_erf(struct emitter *e, LLVMValueRef x)
{
    LLVMTypeRef f32 = LLVMFloatTypeInContext(e->context);
    LLVMValueRef square = LLVMBuildFMul(e->builder, x, x, "");
    LLVMValueRef size = emit_intrinsic(e, "llvm.fabs", f32, &x, 1);
    LLVMValueRef near = fused(e, polynomial(e, near_terms, square), x, x);
    LLVMValueRef power = polynomial(e, far_terms, size);
    LLVMValueRef rest =
        emit_intrinsic(e, "llvm.nvvm.ex2.approx.ftz", f32, &power, 1);
    LLVMValueRef far = LLVMBuildFSub(e->builder, number(e, 1), rest, "");
    far = emit_intrinsic(e, "llvm.copysign", f32, (LLVMValueRef[]){far, x}, 2);
    LLVMValueRef is_far =
        LLVMBuildFCmp(e->builder, LLVMRealOGE, size, number(e, 1), "");
    return LLVMBuildSelect(e->builder, is_far, far, near, "");
}
