// Functions on numbers that take the place of NVPTX's: math.def.

#include "ir/arith.h"
#include "ir/build.h"
#include "tools/simt/code.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION(f) ((void (*)(void))(f))

// ---- Parts of the expressions ---------------------------------------------

// Return 0 with the sign of a subnormal number, others as they are.
static float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

// Return the number whose two halves these are.
static double joined(uint32_t low, uint32_t high)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

// 128 bits as LLVM returns `{ i64, i64 }`.
struct pair {
    uint64_t low, high;
};

// Return 128 bits in two halves.
static struct pair pair_of(wide x)
{
    return (struct pair){(uint64_t)x, (uint64_t)(x >> 64)};
}

// And back.
static wide wide_of(uint64_t low, uint64_t high)
{
    return (wide)high << 64 | low;
}

// Return the bits of a number.
static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Return bytes of two words in the order that `choice` says, PTX ISA "prmt".
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t choice)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t which = choice >> (4 * i);
        uint32_t byte = (uint32_t)(both >> (8 * (which & 7))) & 0xff;
        if (which & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}

// Return the sum of the products of the bytes of two words.
static uint32_t dot_4(enum type_kind s, uint32_t a, enum type_kind t,
                      uint32_t b)
{
    int64_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += ir_wrap_int(type_scalar(s), (int64_t)(a >> i)) *
               ir_wrap_int(type_scalar(t), (int64_t)(b >> i));
    return (uint32_t)sum;
}

// Return the bits of an f32.
static uint32_t word_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Return the number of a type of 16 bits in the lower or upper half of a word.
static float half_of(enum type_kind kind, uint32_t word, bool is_upper)
{
    uint16_t bits = (uint16_t)(is_upper ? word >> 16 : word);
    return (float)eval_load_float(type_scalar(kind), &bits);
}

// Return a number in a type of 16 bits.
static uint16_t short_of(enum type_kind kind, float x)
{
    uint16_t bits;
    eval_store_float(type_scalar(kind), &bits, x);
    return bits;
}

// Return two numbers in a type of 8 bits, the second one in the low half.
static uint16_t bytes_of(enum type_kind kind, float high, float low)
{
    uint8_t bytes[2];
    eval_store_float(type_scalar(kind), &bytes[0], low);
    eval_store_float(type_scalar(kind), &bytes[1], high);
    return (uint16_t)(bytes[1] << 8 | bytes[0]);
}

// Return two numbers of 8 bits as f16.
static uint32_t halves_of(enum type_kind kind, uint16_t pair)
{
    uint8_t bytes[2] = {(uint8_t)pair, (uint8_t)(pair >> 8)};
    uint16_t halves[2];
    for (int i = 0; i < 2; i++)
        eval_store_float(type_scalar(TYPE_f16), &halves[i],
                         eval_load_float(type_scalar(kind), &bytes[i]));
    return (uint32_t)halves[1] << 16 | halves[0];
}

// ---- The functions --------------------------------------------------------

#define OPERANDS_1(t) (t a)
#define OPERANDS_2(t) (t a, t b)
#define OPERANDS_3(t) (t a, t b, t c)
// Keeps the compiler from computing before the mode is set.
#define KEEP(x) __asm__ volatile("" : "+m"(x))
#define KEEP_1  KEEP(a)
#define KEEP_2                                                                 \
    KEEP(a);                                                                   \
    KEEP(b)
#define KEEP_3                                                                 \
    KEEP(a);                                                                   \
    KEEP(b);                                                                   \
    KEEP(c)
#define FLUSH_1 a = flush(a)
#define FLUSH_2                                                                \
    a = flush(a);                                                              \
    b = flush(b)
#define FLUSH_3                                                                \
    a = flush(a);                                                              \
    b = flush(b);                                                              \
    c = flush(c)

// A function that computes `value` under a rounding mode.
#define MODE(function, type, n, from, mode, before, after, value)              \
    static type function OPERANDS_##n(from)                                    \
    {                                                                          \
        int usual = fegetround();                                              \
        before;                                                                \
        fesetround(mode);                                                      \
        KEEP_##n;                                                              \
        volatile type result = value;                                          \
        fesetround(usual);                                                     \
        return after(result);                                                  \
    }
