// Every element is a code, and codes are a permutation of the places.

#include "tools/ingot/distinct.h"

#include "ir/arith.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/eval.h"

#include <math.h>

enum { EXPONENTS = 2, INTEGER_BITS = 14, SCALAR_MOST = 7 };

// Return a number of `bits` bits, another one for each `at` below 2^bits: each
// step can be undone.
static uint64_t permuted(unsigned bits, uint64_t stream, uint64_t at)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1, x = at + stream;
    unsigned half = (bits + 1) / 2;
    for (int i = 0; i < 3; i++) {
        x = (x & mask) * (num_mix(stream + (uint64_t)i) | 1) & mask;
        x ^= x >> half;
    }
    return x & mask;
}

// Return how many bits of a number stand behind its first.
static unsigned fraction_bits(struct type type)
{
    unsigned n = 0;
    while (n < 52 && ir_round_float(type, 1 + ldexp(1, -(int)n - 1)) > 1)
        n++;
    return n;
}

// Return how many bits the integers of a type have: all that there are of
// narrow ones, without the sign.
static unsigned integer_bits(struct type type)
{
    unsigned all = type_bits(type) - type_is_signed(type);
    return all < INTEGER_BITS ? all : INTEGER_BITS;
}

// Return the floating number of a place, with `bits` bits behind the first.
static double float_at(unsigned bits, uint64_t stream, uint64_t at)
{
    uint64_t code = permuted(bits + EXPONENTS, stream, at);
    uint64_t fraction = code & ((UINT64_C(1) << bits) - 1);
    double x = ldexp((double)(fraction | UINT64_C(1) << bits),
                     -(int)bits - 1 - (int)(code >> bits));
    return num_mix(stream ^ at) >> 63 ? -x : x;
}

// Return the integer of a place.
static int64_t int_at(struct type type, uint64_t stream, uint64_t at)
{
    bool is_negative = num_mix(stream ^ at) >> 63;
    if (type.kind == TYPE_bool)
        return is_negative;
    int64_t x = 1 + (int64_t)permuted(integer_bits(type), stream, at);
    if (ir_wrap_int(type, x) != x)
        x--;
    return is_negative && type_is_signed(type) && !type_is_index(type) ? -x : x;
}

void distinct_write(struct type type, uint64_t stream, size_t n, void *elements)
{
    bool is_float = type_is_float(type);
    unsigned bits = is_float ? fraction_bits(type) : 0;
    char *at = elements;
    for (size_t i = 0; i < n; i++, at += type_bytes(type)) {
        if (is_float)
            eval_store_float(type, at, float_at(bits, stream, i));
        else
            eval_store_int(type, at, int_at(type, stream, i));
    }
}

double distinct_float(struct type type, uint64_t stream)
{
    return float_at(fraction_bits(type), stream, 0);
}

int64_t distinct_int(struct type type, uint64_t stream)
{
    if (type.kind == TYPE_bool)
        return int_at(type, stream, 0);
    return 1 + (int64_t)(num_mix(stream) % SCALAR_MOST);
}
