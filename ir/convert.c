// Conversions between numbers, types and bytes.

#include "ir/arith.h"
#include "ir/build.h"
#include "ir/eval.h"

#include <math.h>
#include <string.h>

// The layout of a floating type narrower than f32.
struct layout {
    int mantissa;      // bits, without the implicit one
    int bias;          // of the exponent
    uint16_t greatest; // finite number
    uint16_t beyond;   // what numbers above it become
    uint16_t nan;
    uint16_t sign; // bit
};

// Return the layout of f16, bf16, f8e4m3 or f8e5m2.
static const struct layout *narrow_layout(struct type t)
{
    static const struct layout layouts[TYPE_COUNT] = {
        [TYPE_f16] = {10, 15, 0x7bff, 0x7c00, 0x7fff, 0x8000},
        [TYPE_bf16] = {7, 127, 0x7f7f, 0x7f80, 0x7fff, 0x8000},
        [TYPE_f8e4m3] = {3, 7, 0x7e, 0x7e, 0x7f, 0x80},
        [TYPE_f8e5m2] = {2, 15, 0x7b, 0x7b, 0x7f, 0x80},
    };
    return &layouts[t.kind];
}

// Return the magnitude's bits in a layout, rounded to nearest even, the
// exponent growing past its field where the number is too great.
static uint64_t narrow_magnitude(const struct layout *l, double magnitude)
{
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023 + l->bias;
    int shift = 52 - l->mantissa + (exponent < 1 ? 1 - exponent : 0);
    if (shift > 62)
        return 0;
    uint64_t one = UINT64_C(1);
    uint64_t digits = (bits & ((one << 52) - 1)) | one << 52;
    uint64_t kept = digits >> shift;
    uint64_t rest = digits & ((one << shift) - 1);
    uint64_t half = one << (shift - 1);
    kept += rest > half || (rest == half && kept % 2);
    return kept + ((uint64_t)(exponent < 1 ? 0 : exponent - 1) << l->mantissa);
}

// Return a number's bits in a layout, rounded to nearest even.
static uint16_t narrow_bits(const struct layout *l, double value)
{
    uint16_t sign = signbit(value) ? l->sign : 0;
    if (isnan(value))
        return l->nan;
    uint64_t bits = narrow_magnitude(l, fabs(value));
    return (uint16_t)(sign | (bits > l->greatest ? l->beyond : bits));
}

// Return the number that bits in a layout stand for.
static double narrow_value(const struct layout *l, uint16_t bits)
{
    uint16_t magnitude = (uint16_t)(bits & (l->sign - 1));
    uint16_t fraction = (uint16_t)(magnitude & ((1 << l->mantissa) - 1));
    int exponent = magnitude >> l->mantissa;
    double value;
    if (magnitude > l->greatest)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - l->bias - l->mantissa);
    else
        value = ldexp(fraction + (1 << l->mantissa),
                      exponent - l->bias - l->mantissa);
    return bits & l->sign ? -value : value;
}

double ir_round_float(struct type type, double value)
{
    if (type.kind == TYPE_f64)
        return value;
    if (type.kind == TYPE_f32)
        return (double)(float)value;
    const struct layout *l = narrow_layout(type);
    return narrow_value(l, narrow_bits(l, value));
}

int64_t ir_wrap_int(struct type type, int64_t value)
{
    switch ((enum type_kind)type.kind) {
    case TYPE_bool: return value != 0;
    case TYPE_i8: return (int8_t)value;
    case TYPE_i16: return (int16_t)value;
    case TYPE_i32:
    case TYPE_idx32: return (int32_t)value;
    case TYPE_u8: return (uint8_t)value;
    case TYPE_u16: return (uint16_t)value;
    case TYPE_u32: return (uint32_t)value;
    case TYPE_i64:
    case TYPE_u64:
    case TYPE_int:
    case TYPE_idx64:
    case TYPE_f16:
    case TYPE_bf16:
    case TYPE_f32:
    case TYPE_f64:
    case TYPE_f8e4m3:
    case TYPE_f8e5m2:
    case TYPE_COUNT: break;
    }
    return value;
}