#define MODES(name, suffix, type, n, from, before, after, value)               \
    MODE(name##_rn##suffix, type, n, from, FE_TONEAREST, before, after, value) \
    MODE(name##_rz##suffix, type, n, from, FE_TOWARDZERO, before, after,       \
         value)                                                                \
    MODE(name##_rm##suffix, type, n, from, FE_DOWNWARD, before, after, value)  \
    MODE(name##_rp##suffix, type, n, from, FE_UPWARD, before, after, value)
#define ROUNDED(name, n, on_float, on_double)                                  \
    MODES(rounded_##name, _f, float, n, float, , , on_float)                   \
    MODES(rounded_##name, _ftz, float, n, float, FLUSH_##n, flush, on_float)   \
    MODES(rounded_##name, _d, double, n, double, , , on_double)
#define CONVERT(name, from, to) MODES(convert_##name, _, to, 1, from, , , (to)a)
#define SATURATED(to, least, most)                                             \
    (isnan(a)                   ? 0                                            \
     : rint((double)a) >= most  ? most_of_##to                                 \
     : rint((double)a) <= least ? (to)least                                    \
                                : (to)rint((double)a))
#define most_of_int32_t  INT32_MAX
#define most_of_uint32_t UINT32_MAX
#define most_of_int64_t  INT64_MAX
#define most_of_uint64_t UINT64_MAX
#define INTEGER(name, from, to, least, most)                                   \
    MODES(integer_##name, _, to, 1, from, , , SATURATED(to, least, most))
#define FLOAT(intrinsic, name, n, value)                                       \
    static float float_##name OPERANDS_##n(float)                              \
    {                                                                          \
        return value;                                                          \
    }
#define DOUBLE(intrinsic, name, n, value)                                      \
    static double double_##name OPERANDS_##n(double)                           \
    {                                                                          \
        return value;                                                          \
    }
#define BITS(intrinsic, name, result, operands, value)                         \
    static result bits_##name operands                                         \
    {                                                                          \
        return value;                                                          \
    }
#define INLINE(part, name, result, operands, value)                            \
    static result inline_##name operands                                       \
    {                                                                          \
        return value;                                                          \
    }
#include "tools/simt/math.def"

// ---- Their names ----------------------------------------------------------

#define ROW(intrinsic, function)                                               \
    {                                                                          \
        intrinsic, FUNCTION(function)                                          \
    }
#define ROWS(prefix, name, suffix, tail)                                       \
    ROW("llvm.nvvm." #name ".rn" tail, prefix##name##_rn##suffix),             \
        ROW("llvm.nvvm." #name ".rz" tail, prefix##name##_rz##suffix),         \
        ROW("llvm.nvvm." #name ".rm" tail, prefix##name##_rm##suffix),         \
        ROW("llvm.nvvm." #name ".rp" tail, prefix##name##_rp##suffix),

static const struct math_function functions[] = {
#define ROUNDED(name, n, on_float, on_double)                                  \
    ROWS(rounded_, name, _f, ".f")                                             \
    ROWS(rounded_, name, _ftz, ".ftz.f") ROWS(rounded_, name, _d, ".d")
#define CONVERT(name, from, to)              ROWS(convert_, name, _, "")
#define INTEGER(name, from, to, least, most) ROWS(integer_, name, _, "")
#define FLOAT(intrinsic, name, n, value)     ROW(intrinsic, float_##name),
#define DOUBLE(intrinsic, name, n, value)    ROW(intrinsic, double_##name),
#define BITS(intrinsic, name, result, operands, value)                         \
    ROW(intrinsic, bits_##name),
#include "tools/simt/math.def"
};

static const struct math_function inlined[] = {
#define INLINE(part, name, result, operands, value) ROW(part, inline_##name),
#include "tools/simt/math.def"
};

const struct math_function *math_find(const char *intrinsic)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].intrinsic, intrinsic) == 0)
            return &functions[i];
    return NULL;
}

const struct math_function *math_find_inline(const char *text)
{
    for (size_t i = 0; i < sizeof inlined / sizeof *inlined; i++)
        if (strstr(text, inlined[i].intrinsic))
            return &inlined[i];
    return NULL;
}
