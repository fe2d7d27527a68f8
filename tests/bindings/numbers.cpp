// Calls a kernel of f16 and one of bf16 with CUDA's types, by those of its headers or, without WITH_CUDA, by others of
// the same names; prints what arrives. With WRONG it must not compile.

#ifdef WITH_CUDA
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include <stdint.h>
struct alignas(2) __half {
    uint16_t x;
};
struct alignas(2) __nv_bfloat16 {
    uint16_t x;
};
#endif

#include "numbers.h"

#include <stdio.h>
#include <type_traits>

static_assert(std::is_trivial<ingot_f16>::value && std::is_standard_layout<ingot_f16>::value, "as in C");
static_assert(sizeof(ingot_f16) == 2 && alignof(ingot_f16) == 2 && sizeof(ingot_f8e4m3) == 1, "as on the GPU");
static_assert(std::is_convertible<ingot_f16, __half>::value, "convertible");
static_assert(std::is_convertible<ingot_bf16, __nv_bfloat16>::value, "convertible");
static_assert(!std::is_convertible<ingot_f16, __nv_bfloat16>::value, "distinct");
static_assert(!std::is_convertible<ingot_f16, ingot_bf16>::value, "distinct");
static_assert(!std::is_convertible<ingot_f16, uint16_t>::value, "no integer");

int main()
{
    const ingot_f16 one = {0x3c00};
    const __half value = one;
    const ingot_f16 again = ingot_number_of(value);
    __half A[8] = {};
    __nv_bfloat16 B[8] = {};
    const __half *C = A;
    enum ingot_status (*scale)(struct ingot_module *, CUstream, int64_t, ingot_f16, const ingot_f16 *, ingot_bf16 *,
                               void *) = numbers;
    printf("%x %d\n", again.bits, (const void *)ingot_array_of(C) == (const void *)A);
    (void)sizeof(scale(nullptr, nullptr, 8, again, ingot_array_of(C), ingot_array_of(B), nullptr));
#ifdef WRONG
    (void)sizeof(scale(nullptr, nullptr, 8, again, ingot_array_of(B), ingot_array_of(B), nullptr));
#endif
    return 0;
}