// Return an integer rounded to odd: rounding once more, to f32 or less, then
// gives the nearest number.
static double int_to_odd(uint64_t magnitude)
{
    unsigned dropped = 0;
    while (magnitude >> dropped >= UINT64_C(1) << 53)
        dropped++;
    uint64_t kept = magnitude >> dropped;
    kept |= kept << dropped != magnitude;
    return ldexp((double)kept, (int)dropped);
}

// Convert an integer to a floating type.
static double int_to_float(struct type to, struct type from, int64_t x)
{
    bool negative = x < 0 && from.kind != TYPE_u64;
    uint64_t magnitude = negative ? 0 - (uint64_t)x : (uint64_t)x;
    double value =
        to.kind == TYPE_f64 ? (double)magnitude : int_to_odd(magnitude);
    return ir_round_float(to, negative ? -value : value);
}

// Convert a floating number to an integer type: truncate, saturate, NaN to 0.
static int64_t float_to_int(struct type to, double x)
{
    int bits = (int)type_bits(to) - type_is_signed(to);
    double end = ldexp(1, bits);
    uint64_t greatest = UINT64_MAX >> (64 - bits);
    if (isnan(x))
        return 0;
    if (x >= end)
        return (int64_t)greatest;
    if (!type_is_signed(to))
        return x <= 0 ? 0 : (int64_t)(uint64_t)x;
    return x < -end ? -(int64_t)greatest - 1 : (int64_t)x;
}

// Convert an integer or bool to an integer type.
static int64_t int_to_int(struct type to, struct type from, int64_t x,
                          const char **fault)
{
    int64_t wrapped = ir_wrap_int(to, x);
    bool too_great = from.kind == TYPE_u64 && x < 0;
    if (type_is_index(to) && (wrapped != x || too_great))
        *fault = "the value does not fit the index type";
    return wrapped;
}

union number ir_convert(struct type to, struct type from, union number x,
                        const char **fault)
{
    union number r;
    if (type_is_float(to))
        r.f = type_is_float(from) ? ir_round_float(to, x.f)
                                  : int_to_float(to, from, x.i);
    else if (type_is_float(from))
        r.i = to.kind == TYPE_bool ? x.f != 0 : float_to_int(to, x.f);
    else
        r.i = int_to_int(to, from, x.i, fault);
    return r;
}

// Read and write the object representation of a C type.
#define NATIVE(type, name)                                                     \
    static type load_##name(const void *element)                               \
    {                                                                          \
        type value;                                                            \
        memcpy(&value, element, sizeof value);                                 \
        return value;                                                          \
    }                                                                          \
    static void store_##name(void *element, type value)                        \
    {                                                                          \
        memcpy(element, &value, sizeof value);                                 \
    }
NATIVE(uint8_t, 8)
NATIVE(uint16_t, 16)
NATIVE(uint32_t, 32)
NATIVE(uint64_t, 64)
NATIVE(float, single)
NATIVE(double, double)
#undef NATIVE

// Return the bits of an element, in the low bits.
static uint64_t load_bits(unsigned bits, const void *element)
{
    switch (bits) {
    case 8: return load_8(element);
    case 16: return load_16(element);
    case 32: return load_32(element);
    }
    return load_64(element);
}

// Set the bits of an element.
static void store_bits(unsigned bits, void *element, uint64_t value)
{
    switch (bits) {
    case 8: store_8(element, (uint8_t)value); return;
    case 16: store_16(element, (uint16_t)value); return;
    case 32: store_32(element, (uint32_t)value); return;
    }
    store_64(element, value);
}

double eval_load_float(struct type type, const void *element)
{
    if (type.kind == TYPE_f32)
        return (double)load_single(element);
    if (type.kind == TYPE_f64)
        return load_double(element);
    return narrow_value(narrow_layout(type),
                        (uint16_t)load_bits(type_bits(type), element));
}

void eval_store_float(struct type type, void *element, double value)
{
    if (type.kind == TYPE_f32)
        store_single(element, (float)value);
    else if (type.kind == TYPE_f64)
        store_double(element, value);
    else
        store_bits(type_bits(type), element,
                   narrow_bits(narrow_layout(type), value));
}

int64_t eval_load_int(struct type type, const void *element)
{
    return ir_wrap_int(type, (int64_t)load_bits(type_bits(type), element));
}

void eval_store_int(struct type type, void *element, int64_t value)
{
    store_bits(type_bits(type), element, (uint64_t)value);
}
